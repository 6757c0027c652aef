// A transcript follows once, however often it was opened.
import { afterEach, expect, it, vi } from 'vitest';
import { Transcript } from './transcript.svelte';

afterEach(() => vi.unstubAllGlobals());

it('follows once where it is opened twice at a time', async () => {
  const pages: (() => void)[] = [];
  const followed: AbortSignal[] = [];
  vi.stubGlobal('fetch', (what: Request | URL, how?: RequestInit) => {
    if (what instanceof Request) {
      return new Promise((done) => pages.push(() => done(Response.json({ items: [], next: null, cursor: '1-1' }))));
    }
    if (how?.signal) followed.push(how.signal);
    return Promise.resolve(new Response(new ReadableStream()));
  });
  const transcript = new Transcript('s');
  const both = [transcript.open(), transcript.open()];
  await vi.waitFor(() => expect(pages.length).toBe(2));
  pages.forEach((answer) => answer());
  await Promise.all(both);
  await vi.waitFor(() => expect(followed.length).toBe(1));
  transcript.close();
  expect(followed.map((signal) => signal.aborted)).toEqual([true]);
});
