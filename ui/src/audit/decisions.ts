// Filters of the record, as an address and as what the host is asked for; and what a row of it says. Pure.
// Rule: a filter that is read from an address holds only words that it knows.

import type { Approval, DecisionView } from '../api/types';
import { decidedWords } from '../approval/stamp';
import { sentInput, shown, thingOf } from '../approval/thing';

export const WHO = ['all', 'people', 'rule', 'mode', 'denied', 'expired'] as const;
export type Who = (typeof WHO)[number];
export const SINCE = ['hour', 'day', 'week', 'month', 'ever'] as const;
export type Since = (typeof SINCE)[number];
export const OUTCOMES = ['', 'ran', 'failed', 'refused', 'unused', 'unknown', 'withdrawn'] as const;
export type OutcomeName = (typeof OUTCOMES)[number];

export interface Filter {
  who: Who;
  /** By this one: the name of a token. */
  by: string;
  /** By this rule, as a decision names it: `allow Bash(make:*)`. */
  rule: string;
  session: string;
  tool: string;
  outcome: OutcomeName;
  since: Since;
  text: string;
}

export const NO_FILTER: Filter = { who: 'all', by: '', rule: '', session: '', tool: '', outcome: '', since: 'week', text: '' };

const SPANS: Record<Since, number | null> = {
  hour: 3_600e6,
  day: 86_400e6,
  week: 7 * 86_400e6,
  month: 30 * 86_400e6,
  ever: null,
};

/** The filter that an address means. */
export function filterOf(search: string): Filter {
  const said = new URLSearchParams(search);
  const word = <T extends string>(name: string, known: readonly T[], usual: T): T => known.find((one) => one === said.get(name)) ?? usual;
  const text = (name: string) => said.get(name)?.trim() ?? '';
  return {
    who: word('who', WHO, NO_FILTER.who),
    by: text('by'),
    rule: text('rule'),
    session: text('session'),
    tool: text('tool'),
    outcome: word('outcome', OUTCOMES, ''),
    since: word('since', SINCE, NO_FILTER.since),
    text: text('text'),
  };
}

/** The same as an address: `?tool=Bash`; nothing for what is usual. */
export function searchOf(filter: Filter): string {
  const said = new URLSearchParams();
  for (const name of Object.keys(NO_FILTER) as (keyof Filter)[]) {
    const value = filter[name].trim();
    if (value !== NO_FILTER[name]) said.set(name, value);
  }
  const text = said.toString();
  return text === '' ? '' : `?${text}`;
}

export interface Query {
  by?: string;
  people?: boolean;
  rule?: string;
  effect?: 'allow' | 'deny';
  outcome?: string;
  session?: string;
  tool?: string;
  since?: number;
  text?: string;
}

/** What the host is asked for. Who is named goes before what kind of one it is. */
export function queryOf(filter: Filter, nowMillis: number): Query {
  const span = SPANS[filter.since];
  const given = (['session', 'tool', 'outcome', 'text', 'rule'] as const).filter((name) => filter[name].trim() !== '');
  const isKind = filter.who === 'rule' || filter.who === 'mode' || filter.who === 'expired';
  const by = filter.by.trim() || (isKind ? filter.who : '');
  return {
    ...(by === '' ? {} : { by }),
    ...(filter.who === 'people' ? { people: true } : {}),
    ...(filter.who === 'denied' ? { effect: 'deny' as const } : {}),
    ...Object.fromEntries(given.map((name) => [name, filter[name].trim()])),
    // A whole minute, so that the same question has the same address.
    ...(span === null ? {} : { since: Math.floor((nowMillis * 1000 - span) / 60e6) * 60e6 }),
  };
}

/** The address of the export with the same filter. */
export function exportHref(query: Query, format: 'ndjson' | 'csv'): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) params.set(name, String(value));
  params.set('format', format);
  return `/api/v1/decisions/export?${params}`;
}

/** The decision on one approval; none while it is not decided. */
export function decisionOf(one: Approval): DecisionView | null {
  if (!one.decided) return null;
  return { ...one, tool_use_id: one.tool_use_id ?? null, decided: one.decided, sent: null } as DecisionView;
}

/** The file that a call is about, in two parts: the name, which is always seen, and what stands before it. */
export function pathIn(one: DecisionView, cwd: string): { head: string; name: string; whole: string } | null {
  if (one.kind !== 'tool') return null;
  const thing = thingOf(one.tool, sentInput(one));
  if (thing.kind !== 'diff' && thing.kind !== 'file' && thing.kind !== 'path') return null;
  const path = shown(thing.path, cwd);
  const end = path.lastIndexOf('/');
  return { head: path.slice(0, end + 1), name: path.slice(end + 1), whole: thing.path };
}

export function effectWords(one: DecisionView): string {
  if (one.decided.by === 'rule') return one.decided.effect === 'allow' ? 'Allowed' : 'Denied';
  return decidedWords(one.decided, one.kind);
}

/** What came of it, in a word. */
export function outcomeWords(one: DecisionView): string {
  switch (one.life) {
    case 'settled':
      return { ran: 'ran', failed: 'failed', refused: 'did not run', unused: 'not needed', unknown: 'unknown' }[one.outcome];
    case 'withdrawn':
      return 'withdrawn';
    case 'written':
      return 'delivered';
    default:
      return 'on its way';
  }
}

/** How long the agent waited, in milliseconds; none for rules, which answer at once. */
export function waitedOf(one: DecisionView): number | null {
  return one.decided.by === 'rule' ? null : Math.max(0, (one.decided.at - one.asked) / 1000);
}
