// Entries for tests: whole ones, with only what a test is about said.
import type { Bodies, Entry, EntryApproval, EntryKind, Tool } from '../api/types';

const MICROS = 1000;
let seq = 0;

export function entry<K extends EntryKind>(kind: K, at: number, is: Bodies[K], more: Partial<Entry> = {}): Entry {
  seq += 1;
  const body = { kind, is } as Entry['body'];
  return { id: `1-${seq}.0`, first: `1-${seq}`, last: `1-${seq}`, at: at * MICROS, life: 'final', body, ...more };
}

const clip = (text: string) => ({ text, length: text.length });

export const prompt = (at: number, ended: number | null, more: Partial<Bodies['prompt']> = {}): Entry =>
  entry('prompt', at, {
    text: clip('Go'),
    origin: 'host',
    state: ended === null ? 'started' : 'done',
    started_at: at * MICROS,
    ...(ended === null ? {} : { ended_at: ended * MICROS }),
    ...more,
  });

export const result = (at: number, durationMs: number, more: Partial<Bodies['result']> = {}): Entry =>
  entry('result', at, {
    subtype: 'success',
    is_success: true,
    steps: 1,
    duration_ms: durationMs,
    api_ms: 0,
    cost_usd: 0.5,
    total_usd: 0.5,
    tokens: { input: 0, output: 0, cache_read: 0, cache_write: 0 },
    ...more,
  });

export const approval = (asked: number, answered: number | null, by: string | null): EntryApproval => ({
  request_id: 'r',
  kind: 'tool',
  asked: '1-1',
  asked_at: asked * MICROS,
  standing: answered === null ? { state: 'open' } : { state: 'written' },
  ...(answered === null
    ? {}
    : { answer: { verdict: 'allow', word: 'allow', at: answered * MICROS, written: '1-2', waited: (answered - asked) * MICROS, by } }),
});

export const tool = (at: number, ended: number | null, more: Partial<Tool> = {}, of: Partial<Entry> = {}): Entry =>
  entry(
    'tool',
    at,
    {
      tool_use_id: `t${at}`,
      name: 'Bash',
      role: 'plain',
      input: { json: { command: 'make test\nand more' }, length: 10 },
      state: ended === null ? 'called' : 'ran',
      ...(ended === null ? {} : { result: { text: clip('ok'), at: ended * MICROS }, took: (ended - at) * MICROS }),
      ...more,
    },
    ended === null ? { life: 'open', ...of } : of,
  );
