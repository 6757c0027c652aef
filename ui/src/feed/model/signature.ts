// Who let a call run, in one mark at the end of its line and one sentence: a person, a rule, a mode, or nobody.
// Keeps: what the journal says wins over what the CLI says; what neither says is not guessed.

import type { AskAnswer as Answer, EntryApproval as Approval, Tool } from '../../api/types';
import { initials, placeOf } from '../../approval/stamp';
import { exactly } from '../../approval/times';
import { clockTime } from '../../kit/ages';

type Role = Tool['role'];

export type Mark =
  | { by: 'person'; initials: string; title: string }
  | { by: 'rule'; title: string }
  | { by: 'mode'; title: string };

/** The mark of a call; none while nobody has decided. */
export function markOf(tool: Tool, me: string): Mark | null {
  const answer = tool.approval?.answer;
  if (answer) return ofAnswer(answer, me, tool.role);
  // It was asked, and nobody answered.
  if (tool.approval) return null;
  if (tool.denial) return { by: 'rule', title: `Denied by the CLI: ${tool.denial.reason ?? tool.denial.message}` };
  const signed = tool.signed;
  if (!signed) return null;
  if (signed.reason === 'rule') return { by: 'rule', title: 'By a rule of the CLI' };
  if (signed.reason === 'mode') return { by: 'mode', title: 'By the mode' };
  return { by: 'mode', title: signed.source ? `By ${signed.source.replaceAll('_', ' ')}` : 'Not asked' };
}

function ofAnswer(answer: Answer, me: string, role: Role): Mark {
  const by = answer.by ?? '';
  const why = answer.why ?? '';
  if (by === 'rule') return { by: 'rule', title: why || 'By a rule' };
  if (by === 'mode') return { by: 'mode', title: why || 'By the mode' };
  if (by === 'expired' || by === 'budget' || by === '') return { by: 'mode', title: why || by };
  return { by: 'person', initials: initials(by === me ? 'You' : by), title: stampOf(answer, me, role) };
}

/** `Allowed by You · 14:02 · waited 38 s`; of a plan that was sent back, `You asked for changes · …`. */
export function stampOf(answer: Answer, me: string, role: Role): string {
  const parts = [saidOf(answer, me, role), clockTime(answer.at / 1000)];
  if (answer.client && answer.client !== 'host' && answer.client !== 'http') parts.push(placeOf(answer.client));
  const seconds = Math.round(answer.waited / 1e6);
  if (answer.by !== 'rule' && answer.by !== 'mode' && seconds > 0) parts.push(`waited ${exactly(answer.waited / 1000)}`);
  return parts.join(' · ');
}

function saidOf(answer: Answer, me: string, role: Role): string {
  const became = planBecame(answer, role);
  if (became === 'back') return `${answer.by === me ? 'You' : answer.by} asked for changes`;
  if (became === 'fresh') return `Started fresh with the plan ${byWhom(answer, me)}`;
  if (became === 'approved') return `Approved ${byWhom(answer, me)}`;
  if (role === 'question' && isPerson(answer)) return `${answer.verdict === 'deny' ? 'Declined' : 'Answered'} ${byWhom(answer, me)}`;
  const did = answer.verdict === 'allow' ? 'Allowed' : answer.verdict === 'deny' ? 'Denied' : 'Answered';
  return `${did} ${byWhom(answer, me)}`;
}

/** Whether somebody has answered, and no rule, clock or budget. */
function isPerson(answer: Answer): boolean {
  return !['rule', 'mode', 'expired', 'budget', ''].includes(answer.by ?? '');
}

/** What a person made of a plan. The wire knows but yes and no: what is carried out by another conversation or by a later message is
    a no on it, with the host's own words. None for what is no plan, or was decided by nobody. */
export function planBecame(answer: Answer | null | undefined, role: Role): 'approved' | 'fresh' | 'back' | null {
  if (!answer || role !== 'plan' || !isPerson(answer)) return null;
  if (answer.verdict === 'allow') return 'approved';
  const told = answer.message?.text ?? '';
  if (!answer.interrupts) return 'back';
  if (told === FRESH) return 'fresh';
  return told.startsWith(APPROVED) ? 'approved' : 'back';
}

const FRESH = 'The plan is carried out in a fresh conversation.';
const APPROVED = 'The plan is approved.';

function byWhom(answer: Answer, me: string): string {
  if (answer.by === 'rule') return 'by a rule';
  if (answer.by === 'mode') return 'by the mode';
  if (answer.by === 'expired') return 'because nobody answered';
  if (answer.by === 'budget') return 'by the budget';
  if (!answer.by) return 'by somebody';
  return `by ${answer.by === me ? 'You' : answer.by}`;
}

/** What became of a question that nobody answered. */
export function withdrawnWords(approval: Approval): string | null {
  if (approval.standing.state !== 'withdrawn') return null;
  switch (approval.standing.how) {
    case 'interrupted': return 'The turn was interrupted before anyone answered. Nothing ran.';
    case 'agent_gone': return 'The agent ended before anyone answered. Nothing ran.';
    case 'cancelled': return 'The agent withdrew the question. Nothing ran.';
  }
}

/** Why a person denied, where they said so; nothing where it is no denial but on the wire. */
export function denialWords(tool: Tool): string {
  const answer = tool.approval?.answer;
  const became = planBecame(answer, tool.role);
  if (became === 'approved' || became === 'fresh') return '';
  if (answer && answer.verdict !== 'allow') return answer.message?.text || answer.why || '';
  return tool.denial?.message ?? '';
}
