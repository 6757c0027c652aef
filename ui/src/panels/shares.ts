// Figures of the panels: who let calls run, what each model cost, how much came from the cache. Pure.
import type { Totals, Tokens } from '../api/types';
import { modelName } from '../feed/model/words';

export interface Share { label: string; value: number; colour: string }

/** By rule or mode, by people, without a question; of these denied. Whoever is no rule is a person. */
export function deciders(totals: Totals, me: string, calls: number): Share[] {
  const by = totals.approvals.by ?? {};
  const rule = by['rule'] ?? 0;
  const people = Object.entries(by).filter(([name]) => name !== 'rule' && name !== 'expired' && name !== 'budget');
  const words = people.map(([name, count]) => `${name === me ? 'You' : name} ${count}`).join(', ');
  const byPeople = people.reduce((sum, [, count]) => sum + count, 0);
  const shares = [
    { label: 'By rule or mode', value: rule, colour: 'rule' },
    { label: words || 'By people', value: byPeople, colour: 'allow' },
    // Reading and lists of tasks are never asked for.
    { label: 'Needed no answer', value: Math.max(0, calls - rule - byPeople), colour: 'idle-mark' },
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
