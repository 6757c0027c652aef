// Follows a stream of the server for as long as somebody wants it. Read with fetch, not EventSource: so heartbeats are seen (a
// silent connection is found out), and a refusal can be told from a broken line. Rules: it always goes on behind the last id it
// has handed out, so nothing is lost and nothing comes twice; waits between tries grow to 4 s; a flood leaves the page room to act.
import { Refused, problemOf } from './client';
import { onRest, rests } from './rest';
import { Parser, type Told } from './sse';

export type StreamState = 'connecting' | 'live' | 'lost' | 'refused' | 'closed';

export interface Follow {
  /** Goes on behind this id; the server says what none means. */
  after?: string | null;
  onEvent: (told: Told) => void;
  /** `since` is when the stream was last heard of. */
  onState?: (state: StreamState, refused?: Refused) => void;
  /** Every sign of life, heartbeats too. */
  onSign?: () => void;
}

export interface Followed {
  /** The id of the last event. */
  readonly cursor: string | null;
  close: () => void;
  /** Does not wait for the next try. */
  now: () => void;
}

/** A heartbeat comes every 15 s. */
const SILENCE = 40_000;
const FIRST_WAIT = 500;
/** A daemon that is started again is there within seconds; tabs that nobody sees rest, and do not try. */
const LONGEST_WAIT = 4_000;
/** So long a flood is read in one go, in milliseconds. */
const SLICE = 12;

/** Lets the page do what waits: input, frames. A timer would be slow in a hidden tab. */
function breath(): Promise<void> {
  return new Promise((done) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      done();
    };
    port2.postMessage(null);
  });
}

/** How long to wait before try `n`, counted from 0; `random` in 0..1 spreads those who lost the server together. */
export function waitOf(n: number, random: number): number {
  const grown = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** n);
  return Math.round(grown * (0.75 + random / 2));
}

export function follow(path: string, how: Follow): Followed {
  let cursor = how.after ?? null;
  let isClosed = false;
  let tries = 0;
  let stop = new AbortController();
  let wake: () => void = () => {};

  const say = (state: StreamState, refused?: Refused) => {
    if (!isClosed || state === 'closed') how.onState?.(state, refused);
  };

  async function once(): Promise<void> {
    stop = new AbortController();
    let watch = setTimeout(() => stop.abort(), SILENCE);
    const sign = () => {
      clearTimeout(watch);
      watch = setTimeout(() => stop.abort(), SILENCE);
      how.onSign?.();
    };
    try {
      const url = new URL(path, location.origin);
      if (cursor !== null) url.searchParams.set('after', cursor);
      const response = await fetch(url, {
        headers: { accept: 'text/event-stream' },
        credentials: 'same-origin',
        cache: 'no-store',
        signal: stop.signal,
      });
      if (!response.ok || !response.body) {
        const body: unknown = await response.json().catch(() => null);
        throw new Refused(problemOf(response, body));
      }
      say('live');
      sign();
      tries = 0;
      const parser = new Parser();
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let rested = performance.now();
      for (;;) {
        const { done, value } = await reader.read();
        if (done || isClosed) return;
        sign();
        for (const told of parser.push(value)) {
          if (isClosed) return;
          how.onEvent(told);
          if (told.id !== null) cursor = told.id;
        }
        // What has arrived already is read without ever giving the page its turn: promises go before everything else.
        if (performance.now() - rested > SLICE) {
          await breath();
          rested = performance.now();
        }
      }
    } finally {
      clearTimeout(watch);
      stop.abort();
    }
  }

  const undo = onRest(() => {
    if (rests()) stop.abort();
    else wake();
  });

  async function loop(): Promise<void> {
    while (!isClosed) {
      if (rests()) {
        await new Promise<void>((done) => (wake = done));
        continue;
      }
      say('connecting');
      try {
        await once();
        if (!isClosed && !rests()) say('lost');
      } catch (error) {
        if (error instanceof Refused && isFinal(error)) {
          say('refused', error);
          return;
        }
        if (!rests()) say('lost');
      }
      if (isClosed) return;
      if (rests()) continue;
      const wait = waitOf(tries++, Math.random());
      await new Promise<void>((done) => {
        const timer = setTimeout(done, wait);
        wake = () => {
          clearTimeout(timer);
          done();
        };
      });
    }
  }
  void loop();

  return {
    get cursor() {
      return cursor;
    },
    close() {
      isClosed = true;
      undo();
      stop.abort();
      wake();
      how.onState?.('closed');
    },
    now: () => wake(),
  };
}

/** Asking again would not help. */
export function isFinal(refused: Refused): boolean {
  const { status } = refused;
  return status >= 400 && status < 500 && status !== 408 && status !== 429;
}
