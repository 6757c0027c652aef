// Entries become rows: reads joined, sub-agents nested, nothing lost.
import { describe, expect, it } from 'vitest';
import type { Entry, Tool } from '../../api/types';
import { readsWords, rowsOf } from './rows';

let seq = 0;
function tool(name: string, input: object = {}, more: Partial<Tool> = {}, entry: Partial<Entry> = {}): Entry {
  seq += 1;
  const role = name === 'Task' ? 'agent' : 'plain';
  return {
    id: `1-${seq}`, first: `1-${seq}`, last: `1-${seq}`, at: 1_700_000_000_000_000, life: 'final', ...entry,
    body: { kind: 'tool', is: { tool_use_id: `t${seq}`, name, role, state: 'ran', input: { json: input, length: 0 }, ...more } },
  };
}
const text = (parent?: string): Entry => {
  seq += 1;
  const entry: Entry = {
    id: `1-${seq}`, first: `1-${seq}`, last: `1-${seq}`, at: 1_700_000_000_000_000, life: 'final',
    body: { kind: 'text', is: { text: { text: 'x', length: 1 }, is_partial: false, is_aborted: false } },
  };
  return parent ? { ...entry, parent } : entry;
};

describe('rows of a feed', () => {
  it('joins reads that follow each other and says what they were', () => {
    const reads = [tool('Read', { file_path: 'a' }), tool('Read', { file_path: 'b' }), tool('Read', { file_path: 'a' }), tool('Grep', { pattern: 'x' }), tool('Glob', { pattern: '*' })];
    const rows = rowsOf([text(), ...reads, text(), tool('Read', { file_path: 'c' })]);
    expect(rows.map((row) => row.is)).toEqual(['entry', 'reads', 'entry', 'entry']);
    expect(readsWords(reads)).toBe('Read 2 files, searched twice');
    expect(readsWords(reads.slice(3, 4))).toBe('Searched once');
  });

  it('leaves a read alone that failed or waits for a person', () => {
    const rows = rowsOf([tool('Read'), tool('Read', {}, { state: 'failed' }), tool('Read'), tool('Read', {}, { state: 'asking' })]);
    expect(rows.map((row) => row.is)).toEqual(['entry', 'entry', 'entry', 'entry']);
  });

  it('a_read_that_a_person_allowed_keeps_its_own_line', () => {
    const standing = { state: 'settled', outcome: 'ran' };
    const by = (who: string) => ({ approval: { request_id: 'r', standing, answer: { verdict: 'allow', by: who, at: 1, waited: 1 } } }) as unknown as Partial<Tool>;
    const rows = rowsOf([tool('Read', { file_path: 'a' }, by('rule')), tool('Read', { file_path: 'b' }, by('rule')), tool('Read', { file_path: 'c' }, by('me'))]);
    expect(rows.map((row) => row.is)).toEqual(['reads', 'entry']);
  });

  it('nests what sub-agents do, and joins those of one message', () => {
    const one = tool('Task', { description: 'one' }, { message: 'm' });
    const two = tool('Task', { description: 'two' }, { message: 'm' });
    const inner = tool('Bash', {}, {}, { parent: one.id });
    const rows = rowsOf([one, two, inner, text(two.id), text()]);
    expect(rows.map((row) => row.is)).toEqual(['agents', 'entry']);
    const agents = rows[0];
    expect(agents?.is === 'agents' && agents.entries.map((entry) => entry.id)).toEqual([one.id, two.id]);
    expect(agents?.is === 'agents' && agents.under.get(one.id)?.length).toBe(1);
  });

  it('shows what a sub-agent did on its own where its call is not held', () => {
    expect(rowsOf([text('1-0')]).map((row) => row.is)).toEqual(['entry']);
  });

  it('keeps the name of a row when it grows at its end', () => {
    const reads = [tool('Read', { file_path: 'a' }), tool('Read', { file_path: 'b' })];
    expect(rowsOf(reads.slice(0, 1))[0]?.key).toBe(rowsOf(reads)[0]?.key);
  });

  it('says once that a turn was interrupted', () => {
    const notice: Entry = { ...text(), body: { kind: 'notice', is: { level: 'info', about: 'interrupted', source: 'user', text: { text: 'x', length: 1 } } } };
    const end: Entry = { ...text(), body: { kind: 'result', is: { subtype: 'success', is_success: false, is_interrupted: true, steps: 1, duration_ms: 1, api_ms: 1, cost_usd: 0, total_usd: 0, tokens: { input: 0, output: 0, cache_read: 0, cache_write: 0 }, denials: 0 } } };
    expect(rowsOf([notice, end])).toHaveLength(1);
    expect(rowsOf([notice, text()])).toHaveLength(2);
  });

  it('marks a new day', () => {
    const later = { ...text(), at: 1_700_200_000_000_000 };
    expect(rowsOf([text(), later]).map((row) => row.is)).toEqual(['entry', 'day', 'entry']);
  });
});
