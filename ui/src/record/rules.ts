// Rules as the table shows them: where they hold, how long, how often they answered, and what they covered. Pure.
// Uses and examples are counted from the record of decisions, never judged here.

import type { DecisionView, Rule, RuleScope } from '../api/types';
import { fields, text } from '../approval/thing';
import { until } from '../approval/times';
import { oneLine, planTitle } from '../approval/words';

export interface Use {
  count: number;
  /** Microseconds of Unix time. */
  last: number;
  /** Calls that it answered, newest first, each once. */
  covers: string[];
}

const MOST_EXAMPLES = 4;

/** What a decision by rule calls the rule: `allow Bash(echo:*)`. */
export function ruleName(rule: Pick<Rule, 'effect' | 'rule'>): string {
  return `${rule.effect} ${rule.rule}`;
}

/** How often a rule answered. Decisions name it by its number; those of an older build by its words alone, which count
 *  only where no other rule says the same: in another repository it may be another one's. */
export function useOf(rule: Pick<Rule, 'id' | 'effect' | 'rule'>, rules: Pick<Rule, 'effect' | 'rule'>[], uses: Map<string, Use>): Use | undefined {
  const [own, named] = [uses.get(`#${rule.id}`), uses.get(ruleName(rule))];
  const isOnly = rules.filter((one) => ruleName(one) === ruleName(rule)).length <= 1;
  if (!own || !named || !isOnly) return own ?? (isOnly ? named : undefined);
  const covers = [...new Set([...own.covers, ...named.covers])].slice(0, MOST_EXAMPLES);
  return { count: own.count + named.count, last: Math.max(own.last, named.last), covers };
}

/** How often rules answered, by their number or name, from decisions with the newest first. */
export function usesOf(decisions: DecisionView[]): Map<string, Use> {
  const uses = new Map<string, Use>();
  for (const one of decisions) {
    const said = one.decided.by === 'rule' ? text(one.decided.decision, 'rule') : '';
    if (said === '') continue;
    const number = fields(one.decided.decision)['number'];
    const name = typeof number === 'number' ? `#${number}` : said;
    const use = uses.get(name) ?? { count: 0, last: one.decided.at, covers: [] };
    use.count += 1;
    use.last = Math.max(use.last, one.decided.at);
    const line = shownCall(one);
    if (use.covers.length < MOST_EXAMPLES && !use.covers.includes(line)) use.covers.push(line);
    uses.set(name, use);
  }
  return uses;
}

/** Calls of the rule's tool that a person was asked about all the same. */
export function missedBy(rule: Pick<Rule, 'rule'>, decisions: DecisionView[]): string[] {
  const tool = toolOf(rule.rule);
  const lines = new Set<string>();
  for (const one of decisions) {
    if (one.decided.by === 'rule' || one.kind !== 'tool' || one.tool !== tool) continue;
    lines.add(shownCall(one));
  }
  return [...lines].slice(0, MOST_EXAMPLES);
}

export function toolOf(rule: string): string {
  return rule.split('(')[0] ?? rule;
}

export function shownCall(one: DecisionView): string {
  if (one.kind === 'plan') return text(one.input, 'plan') === '' ? '' : planTitle(text(one.input, 'plan'));
  return oneLine({ ...one, reason: '', remark: null, offers: [], needs_restart: false, request_id: '' } as never);
}

/** Where a rule holds, in a word. */
export function whereOf(rule: Rule, sessionName: (id: string) => string | undefined): string {
  switch (rule.scope) {
    case 'always':
      return 'Everywhere';
    case 'repository':
      return (rule.repository ?? '').split('/').filter(Boolean).at(-1) ?? 'A repository';
    case 'session':
      return sessionName(rule.session ?? '') ?? 'A session';
  }
}

/** What is missing of where a new rule is to hold. */
export function placeMissing(scope: RuleScope, session: string, folder: string): string | null {
  if (scope === 'session' && session === '') return 'Choose the session that it holds in.';
  if (scope === 'repository' && folder.trim() === '') return 'Name the folder that it holds in.';
  return null;
}

/** Whether what the server said is about the folder, which it then names first. */
export const isAboutFolder = (problem: string, folder: string): boolean => problem.startsWith(`${folder.trim()} is no folder`);

export function endsOf(rule: Rule, nowMillis: number): string {
  if (rule.scope === 'session' && rule.expires == null) return 'with the session';
  return rule.expires == null ? 'never' : until(rule.expires / 1000, nowMillis);
}

/** Denials first, then what is asked, then what is allowed: in the order that policy weighs them; over ones last. */
export function inOrder(rules: Rule[]): Rule[] {
  const weight = { deny: 0, ask: 1, allow: 2 };
  return [...rules].sort(
    (one, two) =>
      Number(one.is_over) - Number(two.is_over) || weight[one.effect] - weight[two.effect] || two.at - one.at,
  );
}
