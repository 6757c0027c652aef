// Which open questions are alike, in which order they stand, and how a selection is answered. Pure.
// Invariants: what cannot be undone is alone and in no bulk; a yes is for what was seen (its digest goes along); a no to
// some is sent one by one, since a no for a kind is a no to all of it.

import type { Approval, Decide } from '../api/types';
import { forSession } from './answer';
import type { Local } from './face';
import { factsOf } from './facts';
import { harmOf, oneLine } from './words';

/** One place of the inbox: a question, or several that are alike. */
export interface Group {
  key: string;
  asked: Approval[];
}

export type Filter = 'all' | 'tool' | 'plan' | 'questions';

export function passes(asked: Approval, filter: Filter): boolean {
  if (filter === 'all') return true;
  if (filter === 'questions') return asked.kind !== 'tool' && asked.kind !== 'plan';
  return asked.kind === filter;
}

/** What makes two questions alike: the host decides them together by the same. */
function kindOf(asked: Approval): string | null {
  if (asked.kind !== 'tool' || harmOf(asked) !== null || asked.remark != null) return null;
  return `${asked.session}/${asked.tool}`;
}

/** Longest wait first; alike ones stand together, at the place of their oldest. */
export function grouped(all: Approval[]): Group[] {
  const oldest = [...all].sort((one, two) => one.asked - two.asked || (one.id < two.id ? -1 : 1));
  const groups: Group[] = [];
  const places = new Map<string, Group>();
  for (const asked of oldest) {
    const kind = kindOf(asked);
    const found = kind === null ? undefined : places.get(kind);
    if (found !== undefined) {
      found.asked.push(asked);
      continue;
    }
    const group = { key: asked.id, asked: [asked] };
    groups.push(group);
    if (kind !== null) places.set(kind, group);
  }
  return groups;
}

/** All that are alike with this one, itself included. */
export function alikeOf(asked: Approval, all: Approval[]): Approval[] {
  const kind = kindOf(asked);
  return kind === null ? [asked] : all.filter((other) => kindOf(other) === kind);
}

/** Most letters of a call that its row shows from beginning to end once it is selected. */
const ROW = 2000;

/** Whether it can be one of several in a bulk: only plain calls without a counted harm, of which a row shows everything. */
export function mayBulk(asked: Approval): boolean {
  if (asked.kind !== 'tool' || asked.life !== 'open' || harmOf(asked) !== null) return false;
  return oneLine(asked).length <= ROW && !factsOf(asked.tool, asked.input).some((fact) => fact.isUnusual);
}

/** One request of a bulk answer. */
export interface Sending {
  id: string;
  saw: string;
  /** Digests of the others that go with it; none for a decision on one alone. */
  others: string[];
  /** Digests of those that were shown from beginning to end: a selected row is. */
  whole: string[];
  /** All that it answers. */
  ids: string[];
  body: Decide;
}

/** How a selection is answered: alike ones in one request where that is exact. */
export function bulk(selected: Approval[], what: 'once' | 'session' | { deny: string }): Sending[] {
  const able = selected.filter(mayBulk);
  if (what === 'session') {
    return able.flatMap((asked) => {
      const answer = forSession(asked, null);
      return answer === null ? [] : [alone(asked, answer.body)];
    });
  }
  if (what === 'once') return grouped(able).map(together);
  const message = what.deny.trim();
  const body: Decide = { decision: 'deny', interrupt: false, ...(message === '' ? {} : { message }) };
  return able.map((asked) => alone(asked, body));
}

function alone(asked: Approval, body: Decide): Sending {
  return { id: asked.id, saw: asked.digest, others: [], whole: [], ids: [asked.id], body };
}

function together(group: Group): Sending {
  const [first, ...rest] = group.asked as [Approval, ...Approval[]];
  return {
    id: first.id,
    saw: first.digest,
    others: rest.map((asked) => asked.digest),
    whole: group.asked.map((asked) => asked.digest),
    ids: group.asked.map((asked) => asked.id),
    body: { decision: 'allow' },
  };
}

/** What came of a bulk answer: how many were told, and what keeps the others. `done` says the first part: "Allowed 3 once". */
export function cameOf(phases: Local['phase'][], done: (count: number) => string): string {
  const count = (...which: Local['phase'][]) => phases.filter((phase) => which.includes(phase)).length;
  const [told, held, late, failed] = [count('sending', 'idle'), count('held'), count('late'), count('failed')];
  const parts = [
    told > 0 ? done(told) : '',
    held > 0 ? `${held} ${held === 1 ? 'waits' : 'wait'} for the connection` : '',
    late > 0 ? `${late} already answered by someone else` : '',
    failed > 0 ? `${failed} not: ${failed === 1 ? 'its row says' : 'their rows say'} why` : '',
  ];
  return parts.filter((part) => part !== '').join(', ');
}

/** The one that has the focus after this list changed: the same, else the next at its place. */
export function stays(before: string[], focused: string | null, now: string[]): string | null {
  if (focused === null) return null;
  if (now.includes(focused)) return focused;
  const place = before.indexOf(focused);
  if (place < 0) return now[0] ?? null;
  const after = before.slice(place + 1).find((id) => now.includes(id));
  return after ?? now[now.length - 1] ?? null;
}

/** The neighbour in a list; the ends hold. */
export function step(list: string[], from: string | null, by: 1 | -1): string | null {
  if (list.length === 0) return null;
  const place = from === null ? -1 : list.indexOf(from);
  if (place < 0) return (by === 1 ? list[0] : list[list.length - 1]) ?? null;
  return list[Math.min(list.length - 1, Math.max(0, place + by))] ?? null;
}
