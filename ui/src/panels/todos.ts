// The agent's list of tasks, from its calls: `TodoWrite` says all of it at once, `TaskCreate` and `TaskUpdate` one task at a time.
// Pure. Keeps: the order in which tasks were made; one that was deleted is gone.
import type { Entry, Tool } from '../api/types';
import { fields, text as word } from '../approval/thing';
import { inputOf, todosOf, type Todo } from '../feed/model/tools';

export function todosIn(entries: readonly Entry[]): Todo[] {
  let whole: Todo[] = [];
  const tasks = new Map<string, Todo>();
  for (const entry of entries) {
    if (entry.body.kind !== 'tool') continue;
    const tool = entry.body.is;
    if (tool.state === 'refused' || tool.state === 'failed') continue;
    if (tool.name === 'TodoWrite' && !entry.parent) whole = todosOf(inputOf(tool));
    else if (tool.name === 'TaskCreate') made(tasks, tool);
    else if (tool.name === 'TaskUpdate') changed(tasks, tool);
  }
  return tasks.size > 0 ? [...tasks.values()] : whole;
}

function made(tasks: Map<string, Todo>, tool: Tool): void {
  const result = fields(tool.result?.structured?.json);
  const task = fields(result['task']);
  const said = /#(\w+)/.exec(tool.result?.text.text ?? '')?.[1];
  const id = word(task, 'id') || word(result, 'taskId') || said || String(tasks.size + 1);
  tasks.set(id, { text: word(inputOf(tool), 'subject'), state: 'open' });
}

function changed(tasks: Map<string, Todo>, tool: Tool): void {
  const input = inputOf(tool);
  const id = word(input, 'taskId');
  const status = word(input, 'status');
  if (status === 'deleted') return void tasks.delete(id);
  const before = tasks.get(id) ?? { text: `Task ${id}`, state: 'open' as const };
  const state = status === 'completed' ? 'done' : status === 'in_progress' ? 'now' : status === 'pending' ? 'open' : before.state;
  tasks.set(id, { text: word(input, 'subject') || before.text, state });
}
