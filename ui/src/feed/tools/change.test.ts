// An edit is shown as the change it makes, before and after it ran.
import { describe, expect, it } from 'vitest';
import type { Tool } from '../../api/types';
import { changeOf, isCut } from './change';

const tool = (name: string, input: object, more: Partial<Tool> = {}): Tool => ({
  tool_use_id: 't', name, role: 'plain', state: 'asking', input: { json: input, length: 0 }, ...more,
});

describe('the change of a call', () => {
  it('is read from its input before it ran, from its patch afterwards', () => {
    const input = { file_path: '/p/a.ts', old_string: 'a\n', new_string: 'b\n' };
    expect(changeOf(tool('Edit', input), '/p')).toMatchObject({ path: 'a.ts', added: 1, removed: 1 });
    const structured = { json: { structuredPatch: [{ oldStart: 7, newStart: 7, lines: ['-a', '+b', '+c'] }] }, length: 0 };
    const ran = tool('Edit', input, { state: 'ran', result: { text: { text: '', length: 0 }, attachments: 0, is_error: false, structured, at: 0 } });
    expect(changeOf(ran)?.hunks[0]?.lines[0]?.old).toBe(7);
    expect(changeOf(ran)?.added).toBe(2);
  });

  it('is the input that a person gave, where they changed it', () => {
    const one = tool('Write', { file_path: 'a', content: 'old' }, {
      approval: {
        request_id: 'r', kind: 'tool', asked: '1-1', asked_at: 0, standing: { state: 'written' },
        answer: { verdict: 'allow', word: 'allow', at: 0, written: '1-2', waited: 0, input: { json: { file_path: 'a', content: 'one\ntwo' }, length: 0 } },
      },
    });
    expect(changeOf(one)?.added).toBe(2);
  });

  it('is made once for a call, and anew for another folder', () => {
    const one = tool('Edit', { file_path: '/p/a.ts', old_string: 'a', new_string: 'b' });
    expect(changeOf(one, '/p')).toBe(changeOf(one, '/p'));
    expect(changeOf(one, '/q')?.path).toBe('/p/a.ts');
    expect(changeOf({ ...one, state: 'ran' }, '/q')).not.toBe(changeOf(one, '/q'));
  });

  it('knows several edits of one file, and bears what is none', () => {
    const edits = [{ old_string: 'a', new_string: 'b' }, { old_string: 'c', new_string: 'd' }, 3];
    expect(changeOf(tool('MultiEdit', { file_path: 'a', edits }))).toMatchObject({ added: 2, removed: 2 });
    expect(changeOf(tool('Bash', {}))).toBeNull();
    expect(isCut(tool('Write', {}, { input: { json: {}, length: 9, whole: '1-2' } }))).toBe(true);
  });
});
