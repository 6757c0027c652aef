// A session's transcript as stretches of time: turns, the model, tools, sub-agents, waits for people. Pure; milliseconds.
// Rules: what a rule decided waited for nobody; the model works while its turn runs and neither a tool nor a person is waited for.
import { millis, type AskAnswer, type Entry, type EntryApproval, type EntryOf, type Tool } from '../api/types';
import { union, without, type Span } from '../charts/times';
import { inputOf } from '../feed/model/tools';

export interface Part extends Span {
  entry: string;
}
export interface TurnPart extends Part {
  number: number;
  isRunning: boolean;
  isFailed: boolean;
  costUsd: number | null;
}
export interface ToolPart extends Part {
  tool: string;
  what: string;
  isFailed: boolean;
  isRunning: boolean;
  /** Called by a sub-agent. */
  isNested: boolean;
}
export interface AgentPart extends Part {
  what: string;
  isRunning: boolean;
  isFailed: boolean;
}
export interface WaitPart extends Part {
  tool: string;
  what: string;
  /** Who answered; none if nobody has. */
  by: string | null;
  isOpen: boolean;
}
export interface Timeline {
  turns: TurnPart[];
  model: Span[];
  tools: ToolPart[];
  agents: AgentPart[];
  waits: WaitPart[];
  /** Calls, those of sub-agents too. */
  calls: number;
}

const is = <K extends Entry['body']['kind']>(entry: Entry, kind: K): entry is Entry & EntryOf<K> => entry.body.kind === kind;

/** `isLive`: the agent may still go on, so what is not over lasts until `now`. */
export function timelineOf(entries: readonly Entry[], now: number, isLive: boolean): Timeline {
  const last = entries.reduce((most, one) => Math.max(most, endOf(one)), 0);
  const end = isLive ? Math.max(now, last) : last;
  const tools: ToolPart[] = [];
  const agents: AgentPart[] = [];
  const waits: WaitPart[] = [];
  const busy: Span[] = [];
  let calls = 0;
  for (const entry of entries) {
    if (is(entry, 'tool')) {
      calls += 1;
      const { is: tool } = entry.body;
      const wait = tool.approval ? waitOf(entry, tool.approval, tool.name, whatOf(tool), end) : null;
      const run = runOf(entry, tool, end);
      if (wait) waits.push(wait);
      if (tool.role === 'agent') agents.push(agentOf(entry, tool, end));
      else if (run && tool.role === 'plain') tools.push(run);
      if (!entry.parent) busy.push(...[wait, run].filter((one) => one !== null));
    } else if (is(entry, 'ask')) {
      const { approval, from } = entry.body.is;
      const wait = waitOf(entry, approval, from, from, end);
      if (wait) waits.push(wait);
      if (wait && !entry.parent) busy.push(wait);
    } else if (is(entry, 'task') && !entry.body.is.tool) {
      const { is: task } = entry.body;
      const isRunning = task.state === 'running' || task.state === 'paused';
      const to = task.ended_at ? millis(task.ended_at) : isRunning ? end : millis(entry.at) + (task.duration_ms ?? 0);
      agents.push({ from: millis(entry.at), to, entry: entry.id, what: task.description ?? '', isRunning, isFailed: task.state === 'failed' });
    }
  }
  const turns = turnsOf(entries, end, isLive);
  const model = turns.flatMap((turn) => without(turn, busy));
  return { turns, model, tools, agents, waits, calls };
}

/** When something last happened to an entry, as far as it says. */
function endOf(entry: Entry): number {
  const at = millis(entry.at);
  if (is(entry, 'tool')) {
    const { result, approval, agent } = entry.body.is;
    return Math.max(at, millis(result?.at ?? 0), millis(approval?.answer?.at ?? 0), millis(approval?.ended_at ?? 0), millis(agent?.ended_at ?? 0));
  }
  if (is(entry, 'ask')) return Math.max(at, millis(entry.body.is.approval.answer?.at ?? 0), millis(entry.body.is.approval.ended_at ?? 0));
  if (is(entry, 'task')) return Math.max(at, millis(entry.body.is.ended_at ?? 0));
  if (is(entry, 'prompt')) return Math.max(at, millis(entry.body.is.ended_at ?? 0));
  if (is(entry, 'thinking')) return at + millis(entry.body.is.took ?? 0);
  return at;
}

