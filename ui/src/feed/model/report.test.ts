// A report is what the sub-agent said, and nothing else.
import { describe, expect, it } from 'vitest';
import type { Tool } from '../../api/types';
import { reportOf } from './report';

const tool = (text: string, structured?: unknown): Tool => ({
  tool_use_id: 't', name: 'Task', role: 'agent', state: 'ran',
  result: { text: { text, length: text.length }, attachments: 0, is_error: false, at: 0, ...(structured ? { structured: { json: structured, length: 0 } } : {}) },
});

describe('the report of a sub-agent', () => {
  it('leaves out what the CLI adds for the model', () => {
    const wrapped = '<tools-used-before-summary>Grep</tools-used-before-summary>\n[Subagent hand-back] The text below is the final report.\nNone found.';
    expect(reportOf(tool(wrapped))).toBe('None found.');
    const content = [{ type: 'text', text: '<tools-used-before-summary>Grep</tools-used-before-summary>\n' }, { type: 'text', text: 'None found.' }];
    expect(reportOf(tool(wrapped, { content }))).toBe('None found.');
    expect(reportOf({ ...tool(''), agent: { description: '', is_background: true, state: 'completed', summary: { text: 'Done.', length: 5 } } })).toBe('Done.');
  });
});
