// The line that is left of an answer: by whom, and what the agent had asked for where it was edited.
import { flushSync, mount, unmount } from 'svelte';
import { afterEach, expect, it } from 'vitest';
import type { Approval } from '../api/types';
import type { Face } from './face';
import Stamp from './Stamp.svelte';
import { asked } from './testing';

let stamp: Record<string, unknown> | null = null;
const face = { mark: 'idle', state: 'settled', title: null, note: null } as unknown as Face;

async function shown(but: Partial<Omit<Approval, 'life'>>): Promise<HTMLElement> {
  if (stamp) await unmount(stamp);
  stamp = mount(Stamp, { target: document.body, props: { asked: asked(but), face } });
  flushSync();
  return document.querySelector('.stamp') as HTMLElement;
}
afterEach(async () => {
  if (stamp) await unmount(stamp);
  stamp = null;
});

const decided = (by: string, decision: object) => ({ effect: 'allow', by, why: '', client: '', at: 1_000_000, decision }) as NonNullable<Approval['decided']>;

it('a rule and the mode have marks of their own', async () => {
  const byRule = await shown({ decided: decided('rule', { rule: 'allow Bash(npm test)' }) });
  expect(byRule.querySelector('.who.rule svg')).not.toBeNull();
  const byMode = await shown({ decided: decided('rule', {}) });
  expect(byMode.querySelector('.who.rule')).toBeNull();
  expect(byMode.querySelector('.who.mode')?.textContent).toContain('–');
  const byPerson = await shown({ decided: decided('ana', { decision: 'allow' }) });
  expect(byPerson.querySelector('.who.person')?.textContent).toContain('AN');
});

it('a call that was edited stands as it was sent, with what was asked behind a word', async () => {
  const edited = await shown({ input: { command: 'make' }, edited_input: { command: 'make test' }, decided: decided('ana', { decision: 'allow' }) });
  expect(edited.querySelector('.what')?.textContent).toContain('make test');
  const before = edited.querySelector('details');
  expect(before?.open).toBe(false);
  expect(before?.querySelector('.ask-cmd')?.textContent).toBe('make');
  expect((await shown({ decided: decided('ana', { decision: 'allow' }) })).querySelector('details')).toBeNull();
});
