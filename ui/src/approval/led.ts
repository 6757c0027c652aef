// The last steps before a question, from the entries of a transcript. Pure but for `before`, which reads the record.

import { api, take } from '../api/client';
import type { Entry, Tool } from '../api/types';
import type { IconName } from '../kit/icons';
import { before as sumOf, type Before } from './rule';
import { shown, thingOf } from './thing';
import { span } from '../kit/ages';
import { planBecame } from '../feed/model/signature';
import { inputOf } from '../feed/model/tools';

export interface Step {
  id: string;
  icon: IconName;
  verb: string;
  /** What a machine reads; empty for words. */
  code: string;
  /** The whole path, where it is about a file or folder. */
  path?: string;
  after: string;
  look: 'plain' | 'ok' | 'bad' | 'needs';
}

const MOST = 6;

/** What was asked of the agent, and its last steps up to the call. */
export function ledTo(entries: Entry[], call: string | null, cwd: string): { prompt: string; steps: Step[] } {
  const prompts = entries.flatMap((entry) => (entry.body.kind === 'prompt' ? [entry.body.is.text.text] : []));
  const end = entries.findIndex((entry) => entry.body.kind === 'tool' && entry.body.is.tool_use_id === call);
  const upTo = end < 0 ? entries : entries.slice(0, end + 1);
  const steps = upTo.flatMap((entry) => stepOf(entry, call, cwd) ?? []);
  return { prompt: cut(prompts[prompts.length - 1] ?? '', 280), steps: steps.slice(-MOST) };
}

function stepOf(entry: Entry, call: string | null, cwd: string): Step | null {
  const { body } = entry;
  if (body.kind === 'text' && body.is.text.text.trim() !== '') {
    return { id: entry.id, icon: 'note', verb: `“${cut(plain(body.is.text.text), 220)}”`, code: '', after: '', look: 'plain' };
  }
  if (body.kind !== 'tool') return null;
  const tool = body.is;
  const thing = thingOf(tool.name, inputOf(tool));
  const isThis = tool.tool_use_id === call && call !== null;
  const base = { id: entry.id, verb: tool.name, ...outcome(tool, isThis) };
  switch (thing.kind) {
    case 'command':
      return { ...base, icon: 'term', code: cut(thing.text, 160) };
    case 'diff':
    case 'file':
      return { ...base, icon: 'edit', code: shown(thing.path, cwd), path: thing.path };
    case 'path':
      return { ...base, icon: 'file', code: shown(thing.path, cwd), path: thing.path };
    case 'search':
      return { ...base, icon: 'search', code: thing.pattern };
    case 'url':
      return { ...base, icon: 'globe', code: cut(thing.url, 120) };
    case 'words':
      return { ...base, icon: 'agents', code: cut(thing.text, 120) };
    case 'json':
      if (tool.name === 'AskUserQuestion') return { ...base, icon: 'quest', verb: 'A question', code: '' };
      if (tool.name === 'ExitPlanMode') return { ...base, icon: 'plan', verb: 'The plan', code: '' };
      return { ...base, icon: 'bolt', code: '' };
  }
}

function outcome(tool: Tool, isThis: boolean): Pick<Step, 'after' | 'look'> {
  const time = tool.took == null ? '' : ` in ${span(tool.took / 1000)}`;
  switch (tool.state) {
    case 'ran':
      return { after: `done${time}`, look: 'ok' };
    case 'failed':
      return { after: `failed${time}`, look: 'bad' };
    case 'refused': {
      const became = planBecame(tool.approval?.answer, tool.role);
      if (became !== null) return became === 'back' ? { after: 'sent back', look: 'plain' } : { after: 'approved', look: 'ok' };
      return { after: 'denied', look: 'bad' };
    }
    default:
      return isThis ? { after: 'is waiting for you', look: 'needs' } : { after: '', look: 'plain' };
  }
}

/** Words without the signs of Markdown, which mean nothing in a line. */
export function plain(text: string): string {
  return text.replace(/\*\*|`|^#+ /gm, '').trim();
}

function cut(text: string, most: number): string {
  const line = text.replace(/\s+/g, ' ');
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
}

/** What people decided about this tool in a session. */
export async function before(session: string, tool: string): Promise<Before | null> {
  try {
    const query = { session, tool, most: 100 };
    const page = await take(api.GET('/api/v1/decisions', { params: { query } }));
    return sumOf(page.items, tool);
  } catch {
    return null;
  }
}
