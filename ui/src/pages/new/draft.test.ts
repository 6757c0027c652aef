// What is typed into the dialog becomes what is sent, and back.
import { describe, expect, it } from 'vitest';
import { EMPTY, bodyOf, fromTemplate, hiddenOf, problems, readBudget, toTemplate, withoutHidden } from './draft';

const whole = { ...EMPTY, prompt: 'Fix it', cwd: '/srv/app' };

describe('a session that is about to begin', () => {
  it('reads amounts as people write them, and refuses what is none', () => {
    expect([readBudget('5'), readBudget(' $2.50 '), readBudget('1,5'), readBudget('')]).toEqual([5, 2.5, 1.5, null]);
    for (const bad of ['five', '-1', '0', '1e3', '5 $']) expect(readBudget(bad), bad).toBeNaN();
  });

  it('asks for a prompt and a whole path', () => {
    expect(Object.keys(problems(EMPTY))).toEqual(['prompt', 'cwd']);
    expect(problems({ ...whole, cwd: 'app' }).cwd).toMatch(/absolute path/);
    expect(problems({ ...whole, cwd: 'C:\\app' })).toEqual({});
    for (const home of ['~', '~/app']) expect(problems({ ...whole, cwd: home })).toEqual({});
    expect(problems({ ...whole, cwd: '~app' }).cwd).toMatch(/absolute path/);
    expect(problems(whole)).toEqual({});
  });

  it('sends only what was chosen', () => {
    expect(bodyOf(whole, 0)).toEqual({ cwd: '/srv/app', prompt: 'Fix it', mode: 'ask' });
    const full = { ...whole, model: 'opus', budget: '5', isWorktree: true, slug: 'fix', name: 'Fix' };
    expect(bodyOf(full, 0)).toEqual({
      cwd: '/srv/app',
      prompt: 'Fix it',
      mode: 'ask',
      model: 'opus',
      budget_usd: 5,
      name: 'Fix',
      worktree: { slug: 'fix' },
    });
  });

  it('begins hands-off with an end, in microseconds, and keeps no end in a template', () => {
    const draft = { ...whole, mode: 'hands-off' as const, minutes: 15 };
    expect(bodyOf(draft, 1_000)).toMatchObject({ mode: 'hands-off', until: 901_000_000 });
    expect(bodyOf(whole, 1_000).until).toBeUndefined();
    expect(toTemplate(draft).mode).toBeUndefined();
  });

  it('comes back from a template as it went in', () => {
    const draft = { ...whole, mode: 'plan' as const, model: 'opus', budget: '5', effort: 'high', thinking: '0', turns: '3', isWorktree: true, slug: 'fix' };
    expect(fromTemplate(EMPTY, toTemplate(draft), 'daily')).toEqual({ ...draft, minutes: EMPTY.minutes, name: '', from: 'daily' });
  });

  describe('from a template that says more than the form has fields for', () => {
    const template = {
      cwd: '/srv/app',
      prompt: 'Fix it',
      name: 'Daily',
      append_system_prompt: 'Be brief.',
      add_dirs: ['/srv/lib'],
      worktree: { slug: 'daily', base: 'main', setup: './setup.sh' },
    };
    const draft = fromTemplate(EMPTY, template, 'daily');

    it('sends all of it, and says so', () => {
      expect(bodyOf(draft, 0)).toEqual({ ...template, mode: 'ask' });
      expect(hiddenOf(draft)).toEqual([
        'Its name: Daily',
        'More folders: /srv/lib',
        'Its branch: daily',
        'The worktree begins from main',
        'Runs in the worktree first: ./setup.sh',
        'Added to the system prompt: Be brief.',
      ]);
      expect(hiddenOf(whole)).toEqual([]);
    });

    it('keeps it in the template, also where that was written over without being chosen', () => {
      expect(toTemplate(draft)).toEqual({ ...template, mode: { mode: 'ask' } });
      expect(toTemplate({ ...whole, isWorktree: true }, template)).toEqual({ ...template, mode: { mode: 'ask' } });
    });

    it('leaves out what a person leaves out, and nothing of another template stays', () => {
      const bare = { cwd: '/srv/app', prompt: 'Fix it', mode: 'ask', worktree: {} };
      expect(bodyOf(withoutHidden(draft), 0)).toEqual(bare);
      expect(toTemplate(withoutHidden(draft), template)).toEqual({ ...bare, mode: { mode: 'ask' } });
      expect(hiddenOf(fromTemplate(draft, { prompt: 'Else' }, 'other'))).toEqual([]);
    });
  });

  it('effort and limits go along where they are chosen', () => {
    const draft = { ...whole, effort: 'high', thinking: '31,999', turns: '3' };
    expect(bodyOf(draft, 0)).toMatchObject({ effort: 'high', max_thinking_tokens: 31999, max_turns: 3 });
    for (const field of ['effort', 'max_thinking_tokens', 'max_turns']) expect(bodyOf(whole, 0)).not.toHaveProperty(field);
    expect(Object.keys(problems({ ...whole, thinking: 'much', turns: '0' }))).toEqual(['thinking', 'turns']);
  });

  it('hooks and sub-agents of a template are told by what they run', () => {
    const hooks = { PostToolUse: [{ matcher: 'Edit', hooks: [{ type: 'command', command: 'npm run format' }] }] };
    const draft = fromTemplate(EMPTY, { hooks, agents: { reviewer: {} } }, 'daily');
    expect(hiddenOf(draft)).toEqual(['Sub-agents: reviewer', 'Runs at PostToolUse: npm run format']);
    expect(bodyOf(draft, 0)).toMatchObject({ hooks, agents: { reviewer: {} } });
  });
});
