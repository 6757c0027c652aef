// Answers as they are sent, and the words of the buttons that send them. Pure.
// Invariants: an answer carries one choice (a rule, a mode and folders never ride along with one another); what cannot be
// undone is never kept as a rule from here; who may only answer is offered nothing that reaches further than the question.

import type { Approval, Decide, Offer, RuleScope } from '../api/types';

/** An answer with the words that say it was given: "Allowed, telling the agent…". */
export interface Answer {
  body: Decide;
  words: string;
}

export function allowOnce(): Answer {
  return { body: { decision: 'allow' }, words: 'Allowed' };
}

export function allowChanged(input: unknown): Answer {
  return { body: { decision: 'allow', updated_input: input }, words: 'Allowed with a change' };
}

export interface Kept {
  rules: string[];
  scope: RuleScope;
  /** Microseconds of Unix time. */
  expires: number | null;
  alsoCli: boolean;
}

export function allowKept(kept: Kept): Answer {
  const words = kept.scope === 'session' ? 'Allowed for this session' : 'Allowed as a rule';
  const remember = { rules: kept.rules, scope: kept.scope, expires: kept.expires, also_cli: kept.alsoCli };
  return { body: { decision: 'allow', remember }, words };
}

/** A mode or folders, as the CLI suggests them. None for *always*, which is a rule of ours. */
export function allowOffered(offer: Offer): Answer | null {
  if (offer.kind === 'mode' && offer.mode != null) {
    return { body: { decision: 'allow', mode: offer.mode }, words: 'Allowed, with another mode' };
  }
  if (offer.kind === 'directories' && (offer.directories ?? []).length > 0) {
    return { body: { decision: 'allow', add_dirs: offer.directories ?? [] }, words: 'Allowed, with the folder' };
  }
  return null;
}

export function deny(reason: string, stops: boolean): Answer {
  const said = reason.trim();
  const body: Decide = { decision: 'deny', interrupt: stops, ...(said === '' ? {} : { message: said }) };
  return { body, words: stops ? 'Denied and stopped' : 'Denied' };
}

export function decline(reason: string): Answer {
  const said = reason.trim();
  return { body: { decision: 'decline', ...(said === '' ? {} : { message: said }) }, words: 'Not answered' };
}

/** Sets of rules that would allow the call, narrowest first. */
export function ruleOffers(asked: Pick<Approval, 'offers'>): Offer[] {
  return asked.offers.filter((offer) => offer.kind === 'always' && (offer.rules ?? []).length > 0);
}

/** Choices of the CLI that are no rule: another mode, more folders. */
export function otherOffers(asked: Pick<Approval, 'offers'>): Offer[] {
  return asked.offers.filter((offer) => allowOffered(offer) !== null);
}

/** The narrowest rule for this session; none where no rule may allow it, or where the harm is counted. */
export function forSession(asked: Pick<Approval, 'offers'>, harm: string | null): Answer | null {
  const rules = ruleOffers(asked)[0]?.rules ?? [];
  if (harm !== null || rules.length === 0) return null;
  return allowKept({ rules, scope: 'session', expires: null, alsoCli: false });
}

export interface Buttons {
  allow: string;
  session: string | null;
  rule: string | null;
  edit: string | null;
  deny: string;
}

/** What the buttons say: what will happen when they are pressed. `mayAll`: more than an answer may be given. */
export function buttons(
  asked: Pick<Approval, 'kind' | 'offers'>,
  of: { harm: string | null; online: boolean; unseen: number; mayAll: boolean },
): Buttons {
  const later = of.online ? '' : ' when back';
  const unseen = of.unseen > 0 ? `, ${of.unseen} ${of.unseen === 1 ? 'line' : 'lines'} unseen` : '';
  const mayKeep = of.mayAll && of.harm === null && ruleOffers(asked).length > 0;
  return {
    allow: of.online ? `Allow once${unseen}` : `Allow when back${unseen}`,
    session: mayKeep ? `For this session${later}` : null,
    rule: mayKeep && of.online ? 'As a rule…' : null,
    edit: of.mayAll && asked.kind === 'tool' ? 'Edit' : null,
    deny: `Deny${later}…`,
  };
}
