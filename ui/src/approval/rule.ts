// The rule that *always* would make: which, where, until when, and what it would have matched before. Pure.
// What a rule means is the host's business: here only what the host itself said about past calls is counted.

import type { Approval, DecisionView, RuleScope } from '../api/types';
import { ruleOffers, type Kept } from './answer';

export interface RuleChoice {
  rules: string[];
  note: string | null;
}

export interface RuleForm {
  choices: RuleChoice[];
  chosen: number;
  scope: RuleScope;
  ends: Ends;
  alsoCli: boolean;
}

export type Ends = 'never' | 'hour' | 'day' | 'month';

export const ENDS: { value: Ends; label: string }[] = [
  { value: 'hour', label: '1 hour' },
  { value: 'day', label: '24 hours' },
  { value: 'month', label: '30 days' },
  { value: 'never', label: 'Never expires' },
];

export const SCOPES: { value: RuleScope; label: string; help: string }[] = [
  { value: 'session', label: 'This session', help: 'Ends with the session.' },
  { value: 'repository', label: 'This repository', help: 'For every session in this folder.' },
  { value: 'always', label: 'Everywhere', help: 'For every session on this machine.' },
];

export function ruleForm(asked: Pick<Approval, 'offers'>): RuleForm {
  const choices = ruleOffers(asked).map((offer) => ({ rules: offer.rules ?? [], note: offer.note ?? null }));
  return { choices, chosen: 0, scope: 'repository', ends: 'month', alsoCli: false };
}

const SPANS: Record<Ends, number | null> = {
  never: null,
  hour: 3_600e6,
  day: 86_400e6,
  month: 30 * 86_400e6,
};

/** Microseconds of Unix time at which a rule ends that begins now. */
export function endOf(ends: Ends, nowMillis: number): number | null {
  const after = SPANS[ends];
  return after === null ? null : Math.round(nowMillis * 1000 + after);
}

/** What is sent. A rule of a session ends with it, so it needs no other end. */
export function keptOf(form: RuleForm, nowMillis: number): Kept | null {
  const choice = form.choices[form.chosen];
  if (choice === undefined) return null;
  const expires = form.scope === 'session' ? null : endOf(form.ends, nowMillis);
  return { rules: choice.rules, scope: form.scope, expires, alsoCli: form.alsoCli && form.scope !== 'session' };
}

export interface Before {
  /** Calls of the same tool that a person was asked about. */
  asked: number;
  allowed: number;
  denied: number;
  /** How long agents waited for them, in milliseconds. */
  waited: number;
}

/** What people decided before about calls of this tool: what such a rule would take off their hands, at the most. */
export function before(decisions: DecisionView[], tool: string): Before {
  const sum: Before = { asked: 0, allowed: 0, denied: 0, waited: 0 };
  for (const each of decisions) {
    if (each.tool !== tool || each.kind !== 'tool' || each.decided.by === 'rule') continue;
    sum.asked += 1;
    sum.waited += Math.max(0, (each.decided.at - each.asked) / 1000);
    if (each.decided.effect === 'allow') sum.allowed += 1;
    else sum.denied += 1;
  }
  return sum;
}

/** `Would have matched 9 of your last 10 Bash calls`. */
export function matchWords(matches: number, of: number, tool: string): string {
  const last = of === 1 ? `your last ${tool} call` : `${matches === 0 ? 'any of ' : ''}your last ${of} ${tool} calls`;
  if (matches === 0) return `Would not have matched ${last}`;
  return `Would have matched ${of === 1 ? '' : matches === of ? 'all of ' : `${matches} of `}${last}`;
}
