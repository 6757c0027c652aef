// The ways on from a plan in plain words, and the decision that one of them makes. Pure.
// Invariants: what is granted is a rule that was shown, never a wish's prose; the button repeats the choice and counts what goes along;
// who may only answer is offered the ways that settle the plan as it was asked.

import type { Approval, Comment, Decide, ModeName, PlanWay } from '../api/types';
import { blockOf, type Picture } from '../composer/images';

type PlanCard = NonNullable<Approval['plan']>;

export interface WayWords {
  way: PlanWay;
  label: string;
  help: string;
  mayCompact: boolean;
}

/** The ways that the host offers, in its order. `mayAll`: more than an answer may be given. */
export function ways(card: PlanCard, mayAll: boolean): WayWords[] {
  const hasText = card.text != null;
  const open = card.ways.filter((offer) => mayAll || offer.way === 'manual' || offer.way === 'keep-planning');
  return open.map((offer) => ({
    way: offer.way,
    label: LABELS[offer.way](hasText),
    help: helpOf(offer.way, card),
    mayCompact: offer.may_compact && mayAll,
  }));
}

const LABELS: Record<PlanWay, (hasText: boolean) => string> = {
  'clear-context': () => 'Start fresh with this plan',
  'accept-edits': () => 'Continue and accept edits',
  manual: (hasText) => (hasText ? 'Continue and approve each edit' : 'Leave plan mode and approve each edit'),
  'keep-planning': () => 'Keep planning',
};

function helpOf(way: PlanWay, card: PlanCard): string {
  switch (way) {
    case 'clear-context': {
      const full = card.context_percent;
      const used = full == null ? '' : ` Planning used ${Math.round(full)} % of this one’s context.`;
      return `A new conversation that knows only the plan.${used}`;
    }
    case 'accept-edits':
      return 'Files in this folder change without asking. Commands still ask.';
    case 'manual':
      return 'You see every change before it is written.';
    case 'keep-planning':
      return 'Sends what you say back. Nothing runs.';
  }
}

/** The modes that a fresh conversation can carry a plan out in. */
export type FreshMode = Extract<ModeName, 'edits' | 'ask' | 'rules-only'>;
export const FRESH_MODES: FreshMode[] = ['edits', 'ask', 'rules-only'];

export interface Choice {
  way: PlanWay;
  /** For a fresh conversation. */
  mode: FreshMode;
  /** Rules that hold in this session, and in the fresh one, once the plan is approved. */
  rules: string[];
  compact: boolean;
  comments: Comment[];
  feedback: string;
  /** The plan as it was changed here; none if it was not. */
  edited: string | null;
  /** What goes along with what is said. */
  pictures: Picture[];
}

/** Whether something is said about the plan. */
function says(choice: Choice): boolean {
  return choice.comments.length > 0 || choice.feedback.trim() !== '' || choice.edited !== null || choice.pictures.length > 0;
}

/** Whether a way approves the plan, so that it can grant what the plan wishes for. */
export function grants(choice: Pick<Choice, 'way'>): boolean {
  return choice.way !== 'keep-planning';
}

/** Why a text can be no rule, as far as that shows here; none if it may be one. The host has the last word. */
export function ruleProblem(text: string): string | null {
  if (/^[A-Za-z_][\w-]*(\(.+\))?$/s.test(text.trim())) return null;
  return 'Start with a tool name, for example Bash(npm test).';
}

/** Why it cannot be sent as it stands; none if it can. */
export function missing(choice: Choice, hasText: boolean): string | null {
  if (choice.edited !== null && choice.edited.trim() === '') return 'The changed plan is empty.';
  if (choice.way !== 'keep-planning' || !hasText) return null;
  return says(choice) ? null : 'Say what shall be different: comment on a line, write below, or edit the plan.';
}

/** What is sent. */
export function decisionOf(choice: Choice, hasText: boolean): Decide {
  const feedback = choice.feedback.trim();
  // Without a plan there is nothing to say something about: a plain no tells the agent to write one.
  if (choice.way === 'keep-planning' && !hasText && !says(choice)) return { decision: 'deny', interrupt: false };
  return {
    decision: 'plan',
    choice: choice.way,
    compact: choice.compact && choice.way !== 'clear-context',
    ...(grants(choice) && choice.rules.length > 0 ? { rules: choice.rules } : {}),
    comments: choice.comments,
    ...(feedback === '' ? {} : { feedback }),
    ...(choice.edited === null ? {} : { plan: choice.edited }),
    ...(choice.way === 'clear-context' ? { mode: { mode: choice.mode } } : {}),
    ...(choice.pictures.length === 0 ? {} : { images: choice.pictures.map(blockOf) }),
  };
}

/** The button: what will happen, and how many comments go along. */
export function submitWords(choice: Choice, hasText: boolean): string {
  const label = LABELS[choice.way](hasText);
  const first = choice.compact && choice.way !== 'clear-context' ? `Compact, then ${lower(label)}` : label;
  const parts = [first];
  const count = choice.comments.length + (choice.feedback.trim() === '' ? 0 : 1);
  const sent = [counted(count, 'comment'), counted(choice.pictures.length, 'picture')].filter((one) => one !== '');
  if (sent.length > 0) parts.push(`send ${sent.join(' and ')}`);
  if (choice.edited !== null) parts.push('with your edits');
  if (grants(choice) && choice.rules.length > 0) parts.push(`allow ${counted(choice.rules.length, 'rule')}`);
  return parts.join(', ');
}

function counted(count: number, what: string): string {
  if (count === 0) return '';
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

function lower(label: string): string {
  return label.charAt(0).toLowerCase() + label.slice(1);
}
