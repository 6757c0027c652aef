// The list of tasks is what the agent last said it is.
import { describe, expect, it } from 'vitest';
import type { Entry, Tool } from '../api/types';
import { todosIn } from './todos';

let seq = 0;
function call(name: string, input: object, more: Partial<Tool> = {}): Entry {
  seq += 1;
  const id = `1-${seq}`;
  return { id, first: id, last: id, at: 0, life: 'final', body: { kind: 'tool', is: { tool_use_id: id, name, role: 'plain', state: 'ran', input: { json: input, length: 0 }, ...more } } };
}

describe('the list of tasks', () => {
  it('is the last whole list', () => {
    const todo = (status: string) => ({ todos: [{ content: 'a', status, activeForm: 'doing a' }] });
    expect(todosIn([call('TodoWrite', todo('pending')), call('TodoWrite', todo('in_progress'))])).toEqual([{ text: 'doing a', state: 'now' }]);
  });

  it('is put together where tasks come one by one', () => {
    const made = (id: string, subject: string) =>
      call('TaskCreate', { subject }, { result: { text: { text: '', length: 0 }, attachments: 0, is_error: false, at: 0, structured: { json: { task: { id } }, length: 0 } } });
    const list = todosIn([made('1', 'a'), made('2', 'b'), call('TaskUpdate', { taskId: '1', status: 'completed' }), made('3', 'c'), call('TaskUpdate', { taskId: '2', status: 'deleted' })]);
    expect(list).toEqual([{ text: 'a', state: 'done' }, { text: 'c', state: 'open' }]);
  });
});
