// What the page reads of a busy host: questions that waited for somebody, and sessions a few times a second.
import { afterEach, describe, expect, it, vi } from 'vitest';
import { approvals } from './approvals.svelte';
import { connection } from './connection.svelte';
import { onHappened, startFeed, stopFeed } from './feed.svelte';

afterEach(() => {
  stopFeed();
  vi.unstubAllGlobals();
});

const approval = (id: string, life: string) => ({ id, session: 's', request_id: `r-${id}`, session_name: 'One', tool: 'Bash', kind: 'tool', life, asked: 1 });
const event = (name: string, data: object) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;

/** A server that tells these events, one piece after the other, and knows every approval as open. */
function server(...pieces: string[]): string[] {
  const asked: string[] = [];
  vi.stubGlobal('fetch', async (what: Request | URL) => {
    const url = new URL(what instanceof Request ? what.url : what);
    const path = url.pathname.replace('/api/v1', '');
    asked.push(path);
    if (path === '/events') {
      const body = new ReadableStream({
        async start(to) {
          for (const piece of pieces) {
            to.enqueue(new TextEncoder().encode(piece));
            await new Promise((done) => setTimeout(done, 2));
          }
        },
      });
      return new Response(body, { status: 200 });
    }
    const id = /^\/approvals\/(.+)$/.exec(path)?.[1];
    if (id) return Response.json(approval(id, 'open'));
    return Response.json(path.startsWith('/sessions/') ? { id: path.split('/').at(-1), state: 'running' } : { items: [], next: null });
  });
  return asked;
}

describe('the feed', () => {
  it('reads questions that are open or known, and none that a rule has decided', async () => {
    const asked = server(
      event('caught-up', { number: 1 }) +
        event('approval', { session: 's', approval: 'by-rule', life: 'decided' }) +
        event('approval', { session: 's', approval: 'waits', life: 'open' }) +
        // Told while the question is still being read: what was read may be old by then.
        event('approval', { session: 's', approval: 'waits', life: 'decided' }),
    );
    startFeed();
    const reads = (id: string) => asked.filter((path) => path === `/approvals/${id}`).length;
    await vi.waitFor(() => expect(reads('waits')).toBe(2));
    expect(reads('by-rule')).toBe(0);
    expect(approvals.byRequest('s', 'r-waits')?.id).toBe('waits');
  });

  it('reads a session with many events a few times', async () => {
    const turns = Array.from({ length: 40 }, () => event('session', { session: 'busy', state: 'running', reason: '' }));
    const asked = server(event('caught-up', { number: 1 }), ...turns, event('approval', { session: 'other', approval: 'last', life: 'open' }));
    startFeed();
    await vi.waitFor(() => expect(asked).toContain('/approvals/last'), { timeout: 3000 });
    const reads = asked.filter((path) => path === '/sessions/busy').length;
    expect(reads).toBeGreaterThan(0);
    expect(reads).toBeLessThan(10);
  });
});

describe('a read that is overtaken or fails', () => {
  /** A server that answers by path, and tells events when it is told to. */
  function answering(answer: (path: string) => Response | Promise<Response>) {
    let tell: ((told: string) => void) | null = null;
    vi.stubGlobal('fetch', async (what: Request | URL) => {
      const path = new URL(what instanceof Request ? what.url : what).pathname.replace('/api/v1', '');
      if (path !== '/events') return answer(path);
      return new Response(new ReadableStream({ start: (to) => void (tell = (told) => to.enqueue(new TextEncoder().encode(told))) }));
    });
    startFeed();
    return (told: string) =>
      vi.waitFor(() => {
        expect(tell).not.toBeNull();
        tell?.(told);
      });
  }
  const list = (...items: object[]) => Response.json({ items, next: null });

  it('does not show a question as open that was answered while the list was read', async () => {
    const reads: (() => void)[] = [];
    const heard: string[] = [];
    const unhear = onHappened(({ event }) => heard.push(event));
    const tell = answering((path) => {
      if (path === '/approvals') return new Promise((done) => reads.push(() => done(list(approval('meanwhile', 'open')))));
      return path === '/approvals/meanwhile' ? Response.json(approval('meanwhile', 'settled')) : list();
    });
    await tell(event('caught-up', { number: 1 }));
    await vi.waitFor(() => expect(reads.length).toBe(1));
    await tell(event('approval', { session: 's', approval: 'meanwhile', life: 'decided' }));
    await vi.waitFor(() => expect(heard).toContain('approval'));
    unhear();
    reads[0]?.();
    await vi.waitFor(() => expect(approvals.get('meanwhile')?.life).toBe('settled'));
  });

  it('reads again what it could not read, one or all', async () => {
    const failed = new Set<string>();
    const tell = answering((path) => {
      if (path.startsWith('/approvals') && !failed.has(path)) {
        failed.add(path);
        return new Response('', { status: 503 });
      }
      if (path === '/approvals') return list(approval('of-the-list', 'open'));
      return path === '/approvals/alone' ? Response.json(approval('alone', 'open')) : list();
    });
    await tell(event('caught-up', { number: 1 }) + event('approval', { session: 's', approval: 'alone', life: 'open' }));
    await vi.waitFor(() => expect([approvals.get('of-the-list')?.life, approvals.get('alone')?.life]).toEqual(['open', 'open']), { timeout: 4000 });
    expect([...failed]).toEqual(expect.arrayContaining(['/approvals', '/approvals/alone']));
  });

  it('leaves the connection lost until the next sign of the stream, and no longer', async () => {
    const tell = answering(() => list());
    await tell(event('caught-up', { number: 1 }));
    await vi.waitFor(() => expect(connection.isLive).toBe(true));
    connection.down();
    expect([connection.isLive, connection.isAway]).toEqual([false, true]);
    await tell(': heartbeat\n\n');
    await vi.waitFor(() => expect([connection.isLive, connection.isAway]).toEqual([true, false]));
  });
});

describe('approvals', () => {
  it('keeps those that are open, and of the others the newest', async () => {
    vi.stubGlobal('fetch', async (request: Request) => {
      const id = new URL(request.url).pathname.split('/').at(-1) ?? '';
      return Response.json(approval(id, id === 'n0' ? 'open' : 'settled'));
    });
    for (let n = 0; n < 620; n += 1) await approvals.refresh(`n${n}`);
    expect(approvals.byId.size).toBe(500);
    expect(approvals.get('n0')?.life).toBe('open');
    expect(approvals.byRequest('s', 'r-n1')).toBeUndefined();
    expect(approvals.byRequest('s', 'r-n619')?.id).toBe('n619');
  });

  it('does not take an answer that a newer one has overtaken', async () => {
    const answers: ((life: string) => void)[] = [];
    vi.stubGlobal('fetch', (request: Request) => {
      // What an earlier test still reads is no question of this one.
      if (!request.url.endsWith('/approvals/raced')) return Promise.resolve(Response.json({ items: [], next: null }));
      return new Promise((done) => answers.push((life) => done(Response.json(approval('raced', life)))));
    });
    const [first, second] = [approvals.refresh('raced'), approvals.refresh('raced')];
    await vi.waitFor(() => expect(answers.length).toBe(2));
    answers[1]?.('settled');
    expect((await second)?.life).toBe('settled');
    answers[0]?.('open');
    expect((await first)?.life).toBe('settled');
    // Asked for later, it may be open again: a rule's answer that was lost is judged anew.
    const third = approvals.refresh('raced');
    await vi.waitFor(() => expect(answers.length).toBe(3));
    answers[2]?.('open');
    expect((await third)?.life).toBe('open');
  });
});
