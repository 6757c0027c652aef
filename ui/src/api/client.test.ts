// What the server refuses keeps its words; a broken connection is tried again with the same key.
import { afterEach, describe, expect, it, vi } from 'vitest';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.resetModules();
});

describe('the way to the API', () => {
  it('tries a write again with the same key, so that it is done once', async () => {
    const keys: (string | null)[] = [];
    let calls = 0;
    vi.stubGlobal('fetch', async (request: Request) => {
      keys.push(request.headers.get('idempotency-key'));
      calls += 1;
      if (calls === 1) throw new TypeError('gone');
      return Response.json({ name: 'me', scope: 'full', via: 'cookie' });
    });
    const { api, take } = await import('./client');
    const me = await take(api.POST('/api/v1/login', { body: { token: 't' } }));
    expect(me.name).toBe('me');
    expect(keys).toHaveLength(2);
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
    expect(keys[1]).toBe(keys[0]);
  });

  it('says what the server said, and its advice', async () => {
    const problem = { code: 'conflict', detail: 'it was answered', hint: 'look again', status: 409, title: 'No', type: 'x' };
    vi.stubGlobal('fetch', async () => Response.json(problem, { status: 409, headers: { 'content-type': 'application/problem+json' } }));
    const { api, take, words, onRefused } = await import('./client');
    const heard: string[] = [];
    onRefused((refused) => heard.push(refused.code));
    const error = await take(api.GET('/api/v1/me')).catch((thrown: unknown) => thrown);
    expect(words(error)).toBe('It was answered. Look again.');
    expect(heard).toEqual(['conflict']);
  });

  it('keeps an answer that is no problem of ours readable', async () => {
    vi.stubGlobal('fetch', async () => new Response('<html>', { status: 502, statusText: 'Bad Gateway' }));
    const { api, take, words } = await import('./client');
    const error = await take(api.GET('/api/v1/me')).catch((thrown: unknown) => thrown);
    expect(words(error)).toBe('Bad Gateway.');
  });
});
