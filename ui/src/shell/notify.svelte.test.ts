// Questions that open while nobody looks are told by the browser: by the service worker where there is one, and never with a fault.
import { flushSync } from 'svelte';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { asked } from '../approval/testing';
import { approvals } from '../state/approvals.svelte';
import { prefs } from '../state/prefs.svelte';
import { watchNotes } from './notify.svelte';

let life: Record<string, string> = {};

beforeEach(() => {
  life = {};
  vi.stubGlobal('isSecureContext', true);
  vi.spyOn(document, 'hasFocus').mockReturnValue(false);
  vi.stubGlobal('fetch', async (request: Request) => {
    const id = /approvals\/(.+)$/.exec(new URL(request.url).pathname)?.[1];
    return Response.json(id ? { ...asked({ id, request_id: id }), life: life[id] } : { items: [], next: null });
  });
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  Reflect.deleteProperty(navigator, 'serviceWorker');
});

/** A page on which somebody wants notifications. */
async function page() {
  prefs.notify = true;
  await approvals.load();
  const end = $effect.root(watchNotes);
  flushSync();
  const become = async (id: string, now: string) => {
    life[id] = now;
    await approvals.refresh(id);
    flushSync();
  };
  return { become, end };
}

it('are shown by the service worker, and taken back with the question', async () => {
  const shown: { title: string; tag: string; data: { path: string } }[] = [];
  const taken: string[] = [];
  const registration = {
    active: {},
    showNotification: async (title: string, { tag, data }: { tag: string; data: { path: string } }) => void shown.push({ title, tag, data }),
    getNotifications: async ({ tag }: { tag: string }) => [{ close: () => taken.push(tag) }],
  };
  const container = Object.assign(new EventTarget(), { getRegistration: async () => registration });
  Object.defineProperty(navigator, 'serviceWorker', { value: container, configurable: true });
  vi.stubGlobal('Notification', { permission: 'granted' });
  const { become, end } = await page();
  await become('q', 'open');
  await vi.waitFor(() => expect(shown).toEqual([{ title: 'Fix tests needs you', tag: 'q', data: { path: '/inbox/q' } }]));
  expect(taken).toEqual([]);
  await become('q', 'settled');
  await vi.waitFor(() => expect(taken).toEqual(['q']));

  container.dispatchEvent(new MessageEvent('message', { data: { open: 'https://elsewhere.example/' } }));
  expect(location.pathname).toBe('/');
  container.dispatchEvent(new MessageEvent('message', { data: { open: '/inbox/q' } }));
  expect(location.pathname).toBe('/inbox/q');
  end();
});

it('that the browser refuses are no fault of the page', async () => {
  let tries = 0;
  class Refusing {
    static permission = 'granted';
    constructor() {
      tries += 1;
      throw new TypeError('Illegal constructor');
    }
  }
  vi.stubGlobal('Notification', Refusing);
  const { become, end } = await page();
  await become('another', 'open');
  await vi.waitFor(() => expect(tries).toBe(1));
  await become('another', 'settled');
  end();
});
