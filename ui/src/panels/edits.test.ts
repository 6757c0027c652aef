// Edits of one file are one change, in order; what did not run is none.
import { describe, expect, it } from 'vitest';
import type { Entry, Tool } from '../api/types';
import { editsIn } from './edits';

function call(name: string, input: object, state: Tool['state'] = 'ran'): Entry {
  return { id: '1-1', first: '1-1', last: '1-1', at: 0, life: 'final', body: { kind: 'tool', is: { tool_use_id: 't', name, role: 'plain', state, input: { json: input, length: 0 } } } };
}

describe('edits of a conversation', () => {
  it('are told file by file', () => {
    const files = editsIn([
      call('Write', { file_path: '/p/a', content: 'one\ntwo\n' }),
      call('Edit', { file_path: '/p/a', old_string: 'one', new_string: '1' }),
      call('Edit', { file_path: '/p/b', old_string: 'x', new_string: 'y' }, 'refused'),
      call('Bash', { command: 'ls' }),
    ], '/p');
    expect(files.map((file) => [file.path, file.added, file.removed, file.hunks.length])).toEqual([['a', 3, 1, 2]]);
  });

  it('leave out the plan of the agent, which is no file of the project', () => {
    const plan = call('Write', { file_path: '/h/.claude/plans/brave-fox.md', content: '# Plan' });
    expect(editsIn([plan, call('Write', { file_path: '/p/plans/a.md', content: 'x' })], '/p').map((file) => file.path)).toEqual(['plans/a.md']);
  });

  it('leave out a plan that lies elsewhere, where the host marks it', () => {
    const plan = call('Write', { file_path: '/p/plans/brave-fox.md', content: '# Plan' });
    expect(editsIn([plan], '/p')).toHaveLength(1);
    if (plan.body.kind === 'tool') plan.body.is.approval = { answer: { reason_kind: 'plan-file' } } as never;
    expect(editsIn([plan], '/p')).toEqual([]);
  });
});
