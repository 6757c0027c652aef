// Unread marks in a whole page: what was shown is read, what came while nobody looked is not, and the browser remembers both.
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Session } from '../api/types';

let held: Record<string, unknown> = {};
let isHidden = false;

beforeEach(() => {
  localStorage.clear();
  vi.resetModules();
  isHidden = false;
  held = {};
  vi.stubGlobal('matchMedia', () => Object.assign(new EventTarget(), { matches: false }));
  vi.stubGlobal('fetch', async () => Response.json(held));
  vi.spyOn(document, 'hidden', 'get').mockImplementation(() => isHidden);
});
afterEach(() => {
  history.replaceState(null, '', '/');
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

/** A page at that address, as it is when it was loaded. */
async function page(path: string) {
  vi.resetModules();
  history.replaceState(null, '', path);
  // The same one as the page's.
  const { flushSync } = await import('svelte');
  const { sessions } = await import('../state/sessions.svelte');
  const { bindGlobals } = await import('./globals.svelte');
  const end = bindGlobals();
  const becomes = async (but: Partial<Session>): Promise<Session> => {
    held = { id: 's', name: 'n', state: 'idle', cwd: '/srv', last_line: 'Done.', last_activity: Date.now() * 1000, cost_usd: 1, open_approvals: 0, ...but };
    await sessions.refresh('s');
    flushSync();
    return sessions.get('s') as Session;
  };
  const looks = (hidden: boolean) => {
    isHidden = hidden;
    document.dispatchEvent(new Event('visibilitychange'));
    flushSync();
  };
  return { sessions, becomes, looks, end };
}
const later = (seconds: number) => (Date.now() + seconds * 1000) * 1000;

it('a session that is open is read, also when it falls asleep later, and in the next page', async () => {
  const first = await page('/s/s');
  expect(first.sessions.isUnread(await first.becomes({}))).toBe(false);
  first.end();
  const next = await page('/inbox');
  expect(next.sessions.isUnread(await next.becomes({ state: 'stopped', last_activity: later(60) }))).toBe(false);
  expect(next.sessions.isUnread(await next.becomes({ last_line: 'Another.', last_activity: later(90) }))).toBe(true);
  next.end();
}, 30_000);

it('what comes while the tab is hidden is unread until somebody looks', async () => {
  const { sessions, becomes, looks, end } = await page('/s/s');
  await becomes({});
  looks(true);
  const news = await becomes({ last_line: 'Another.', last_activity: later(60) });
  expect(sessions.isUnread(news)).toBe(true);
  looks(false);
  expect(sessions.isUnread(news)).toBe(false);
  end();
}, 30_000);

it('one that was never opened here is unread when it ends its work, but not if that was before this browser looked', async () => {
  const { sessions, becomes, end } = await page('/inbox');
  expect(sessions.isUnread(await becomes({ state: 'running', last_activity: later(60) }))).toBe(false);
  expect(sessions.isUnread(await becomes({ last_activity: later(60) }))).toBe(true);
  expect(sessions.isUnread(await becomes({ last_activity: 1 }))).toBe(false);
  end();
}, 30_000);
