// The timeline of a session as lanes to draw, as a table, and as a sentence. Pure.
import type { Lane, LaneBar } from '../charts/lanes';
import type { Look, Table } from '../charts/scale';
import { counted, exactTime, money, span, waiting } from '../kit/ages';
import { to } from '../state/paths';
import { activeTime, type Timeline } from './timeline';

/** What the marks mean, in the order of the lanes. */
export const LEGEND: { name: string; look: Look }[] = [
  { name: 'Model', look: 'c1' },
  { name: 'Tool', look: 'c3' },
  { name: 'Failed', look: 'fail' },
  { name: 'Sub-agent', look: 'c2' },
  { name: 'Waiting', look: 'wait' },
];

/** So many rows of a table are shown; more of them help nobody. */
const MOST = 500;

const long = (one: { from: number; to: number }): number => one.to - one.from;
/** How long, never as nothing. */
const took = (one: { from: number; to: number }): string => (long(one) < 50 ? '< 0.1 s' : span(long(one)));
const sum = (some: readonly { from: number; to: number }[]): number => some.reduce((so, one) => so + long(one), 0);

export function lanesOf(session: string, timeline: Timeline, me: string): Lane[] {
  const href = (entry: string) => to.entry(session, entry);
  const turns: LaneBar[] = timeline.turns.map((one) => ({
    ...one,
    look: 'turn',
    words: `Turn ${one.number}, ${one.isRunning ? 'running' : one.isFailed ? 'failed' : 'over'}, ${span(long(one))}${one.costUsd ? `, ${money(one.costUsd)}` : ''}`,
    label: `Turn ${one.number}${one.isRunning ? ', running' : one.isFailed ? ', failed' : ''}`,
    href: href(one.entry),
  }));
  const model: LaneBar[] = timeline.model.map((one) => ({ ...one, look: 'c1', words: `Model, ${span(long(one))}` }));
  const own = timeline.tools.filter((one) => !one.isNested);
  const tools: LaneBar[] = own.map((one) => ({
    ...one,
    look: one.isFailed ? 'fail' : 'c3',
    words: `${one.tool} ${one.what}, ${one.isRunning ? 'running' : one.isFailed ? 'failed' : 'ran'}, ${took(one)}`,
    href: href(one.entry),
  }));
  const agents: LaneBar[] = timeline.agents.map((one) => ({
    ...one,
    look: one.isFailed ? 'fail' : 'c2',
    words: `Sub-agent: ${one.what || 'no name'}, ${one.isRunning ? 'running' : 'over'}, ${span(long(one))}`,
    href: href(one.entry),
  }));
  const waits: LaneBar[] = timeline.waits.map((one) => ({
    ...one,
    look: 'wait',
    words: `${one.tool} ${one.what}, ${waitWords(one, me)}`,
    label: waitWords(one, me),
    href: href(one.entry),
  }));
  return [
    { name: 'Turns', bars: turns, isInside: true },
    { name: 'Model', bars: model },
    { name: 'Tools', bars: tools },
    { name: 'Sub-agents', bars: agents, isPacked: true },
    { name: 'Waiting for people', bars: waits },
  ];
}

/** `3 m 48 s, Teammate`; the reader's own waits need no name. */
function waitWords(one: Timeline['waits'][number], me: string): string {
  // What took a moment is no nought.
  const time = long(one) < 10_000 ? took(one) : waiting(long(one));
  if (one.isOpen) return `${time}, open`;
  if (one.by === null) return `${time}, not answered`;
  return one.by === me ? time : `${time}, ${one.by}`;
}

/** `42 m, 31 tool calls`. */
export const metaOf = (timeline: Timeline): string => `${span(activeTime(timeline))}, ${counted(timeline.calls, 'tool call')}`;

/** The sentence that stands for the picture. */
export function sentenceOf(timeline: Timeline): string {
  const waits = timeline.waits.length === 0 ? 'no waiting time' : `${counted(timeline.waits.length, 'wait')} for people of ${span(sum(timeline.waits))} in all`;
  const agents = timeline.agents.length > 0 ? `, ${counted(timeline.agents.length, 'sub-agent')}` : '';
  return `Timeline of the session: ${counted(timeline.turns.length, 'turn')}, ${counted(timeline.calls, 'tool call')}${agents}, ${waits}.`;
}

/** Everything that has an entry, oldest first. */
export function tableOf(session: string, timeline: Timeline): Table {
  const rows = [
    ...timeline.turns.map((one) => ({ ...one, kind: 'Turn', what: `Turn ${one.number}`, how: one.isRunning ? 'running' : one.isFailed ? 'failed' : 'over' })),
    ...timeline.tools.map((one) => ({ ...one, kind: one.tool, how: one.isRunning ? 'running' : one.isFailed ? 'failed' : 'ran' })),
    ...timeline.agents.map((one) => ({ ...one, kind: 'Sub-agent', how: one.isRunning ? 'running' : one.isFailed ? 'failed' : 'over' })),
    ...timeline.waits.map((one) => ({ ...one, kind: 'Waiting', how: one.isOpen ? 'open' : one.by ? `answered by ${one.by}` : 'not answered' })),
  ].sort((a, b) => a.from - b.from);
  const shown = rows.slice(-MOST);
  const table: Table = {
    head: ['From', 'What', 'Exactly this', 'How long', 'How'],
    rows: shown.map((one) => [exactTime(one.from), { text: one.kind, href: to.entry(session, one.entry) }, one.what, took(one), one.how]),
  };
  return rows.length > MOST ? { ...table, note: `The newest ${MOST} of ${rows.length}.` } : table;
}
