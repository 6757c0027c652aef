// Figures of the panels: who let calls run, what each model cost, how much came from the cache. Pure.
import type { Totals, Tokens } from '../api/types';
import { modelName } from '../feed/model/words';

export interface Share { label: string; value: number; colour: string }

/** Who decides without being a person. */
const NOBODY = ['rule', 'mode', 'expired', 'budget'];

/** By rule or mode, by people, by nobody, not yet, without a question; of these denied. Whoever is none of ours is a person. */
export function deciders(totals: Totals, me: string, calls: number): Share[] {
  const by = totals.approvals.by ?? {};
  const rule = (by['rule'] ?? 0) + (by['mode'] ?? 0);
  const unanswered = (by['expired'] ?? 0) + (by['budget'] ?? 0);
  const { open, cancelled, interrupted, agent_gone: gone } = totals.approvals;
  const back = cancelled + interrupted + gone;
  const people = Object.entries(by).filter(([name]) => !NOBODY.includes(name));
  const called = (name: string) => (name === me ? 'You' : name);
  // The sum stands beside it: one alone needs no count of its own.
  const [only] = people;
  const words = people.length === 1 && only ? called(only[0]) : people.map(([name, count]) => `${called(name)} ${count}`).join(', ');
  const byPeople = people.reduce((sum, [, count]) => sum + count, 0);
  const shares = [
    { label: 'By rule or mode', value: rule, colour: 'rule' },
    { label: words || 'By people', value: byPeople, colour: 'allow' },
    { label: 'Waiting for an answer', value: open, colour: 'needs-mark' },
    { label: 'Nobody answered', value: unanswered, colour: 'stall-mark' },
    { label: 'Taken back', value: back, colour: 'done-mark' },
    // Reading and lists of tasks are never asked for.
    { label: 'Needed no answer', value: Math.max(0, calls - rule - byPeople - open - unanswered - back), colour: 'idle-mark' },
    { label: 'Denied', value: totals.approvals.denied, colour: 'deny' },
  ];
  return shares.filter((share) => share.value > 0);
}

/** What models cost, dearest first. */
export function models(totals: Totals): Share[] {
  const all = Object.entries(totals.models).map(([name, { cost_usd }]) => ({ label: modelName(name), value: cost_usd }));
  return all.sort((a, b) => b.value - a.value).map((one, at) => ({ ...one, colour: `chart-${Math.min(4, at + 1)}` }));
}

/** How much of what was read came from the cache, 0 to 1; none where nothing was read. */
export function cacheShare(tokens: Tokens): number | null {
  const read = tokens.input + tokens.cache_read + tokens.cache_write;
  return read > 0 ? tokens.cache_read / read : null;
}
