// What is typed into the dialog becomes what is sent, and back.
import { describe, expect, it } from 'vitest';
import { EMPTY, bodyOf, fromTemplate, problems, readBudget, toTemplate } from './draft';

const whole = { ...EMPTY, prompt: 'Fix it', cwd: '/srv/app' };

describe('a session that is about to begin', () => {
  it('reads amounts as people write them, and refuses what is none', () => {
    expect([readBudget('5'), readBudget(' $2.50 '), readBudget('1,5'), readBudget('')]).toEqual([5, 2.5, 1.5, null]);
    for (const bad of ['five', '-1', '0', '1e3', '5 $']) expect(readBudget(bad), bad).toBeNaN();
  });

  it('asks for a prompt and a whole path', () => {
    expect(Object.keys(problems(EMPTY))).toEqual(['prompt', 'cwd']);
    expect(problems({ ...whole, cwd: 'app' }).cwd).toMatch(/whole path/);
    expect(problems({ ...whole, cwd: 'C:\\app' })).toEqual({});
    expect(problems(whole)).toEqual({});
  });

  it('sends only what was chosen', () => {
    expect(bodyOf(whole)).toEqual({ cwd: '/srv/app', prompt: 'Fix it', mode: 'ask' });
    const full = { ...whole, model: 'opus', budget: '5', isWorktree: true, slug: 'fix', name: 'Fix' };
    expect(bodyOf(full)).toEqual({
      cwd: '/srv/app',
      prompt: 'Fix it',
      mode: 'ask',
      model: 'opus',
      budget_usd: 5,
      name: 'Fix',
      worktree: { slug: 'fix' },
    });
  });

  it('begins a hands-off session by asking, because its end is set afterwards', () => {
    expect(bodyOf({ ...whole, mode: 'hands-off' }).mode).toBe('ask');
  });

  it('comes back from a template as it went in', () => {
    const draft = { ...whole, mode: 'plan' as const, model: 'opus', budget: '5', isWorktree: true, slug: 'fix' };
    expect(fromTemplate(EMPTY, toTemplate(draft))).toEqual({ ...draft, minutes: EMPTY.minutes, name: '' });
  });
});
