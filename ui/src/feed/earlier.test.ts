// The conversation that a session goes on from: whose it was, and that its cost is not the session's.
import { flushSync, mount, unmount } from 'svelte';
import { afterEach, beforeAll, expect, it, vi } from 'vitest';
import type { Session } from '../api/types';

let part: Record<string, unknown> | null = null;
let Earlier: typeof import('./Earlier.svelte').default;
// It brings all kinds of entries along.
beforeAll(async () => {
  vi.stubGlobal('matchMedia', () => Object.assign(new EventTarget(), { matches: false }));
  Earlier = (await import('./Earlier.svelte')).default;
}, 60_000);
afterEach(async () => {
  if (part) await unmount(part);
  part = null;
  vi.unstubAllGlobals();
});

const session = { id: 's', name: 'n', origin: 'fork' } as unknown as Session;

async function told(earlier: object): Promise<string> {
  vi.stubGlobal('fetch', async () => Response.json({ how: 'forked', session: 'p', name: 'The parent', until: 1_000_000, items: [], more: false, goes_on: false, ...earlier }));
  part = mount(Earlier, { target: document.body, props: { session } });
  return vi.waitFor(() => {
    flushSync();
    const said = document.querySelector('header')?.textContent?.replace(/\s+/g, ' ') ?? '';
    expect(said).toContain('You see it as it was');
    return said;
  }, 4000);
}

it('its cost is told apart from the cost of the session', async () => {
  expect(await told({ cost_usd: 0.46 })).toContain('It had cost $0.46 by then, which is not part of this session’s cost.');
});

it('a cost that nobody knows is not told as none', async () => {
  expect(await told({ how: 'imported', session: null, name: null, cost_usd: null })).toContain('What it cost is not known, and is not part of this session’s cost.');
});

it('is marked as one that can only be read, and leads to where it comes from', async () => {
  expect(await told({ cost_usd: 0.46 })).toMatch(/read-only.*forked from The parent/);
  expect(document.querySelector('header a')?.getAttribute('href')).toBe('/s/p');
});
