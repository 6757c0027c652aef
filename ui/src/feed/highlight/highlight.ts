// Asks the worker for colours. The worker starts with the first question, after the page has painted.
// Keeps: at most KEPT answers; code longer than MOST is not coloured; a worker that fails leaves code plain.

import type { Coloured } from './worker';
import type { Tok } from './tokens';

const KEPT = 300;
const MOST = 60_000;

const answers = new Map<string, Tok[][] | null>();
const waiting = new Map<number, (lines: Tok[][] | null) => void>();
let worker: Worker | null = null;
let asked = 0;

function start(): Worker {
  const made = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
  made.addEventListener('message', (event: MessageEvent<Coloured>) => {
    waiting.get(event.data.id)?.(event.data.lines);
    waiting.delete(event.data.id);
  });
  made.addEventListener('error', () => {
    for (const done of waiting.values()) done(null);
    waiting.clear();
  });
  return made;
}

const rested = (): Promise<void> =>
  new Promise((done) => {
    if ('requestIdleCallback' in globalThis) requestIdleCallback(() => done(), { timeout: 500 });
    else setTimeout(done, 50);
  });

/** What is known already, without waiting. */
export function known(code: string, language: string): Tok[][] | null | undefined {
  return answers.get(`${language}\n${code}`);
}

/** The colours of a code; none where it has none. */
export async function highlight(code: string, language: string, signal: AbortSignal): Promise<Tok[][] | null> {
  if (code.length > MOST) return null;
  const key = `${language}\n${code}`;
  const had = answers.get(key);
  if (had !== undefined) return had;
  await rested();
  // It has left the screen meanwhile: nobody needs it.
  if (signal.aborted) return null;
  worker ??= start();
  const id = (asked += 1);
  const lines = await new Promise<Tok[][] | null>((done) => {
    waiting.set(id, done);
    worker?.postMessage({ id, code, language });
  });
  answers.set(key, lines);
  if (answers.size > KEPT) {
    const [oldest] = answers.keys();
    if (oldest !== undefined) answers.delete(oldest);
  }
  return lines;
}
