// The modes that can be chosen for a session.
import { flushSync, mount, unmount } from 'svelte';
import { expect, it, vi } from 'vitest';
import type { Session } from '../api/types';
import { OFFERED } from '../state/modes';
import Pickers from './Pickers.svelte';

it('a mode that is not available is not shown', async () => {
  vi.stubGlobal('fetch', async () => Response.json([]));
  const session = { id: 's', mode: { mode: 'ask' }, model: null } as unknown as Session;
  const pickers = mount(Pickers, { target: document.body, props: { session, may: true, ontrouble: () => {} } });
  flushSync();
  document.querySelector<HTMLButtonElement>('button')?.click();
  flushSync();
  const shown = [...document.querySelectorAll('[role^=menuitem]')].map((one) => one.textContent ?? '');
  expect(shown.some((one) => one.includes('Accept edits'))).toBe(true);
  expect(shown.filter((one) => one.includes('Let Claude judge'))).toEqual([]);
  expect(OFFERED.map((one) => one.name)).toEqual(['plan', 'ask', 'edits', 'hands-off', 'rules-only']);
  await unmount(pickers);
  vi.unstubAllGlobals();
});
