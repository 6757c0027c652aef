// A stream goes on behind the last id, waits longer each time, and stops where asking again would not help.
import { afterEach, describe, expect, it, vi } from 'vitest';
import { follow, waitOf, type StreamState } from './stream';

const body = (text: string) => new Response(text, { status: 200, headers: { 'content-type': 'text/event-stream' } });

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

describe('following', () => {
  it('waits longer each time, to a limit, and not all at once', () => {
    expect([0, 1, 2, 3].map((n) => waitOf(n, 0.5))).toEqual([500, 1000, 2000, 4000]);
    expect(waitOf(20, 0.5)).toBe(4_000);
    expect(waitOf(0, 0)).toBeLessThan(waitOf(0, 1));
  });

  it('asks again behind the last id it has handed out', async () => {
    const asked: string[] = [];
    const answers = [body('id: 3\nevent: a\ndata: {}\n\nid: 4\nevent: b\ndata: {}\n\n'), body('id: 5\nevent: c\ndata: {}\n\n')];
    vi.stubGlobal('fetch', async (url: URL) => {
      asked.push(url.search);
      const next = answers.shift();
      if (next) return next;
      return new Promise<Response>(() => {});
    });
    const told: string[] = [];
    await new Promise<void>((done) => {
      const one = follow('/api/v1/events', {
        after: '2',
        onEvent: ({ event }) => {
          told.push(event);
          if (event === 'c') {
            one.close();
            done();
          }
        },
      });
    });
    expect(told).toEqual(['a', 'b', 'c']);
    expect(asked).toEqual(['?after=2', '?after=4']);
  });

  it('gives the page its turn in the middle of a flood', async () => {
    const flood = new ReadableStream<Uint8Array>({
      start(to) {
        for (let id = 1; id <= 40; id += 1) to.enqueue(new TextEncoder().encode(`id: ${id}\nevent: a\ndata: {}\n\n`));
      },
    });
    vi.stubGlobal('fetch', async () => new Response(flood, { status: 200 }));
    let turnAt = 0;
    const last = await new Promise<number>((done) => {
      let count = 0;
      const one = follow('/api/v1/events', {
        onEvent: () => {
          count += 1;
          if (count === 1) setTimeout(() => (turnAt = count), 0);
          const busyUntil = performance.now() + 2;
          while (performance.now() < busyUntil);
          if (count < 40) return;
          one.close();
          done(count);
        },
      });
    });
    expect(last).toBe(40);
    expect(turnAt).toBeGreaterThan(0);
    expect(turnAt).toBeLessThan(40);
  });

  it('ends with the words of a refusal that asking again would not change', async () => {
    const problem = { code: 'not_found', detail: 'no such session', status: 404, title: 'No', type: 'about:blank' };
    vi.stubGlobal('fetch', async () => Response.json(problem, { status: 404 }));
    const states: StreamState[] = [];
    const refused = await new Promise<string | undefined>((done) => {
      follow('/x', {
        onEvent: () => {},
        onState: (state, why) => {
          states.push(state);
          if (state === 'refused') done(why?.message);
        },
      });
    });
    expect(refused).toBe('no such session');
    expect(states).toEqual(['connecting', 'refused']);
  });
});