function waitOf(entry: Entry, approval: EntryApproval, tool: string, what: string, end: number): WaitPart | null {
  const answer: AskAnswer | null | undefined = approval.answer;
  if (answer?.by === 'rule') return null;
  const from = millis(approval.asked_at);
  const isOpen = approval.standing.state === 'open';
  const ended = answer?.at ?? approval.ended_at;
  return { from, to: ended ? millis(ended) : isOpen ? end : from, entry: entry.id, tool, what, by: answer?.by ?? null, isOpen };
}

/** While the call ran: from its start, or from the answer to its question, to its result. */
function runOf(entry: Entry, tool: Tool, end: number): ToolPart | null {
  const answered = tool.approval?.answer?.at;
  const isRunning = !tool.result && (tool.state === 'called' || tool.state === 'answered') && entry.life === 'open';
  if (!tool.result && !isRunning) return null;
  if (tool.state === 'refused') return null;
  const to = tool.result ? millis(tool.result.at) : end;
  const took = tool.took === null || tool.took === undefined ? null : millis(tool.took);
  const from = answered ? millis(answered) : took !== null && tool.result ? to - took : millis(entry.at);
  const isFailed = tool.state === 'failed';
  return { from: Math.min(from, to), to, entry: entry.id, tool: tool.name, what: whatOf(tool), isFailed, isRunning, isNested: Boolean(entry.parent) };
}

function agentOf(entry: Entry, tool: Tool, end: number): AgentPart {
  const { agent } = tool;
  const isRunning = agent ? agent.state === 'running' || agent.state === 'paused' : !tool.result && entry.life === 'open';
  const ended = agent?.ended_at ?? tool.result?.at;
  const to = ended && !isRunning ? millis(ended) : isRunning ? end : millis(entry.at);
  const isFailed = tool.state === 'failed' || agent?.state === 'failed';
  return { from: millis(entry.at), to: Math.max(to, millis(entry.at)), entry: entry.id, what: agent?.description || whatOf(tool), isRunning, isFailed };
}

/** Turns, from the messages that began them; where those are not at hand, from the results that ended them. */
function turnsOf(entries: readonly Entry[], end: number, isLive: boolean): TurnPart[] {
  const results = entries.filter((one) => is(one, 'result'));
  const begun: (Span & { entry: string; isRunning: boolean })[] = [];
  for (const entry of entries) {
    if (!is(entry, 'prompt') || entry.parent || entry.body.is.origin === 'agent') continue;
    const { state, started_at, ended_at } = entry.body.is;
    if (state !== 'started' && state !== 'done' && state !== 'sent') continue;
    const from = millis(started_at ?? entry.at);
    const result = results.find((one) => millis(one.at) >= from);
    const known = ended_at ?? result?.at;
    if (known === undefined && !isLive && state === 'sent') continue;
    begun.push({ from, to: known ? millis(known) : end, entry: entry.id, isRunning: !known && isLive });
  }
  for (const one of results) {
    const to = millis(one.at);
    const from = to - one.body.is.duration_ms;
    if (!begun.some((turn) => turn.from <= to && turn.to >= from)) begun.push({ from, to, entry: one.id, isRunning: false });
  }
  begun.sort((a, b) => a.from - b.from);
  const turns: TurnPart[] = [];
  for (const one of begun) {
    const last = turns.at(-1);
    // A message that came into a running turn is part of it.
    if (last && one.from < last.to - 1) {
      last.to = Math.max(last.to, one.to);
      last.isRunning ||= one.isRunning;
      continue;
    }
    turns.push({ ...one, number: turns.length + 1, isFailed: false, costUsd: null });
  }
  for (const turn of turns) {
    const result = results.findLast((one) => millis(one.at) >= turn.from && millis(one.at) <= turn.to + 1);
    if (!result) continue;
    turn.isFailed = !result.body.is.is_success && !result.body.is.is_interrupted;
    turn.costUsd = result.body.is.cost_usd;
  }
  return turns;
}

/** The one thing of an input that says what is done. */
export function whatOf(tool: Tool): string {
  const fields = inputOf(tool);
  for (const name of ['command', 'file_path', 'notebook_path', 'url', 'pattern', 'query', 'path', 'description', 'prompt', 'plan']) {
    const value = fields[name];
    if (typeof value === 'string' && value) return oneLine(value);
  }
  return '';
}

function oneLine(text: string): string {
  const line = text.trim().split('\n', 1)[0] ?? '';
  return line.length > 120 ? `${line.slice(0, 119)}…` : line;
}

/** How long all of it took, idle stretches left out. */
export const activeTime = (timeline: Timeline): number =>
  union([...timeline.turns, ...timeline.agents]).reduce((sum, one) => sum + one.to - one.from, 0);
