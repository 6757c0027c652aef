// What was asked for early is taken once, and only while it is good.
import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { PAGE } from '../feed/model/window';
import { early } from './early';

const PATH = '/api/v1/me';
const request = (method = 'GET') => new Request(`http://localhost${PATH}`, { method });
const ask = (answer: Response | null, at = performance.now()) => (globalThis.countersignAsked = { at, answers: { [PATH]: Promise.resolve(answer) } });

afterEach(() => {
  globalThis.countersignAsked = undefined;
  vi.unstubAllGlobals();
  history.replaceState(null, '', '/');
});

/** Runs theme.js at this address; gives what it asks for. */
function askedAt(path: string): string[] {
  const asked: string[] = [];
  history.replaceState(null, '', path);
  vi.stubGlobal('fetch', async (what: string) => {
    asked.push(what);
    throw new TypeError('no server');
  });
  new Function(readFileSync('public/theme.js', 'utf8'))();
  return asked;
}

describe('an early answer', () => {
  it('is taken once', async () => {
    ask(Response.json({ name: 'me' }));
    expect(await (await early(request()))?.json()).toEqual({ name: 'me' });
    expect(await early(request())).toBeNull();
  });

  it('is asked for as the page would ask', () => {
    expect(askedAt('/inbox')).toEqual([PATH]);
    const session = ['/api/v1/sessions/x1', `/api/v1/sessions/x1/transcript?most=${PAGE}`];
    expect(askedAt('/s/x1')).toEqual([PATH, ...session]);
    expect(askedAt('/s/x1/e/1-9')).toEqual([PATH, ...session]);
    expect(askedAt('/s/x1/timeline')).toEqual([PATH]);
  });

  it('is not taken where it is a refusal, none, old, or of something else', async () => {
    expect(await early(request())).toBeNull();
    ask(new Response('', { status: 401 }));
    expect(await early(request())).toBeNull();
    ask(null);
    expect(await early(request())).toBeNull();
    ask(Response.json({}), performance.now() - 60_000);
    expect(await early(request())).toBeNull();
    ask(Response.json({}));
    expect(await early(request('POST'))).toBeNull();
    expect(await early(new Request('http://localhost/api/v1/about'))).toBeNull();
  });
});
