// The one line that is left of an answer: what was decided, by whom, when, from where, how long it took. Pure.

import type { Approval } from '../api/types';
import { fields, text } from './thing';
import { at, exactly } from './times';

type Decided = NonNullable<Approval['decided']>;

/** What was decided, in two or three words. */
export function decidedWords(decided: Decided, kind: Approval['kind']): string {
  const said = decided.decision;
  const which = text(said, 'decision');
  if (decided.by === 'rule') return decided.effect === 'allow' ? 'Allowed' : 'Denied';
  switch (which) {
    case 'plan':
      return planWords(text(said, 'choice'));
    case 'answer':
      return 'Answered';
    case 'decline':
      return kind === 'dialog' ? 'Closed' : 'Not answered';
    case 'deny':
      return fields(said)['interrupt'] === true ? 'Denied and stopped' : 'Denied';
    case 'allow':
      return allowWords(said);
  }
  return decided.effect === 'allow' ? 'Allowed' : 'Denied';
}

function allowWords(said: unknown): string {
  const remember = fields(said)['remember'];
  const scope = text(remember, 'scope');
  if (scope === 'session') return 'Allowed for this session';
  if (scope !== '') return 'Allowed as a rule';
  if (fields(said)['updated_input'] != null) return 'Allowed with a change';
  if (fields(said)['mode'] != null) return 'Allowed, with another mode';
  const folders = fields(said)['add_dirs'];
  if (Array.isArray(folders) && folders.length > 0) return 'Allowed, with the folder';
  return 'Allowed once';
}

function planWords(choice: string): string {
  const words: Record<string, string> = {
    'clear-context': 'Started fresh with the plan',
    'accept-edits': 'Continued, accepting edits',
    manual: 'Continued, approving each edit',
    'keep-planning': 'Kept planning',
  };
  return words[choice] ?? 'Decided';
}

/** A person's name, or `You`; what is no person says what it is. */
export function nameOf(by: string, me: string): string {
  if (by === me) return 'You';
  const others: Record<string, string> = { rule: 'a rule', expired: 'the clock', budget: 'the budget' };
  return others[by] ?? by;
}

/** Where it was decided, as a person calls it. */
export function placeOf(client: string): string {
  const known: Record<string, string> = { web: 'browser', http: 'API', local: 'this machine' };
  return known[client] ?? client;
}

export interface Stamp {
  words: string;
  who: string;
  /** The reason that was given, or the rule. */
  why: string;
  /** Moment, client, wait: joined by dots. */
  facts: string[];
}

/** The line of a decision: "Allowed once by You · 14:02 · phone · waited 38 s". */
export function stampOf(asked: Pick<Approval, 'asked' | 'kind' | 'decided'>, me: string, now: number): Stamp | null {
  const { decided } = asked;
  if (decided == null) return null;
  const said = text(decided.decision, 'message') || text(decided.decision, 'feedback');
  const byRule = decided.by === 'rule';
  const facts = [at(decided.at / 1000, now)];
  if (!byRule && decided.client !== '') facts.push(placeOf(decided.client));
  if (!byRule) facts.push(`waited ${exactly((decided.at - asked.asked) / 1000)}`);
  return {
    words: decidedWords(decided, asked.kind),
    who: byRule && text(decided.decision, 'kind') !== 'rule' ? 'the mode' : nameOf(decided.by, me),
    why: byRule ? decided.why : said,
    facts,
  };
}

/** Two letters for a person. */
export function initials(name: string): string {
  if (name === 'You') return 'ME';
  const words = name.split(/[\s._-]+/).filter((word) => word !== '');
  const letters = words.length > 1 ? `${words[0]?.charAt(0)}${words[1]?.charAt(0)}` : name.slice(0, 2);
  return letters.toUpperCase();
}
