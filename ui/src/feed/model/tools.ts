// What a tool call says on its line: icon, verb, argument, result. One place, so that card, list and transcript say the same.
// Keeps: inputs are looked at leniently; a field of another type is a field that is not there.

import type { Tool } from '../../api/types';
import { plain } from './ansi';
import { counted } from '../../kit/ages';
import type { IconName } from '../../kit/icons';
import { fields, text as word } from '../../approval/thing';
import { within } from './words';

export type Look = 'bash' | 'edit' | 'read' | 'web' | 'agent' | 'todo' | 'plan' | 'question' | 'json';

export interface Summary {
  look: Look;
  icon: IconName;
  verb: string;
  /** What it is about; in mono unless `isProse`. */
  arg: string;
  isProse?: boolean;
  /** It is a path alone. */
  isPath?: boolean;
}

export type Fields = Record<string, unknown>;

export function number(of: Fields, name: string): number | undefined {
  const value = of[name];
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** The input that ran: the one a person gave, where the answer had one. */
export function inputOf(tool: Tool): Fields {
  const answered = tool.approval?.answer?.verdict === 'allow' ? tool.approval.answer.input : undefined;
  return fields((answered ?? tool.approval?.input ?? tool.input)?.json);
}

/** The input that the agent had asked with, where whoever allowed the call edited it; answers and plans are no edits. */
export function askedInput(tool: Tool): unknown {
  const isCall = tool.role === 'plain' || tool.role === 'agent';
  const answer = tool.approval?.answer;
  const isEdited = isCall && answer?.verdict === 'allow' && answer.input != null;
  return isEdited ? (tool.approval?.input ?? tool.input)?.json : undefined;
}

type Maker = (input: Fields, folder?: string) => Summary;
const file = (look: Look, icon: IconName, verb: string, name = 'file_path'): Maker => (input, folder) => ({
  look, icon, verb, arg: within(word(input, name), folder), isPath: true,
});
const prose = (look: Look, icon: IconName, verb: string, ...names: string[]): Maker => (input) => ({
  look, icon, verb, arg: names.map((name) => word(input, name)).find(Boolean) ?? '', isProse: true,
});
const search: Maker = (input, folder) => {
  const where = word(input, 'path') || word(input, 'glob');
  return { look: 'read', icon: 'search', verb: 'Searched', arg: word(input, 'pattern') + (where ? `  in ${within(where, folder)}` : '') };
};

const MAKERS: Record<string, Maker> = {
  Bash: (input) => ({ look: 'bash', icon: 'term', verb: 'Bash', arg: firstLine(word(input, 'command')) }),
  PowerShell: (input) => ({ look: 'bash', icon: 'term', verb: 'PowerShell', arg: firstLine(word(input, 'command')) }),
  Edit: file('edit', 'edit', 'Edit'),
  MultiEdit: file('edit', 'edit', 'Edit'),
  Write: file('edit', 'edit', 'Write'),
  NotebookEdit: file('edit', 'edit', 'Edit', 'notebook_path'),
  Read: file('read', 'file', 'Read'),
  NotebookRead: file('read', 'file', 'Read', 'notebook_path'),
  LS: file('read', 'folder', 'Listed', 'path'),
  Grep: search,
  Glob: search,
  WebFetch: (input) => ({ look: 'web', icon: 'globe', verb: 'Fetched', arg: word(input, 'url') }),
  WebSearch: (input) => ({ look: 'web', icon: 'globe', verb: 'Searched the web', arg: word(input, 'query'), isProse: true }),
  Task: prose('agent', 'agents', 'Task', 'description', 'prompt'),
  Agent: prose('agent', 'agents', 'Task', 'description', 'prompt'),
  TodoWrite: () => ({ look: 'todo', icon: 'check', verb: 'Tasks', arg: '', isProse: true }),
  TaskCreate: prose('todo', 'check', 'New task', 'subject'),
  TaskUpdate: (input) => ({ look: 'todo', icon: 'check', verb: `Task ${word(input, 'taskId')}`, arg: word(input, 'status').replace('_', ' '), isProse: true }),
  TaskList: prose('json', 'check', 'Listed tasks'),
  TaskOutput: prose('json', 'term', 'Read output of', 'task_id', 'bash_id'),
  TaskStop: prose('json', 'stop', 'Stopped', 'task_id', 'shell_id'),
  KillShell: prose('json', 'stop', 'Stopped', 'shell_id'),
  ExitPlanMode: prose('plan', 'plan', 'Plan'),
  EnterPlanMode: prose('json', 'plan', 'Switched to plan mode'),
  AskUserQuestion: (input) => ({ look: 'question', icon: 'quest', verb: 'Asked', arg: questionsOf(input)[0]?.question ?? '', isProse: true }),
  Skill: (input) => {
    const name = word(input, 'skill') || word(input, 'command');
    return { look: 'json', icon: 'bolt', verb: 'Skill', arg: [name, word(input, 'args')].filter(Boolean).join('  '), isProse: true };
  },
  ToolSearch: prose('json', 'search', 'Searched tools', 'query'),
};

export function summarise(tool: Tool, folder?: string): Summary {
  const input = inputOf(tool);
  const maker = MAKERS[tool.name];
  if (maker) return maker(input, folder);
  const mcp = /^mcp__(.+?)__(.+)$/.exec(tool.name);
  const first = Object.values(input).find((value): value is string => typeof value === 'string') ?? '';
  return { look: 'json', icon: 'bolt', verb: mcp ? `${mcp[1]}: ${mcp[2]}` : tool.name, arg: firstLine(first) };
}

export interface Question { question: string; header: string; options: string[] }

export function questionsOf(input: Fields): Question[] {
  const list = Array.isArray(input['questions']) ? input['questions'] : [];
  return list.map((one) => {
    const question = fields(one);
    const options = Array.isArray(question['options']) ? question['options'] : [];
    return { question: word(question, 'question'), header: word(question, 'header'), options: options.map((option) => word(fields(option), 'label')) };
  });
}

export interface Todo { text: string; state: 'done' | 'now' | 'open' }

export function todosOf(input: Fields): Todo[] {
  const list = Array.isArray(input['todos']) ? input['todos'] : [];
  return list.map((one) => {
    const todo = fields(one);
    const status = word(todo, 'status');
    const state = status === 'completed' ? 'done' : status === 'in_progress' ? 'now' : 'open';
    return { text: (state === 'now' && word(todo, 'activeForm')) || word(todo, 'content'), state };
  });
}

/** The exit code of a command that failed, as its report says. */
export function exitCode(tool: Tool): number | null {
  const found = /^(?:Error: )?Exit code (\d+)/.exec(tool.result?.text.text ?? '');
  return found ? Number(found[1]) : null;
}

/** What a command printed, without the line that tells its exit code. */
export function outputOf(tool: Tool): string {
  const structured = fields(tool.result?.structured?.json);
  const printed = [word(structured, 'stdout'), word(structured, 'stderr')].filter(Boolean).join('\n');
  if (printed) return printed;
  return (tool.result?.text.text ?? '').replace(/^(?:Error: )?Exit code \d+\n?/, '');
}

/** A word on what came of a call that only looks: `212 lines`, `14 files`. */
export function found(tool: Tool): string {
  const structured = fields(tool.result?.structured?.json);
  const read = fields(structured['file']);
  const lines = number(read, 'numLines');
  if (lines !== undefined) return counted(lines, 'line');
  const matches = number(structured, 'numMatches') ?? number(structured, 'numLines');
  if (matches !== undefined && word(structured, 'mode') === 'content') return counted(matches, 'match', 'matches');
  const files = number(structured, 'numFiles');
  if (files !== undefined) return counted(files, 'file');
  const text = tool.result?.text.text ?? '';
  if (tool.state !== 'ran' || text === '') return '';
  return counted(text.replace(/\n$/, '').split('\n').length, 'line');
}

export function firstLine(text: string): string {
  const lines = plain(text).trim().split('\n');
  return lines.length > 1 ? `${lines[0]} …` : (lines[0] ?? '');
}
