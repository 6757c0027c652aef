// Every field of a call is told: in the thing, in a sentence, or by its name.
import { describe, expect, it } from 'vitest';
import { factsOf } from './facts';
import { thingOf } from './thing';

const words = (tool: string, input: object) => factsOf(tool, input).map(({ name, text }) => (name === null ? text : `${name}: ${text}`));

describe('what stands below a call', () => {
  it('names what is unusual about a command', () => {
    const input = { command: 'ls', description: 'List', run_in_background: true, dangerouslyDisableSandbox: true, timeout: 120_000 };
    expect(words('Bash', input)).toEqual(['List', 'runs in the background', 'runs outside the sandbox', 'ends after 2 m 00 s at the latest']);
    expect(factsOf('Bash', input).filter((fact) => fact.isUnusual)).toHaveLength(1);
    expect(words('Bash', { command: 'ls', dangerouslyDisableSandbox: false, run_in_background: false })).toEqual([]);
  });

  it('tells a field that nobody knows, and one of another kind than it should be', () => {
    expect(words('Bash', { command: 'ls', shell: { as: 'root' }, run_in_background: 'yes', note: null })).toEqual(['shell: {"as":"root"}', 'run_in_background: "yes"']);
    expect(words('Write', { file_path: '/a', content: ['x'] })).toEqual(['content: ["x"]']);
    expect(words('Grep', { pattern: 'x', path: '/a', '-i': true, glob: '*.ts' })).toEqual(['-i: true', 'glob: "*.ts"']);
    expect(words('WebSearch', { query: 'x', allowed_domains: ['a.org'] })).toEqual(['allowed_domains: ["a.org"]']);
  });

  it('says what becomes of a cell', () => {
    const input = { notebook_path: '/n.ipynb', new_source: '', cell_id: 'c7', edit_mode: 'delete' };
    expect(words('NotebookEdit', input)).toEqual(['deletes the cell', 'cell c7']);
    expect(factsOf('NotebookEdit', input)[0]?.isUnusual).toBe(true);
    expect(words('NotebookEdit', { ...input, edit_mode: 'insert', cell_type: 'code' })).toEqual(['inserts a cell', 'behind the cell c7', 'as code']);
    expect(words('NotebookEdit', { ...input, edit_mode: 'shuffle' })).toEqual(['cell c7', 'edit_mode: "shuffle"']);
  });

  it('says which of several edits reaches everywhere', () => {
    const edit = { old_string: 'a', new_string: 'b' };
    const input = { file_path: '/a', edits: [edit, { ...edit, replace_all: true, why: 'x' }] };
    expect(words('MultiEdit', input)).toEqual(['edit 2 of 2 replaces every match of the old text', 'edits[1].why: "x"']);
    expect(thingOf('MultiEdit', { file_path: '/a', edits: ['x'] }).kind).toBe('json');
  });

  it('says nothing twice', () => {
    expect(words('Task', { prompt: 'Do', description: 'Short', subagent_type: 'reader' })).toEqual(['Short', 'subagent_type: "reader"']);
    expect(words('Task', { description: 'Short' })).toEqual([]);
    expect(words('Read', { file_path: '/a', offset: 3, limit: 2 })).toEqual([]);
    expect(words('mcp__a__b', { any: 'thing' })).toEqual([]);
  });
});
