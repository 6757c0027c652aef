// A server that is not ready yet is asked again, and the page says so meanwhile: after a restart it is never empty.
import { flushSync, mount, unmount } from 'svelte';
import { afterEach, expect, it, vi } from 'vitest';

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it('asks again after a refusal until it is told who reads, and shows why', async () => {
  vi.useFakeTimers();
  vi.stubGlobal('matchMedia', () => Object.assign(new EventTarget(), { matches: false }));
  const refusals = [
    { code: 'not_ready', detail: 'the host is still recovering', status: 503, title: 'Not now', type: 'x' },
    { code: 'not_signed_in', detail: 'sign in first', status: 401, title: 'No', type: 'x' },
  ];
  let asked = 0;
  vi.stubGlobal('fetch', async () => {
    const refusal = refusals[Math.min(asked, 1)];
    asked += 1;
    return Response.json(refusal, { status: refusal?.status ?? 500 });
  });
  const { default: App } = await import('./App.svelte');
  const app = mount(App, { target: document.body });
  const heading = () => (flushSync(), document.querySelector('h1')?.textContent);
  await vi.waitFor(() => expect(heading()).toBe('The server is not ready'));
  expect(document.body.textContent).toContain('The host is still recovering.');
  await vi.advanceTimersByTimeAsync(2000);
  await vi.waitFor(() => expect(heading()).toBe('Not signed in'));
  await vi.advanceTimersByTimeAsync(10_000);
  expect(asked).toBe(2);
  await unmount(app);
}, 30_000);
