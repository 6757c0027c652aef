// One decision in full: of an edited call, what was sent and what was asked.
import { flushSync, mount, unmount } from 'svelte';
import { expect, it, vi } from 'vitest';
import type { DecisionView } from '../api/types';
import { decision } from './testing';

it('an edited call is shown as it was sent, with what the agent asked for behind a word', async () => {
  vi.stubGlobal('matchMedia', () => Object.assign(new EventTarget(), { matches: false }));
  const { default: More } = await import('./More.svelte');
  const shown = async (one: DecisionView) => {
    const more = mount(More, { target: document.body, props: { one } });
    flushSync();
    const exact = document.querySelector('.facts > .exact')?.textContent;
    const before = document.querySelector('.facts > details')?.textContent ?? null;
    await unmount(more);
    return { exact: JSON.parse(exact ?? 'null') as unknown, before };
  };
  const edited = await shown({ ...decision('make', 'ana'), edited_input: { command: 'make test' } });
  expect(edited.exact).toEqual({ command: 'make test' });
  expect(edited.before).toContain('Show what the agent asked for');
  expect(edited.before).toContain('"command": "make"');
  expect(await shown(decision('make', 'ana'))).toEqual({ exact: { command: 'make' }, before: null });
  vi.unstubAllGlobals();
}, 30_000);
