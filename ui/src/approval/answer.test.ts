// What buttons say and what answers carry.
import { describe, expect, it } from 'vitest';
import { allowOffered, buttons, deny, forSession, otherOffers, ruleOffers } from './answer';
import { edited, editFields } from './edit';
import { keptOf, ruleForm } from './rule';
import { unseen } from './seen';
import { asked } from './testing';
import { changeOf, linesOf, shown, thingOf } from './thing';

const always = (...rules: string[]) => ({ kind: 'always' as const, label: '', rules });

describe('buttons', () => {
  it('offer a rule only where the host offers one', () => {
    expect(buttons(asked(), { harm: null, online: true, unseen: 0, mayAll: true })).toMatchObject({ session: null, rule: null });
    const offered = asked({ offers: [always('Bash(npm test)')] });
    expect(buttons(offered, { harm: null, online: true, unseen: 0, mayAll: true })).toMatchObject({
      allow: 'Allow once',
      session: 'For this session',
      rule: 'As a rule…',
    });
  });

  it('never keep what cannot be undone', () => {
    const offered = asked({ offers: [always('Bash(rm:*)')] });
    expect(buttons(offered, { harm: 'gone', online: true, unseen: 0, mayAll: true })).toMatchObject({ session: null, rule: null });
    expect(forSession(offered, 'gone')).toBeNull();
  });

  it('leave what reaches further than the question to those who may do everything', () => {
    const offered = asked({ offers: [always('Bash(npm test)')] });
    const narrow = buttons(offered, { harm: null, online: true, unseen: 0, mayAll: false });
    expect(narrow).toEqual({ allow: 'Allow once', session: null, rule: null, edit: null, deny: 'Deny…' });
  });

  it('say what they will do offline, and what was never seen', () => {
    const offline = buttons(asked(), { harm: null, online: false, unseen: 0, mayAll: true });
    expect(offline).toMatchObject({ allow: 'Allow when back', deny: 'Deny when back…' });
    expect(buttons(asked(), { harm: null, online: true, unseen: 212, mayAll: true }).allow).toBe('Allow once, 212 lines unseen');
  });
});

describe('answers', () => {
  it('keep a mode and folders apart from rules', () => {
    const mode = { kind: 'mode' as const, label: '', mode: { mode: 'edits' as const } };
    const folders = { kind: 'directories' as const, label: '', directories: ['/srv'] };
    const all = asked({ offers: [always('Read(//srv/**)'), mode, folders] });
    expect(ruleOffers(all)).toHaveLength(1);
    expect(otherOffers(all)).toHaveLength(2);
    expect(allowOffered(mode)?.body).toEqual({ decision: 'allow', mode: { mode: 'edits' } });
    expect(allowOffered(folders)?.body).toEqual({ decision: 'allow', add_dirs: ['/srv'] });
    expect(allowOffered(always('x'))).toBeNull();
  });

  it('a denial without a reason sends none', () => {
    expect(deny('  ', false).body).toEqual({ decision: 'deny', interrupt: false });
    expect(deny('no', true)).toMatchObject({ body: { message: 'no', interrupt: true }, words: 'Denied and stopped' });
  });

  it('a rule of the session has no end of its own', () => {
    const form = ruleForm(asked({ offers: [always('A'), always('B')] }));
    expect(keptOf({ ...form, scope: 'session' }, 0)).toMatchObject({ rules: ['A'], expires: null });
    expect(keptOf({ ...form, chosen: 1, ends: 'hour' }, 1000)).toMatchObject({ rules: ['B'], expires: 3_601e6 });
    expect(keptOf({ ...form, chosen: 9 }, 0)).toBeNull();
  });
});

describe('a changed input', () => {
  const input = { command: 'npm test', timeout: 5, description: 'Test' };

  it('keeps what was not touched', () => {
    expect(edited(input, { command: 'npm run test' })).toEqual({ input: { ...input, command: 'npm run test' } });
    expect(edited(input, { timeout: '10' })).toEqual({ input: { ...input, timeout: 10 } });
  });

  it('that is none is not sent, and what is no JSON is said', () => {
    expect(edited(input, { command: 'npm test' })).toBeNull();
    expect(edited(input, { timeout: '{' })).toEqual({ problem: 'timeout is not valid JSON.', field: 'timeout' });
  });

  it('shows the telling field first', () => {
    expect(editFields({ zeta: 1, command: 'x' }).map((field) => field.name)).toEqual(['command', 'zeta']);
  });
});

describe('the thing', () => {
  it('is the exact command, or the exact change', () => {
    expect(thingOf('Bash', { command: 'ls' })).toEqual({ kind: 'command', text: 'ls', background: false });
    const edit = thingOf('Edit', { file_path: '/a', old_string: 'x\ny\nz', new_string: 'x\nY\nY2\nz' });
    expect(changeOf(edit)).toEqual({ added: 2, removed: 1 });
    expect(thingOf('Bash', { cmd: 'ls' })).toEqual({ kind: 'json', value: { cmd: 'ls' } });
  });

  it('counts its lines, and those that were never seen', () => {
    expect(linesOf(thingOf('Write', { file_path: '/a', content: 'a\nb\n' }))).toBe(2);
    expect(unseen(300, 3000, 880)).toBe(212);
    expect(unseen(3, 60, 60)).toBe(0);
  });

  it('is a path from the folder of the session on', () => {
    expect(shown('/srv/app', '/srv/app')).toBe('/srv/app');
    expect(shown('/srv/app/src/a.ts', '/srv/app/')).toBe('src/a.ts');
  });
});
