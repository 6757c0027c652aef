// What waits for the server goes out once, in the way the button names then, also when nobody is in its session.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

interface Asked { method: string; path: string; key: string | null }
let asked: Asked[] = [];
let state = 'idle';
let answers: (asked: Asked) => Response | null = () => null;

beforeEach(() => {
  [asked, state, answers] = [[], 'idle', () => null];
  localStorage.clear();
  vi.resetModules();
  vi.stubGlobal('fetch', async (request: Request) => {
    const one = { method: request.method, path: new URL(request.url).pathname, key: request.headers.get('idempotency-key') };
    asked.push(one);
    const answer = answers(one);
    if (answer) return answer;
    if (one.path === '/api/v1/me') return Response.json({ name: 'me', scope: 'full', via: 'cookie' });
    return Response.json({ id: 's', state, asleep: false, trashed: null });
  });
});
afterEach(() => vi.unstubAllGlobals());

/** A page as it is after a load: nothing but what the browser keeps. */
async function page() {
  vi.resetModules();
  const [{ Post }, { outbox }, { connection }, { me }] = await Promise.all([
    import('./post.svelte'),
    import('./outbox.svelte'),
    import('../state/connection.svelte'),
    import('../state/me.svelte'),
  ]);
  await me.load();
  return { post: new Post('s'), outbox, connection };
}
const writes = () => asked.filter(({ method }) => method === 'POST');
const gone = () => {
  throw new TypeError('gone');
};

describe('a message for later', () => {
  it('is there after a reload, and goes out once when the server is back', async () => {
    const before = await page();
    before.connection.down();
    expect(await before.post.send('in the dark', [], 'when-back')).toBe(true);
    const after = await page();
    expect(after.outbox.of('s')).toMatchObject([{ text: 'in the dark' }]);
    expect(writes()).toEqual([]);
    after.connection.up();
    await vi.waitFor(() => expect(after.outbox.letters).toEqual([]));
    expect(writes()).toMatchObject([{ path: '/api/v1/sessions/s/messages' }]);
    expect((await page()).outbox.letters).toEqual([]);
  });

  it('resumes an agent that has ended', async () => {
    state = 'stopped';
    const { post, outbox, connection } = await page();
    connection.down();
    await post.send('go on', [], 'when-back');
    connection.up();
    await vi.waitFor(() => expect(outbox.letters).toEqual([]));
    expect(writes()).toMatchObject([{ path: '/api/v1/sessions/s/resume' }]);
  });

  it('keeps the key and the way of a first try that nobody answered', async () => {
    const before = await page();
    answers = ({ method }) => (method === 'POST' ? gone() : null);
    expect(await before.post.send('are you there', [], 'resume')).toBe(true);
    expect(before.connection.isAway).toBe(true);
    answers = () => null;
    const after = await page();
    after.connection.up();
    await vi.waitFor(() => expect(after.outbox.letters).toEqual([]));
    expect(new Set(writes().map(({ key }) => key)).size).toBe(1);
    expect(new Set(writes().map(({ path }) => path))).toEqual(new Set(['/api/v1/sessions/s/resume']));
  }, 10_000);

  it('goes out with the next sign of life, however often it was tried in vain', async () => {
    const { post, outbox, connection } = await page();
    connection.up();
    answers = ({ method }) => (method === 'POST' ? gone() : null);
    expect(await post.send('are you there', [], 'send')).toBe(true);
    expect(connection.isAway).toBe(true);
    connection.heard();
    await vi.waitFor(() => expect(connection.isAway).toBe(true), { timeout: 4000 });
    answers = () => null;
    connection.heard();
    await vi.waitFor(() => expect(outbox.letters).toEqual([]));
    expect(new Set(writes().map(({ key }) => key)).size).toBe(1);
  }, 10_000);

  it('that is refused stays with the reason until somebody says so, and holds up no other', async () => {
    const { post, outbox, connection } = await page();
    connection.down();
    await post.send('first', [], 'when-back');
    await post.send('second', [], 'when-back');
    const problem = { code: 'not_now', detail: 'not now', status: 409, title: 'No', type: 'x' };
    let isFirst = true;
    answers = ({ method }) => {
      if (method !== 'POST' || !isFirst) return null;
      isFirst = false;
      return Response.json(problem, { status: 409 });
    };
    connection.up();
    await vi.waitFor(() => expect(outbox.letters).toMatchObject([{ text: 'first' }]));
    const [first] = outbox.letters;
    expect(outbox.troubles.get(first?.key ?? '')).toBe('Not now.');
    outbox.again(first?.key ?? '');
    await vi.waitFor(() => expect(outbox.letters).toEqual([]));
  });
});
