// Who let a call run, in one mark at the end of its line and one sentence: a person, a rule, a mode, or nobody.
// Keeps: what the journal says wins over what the CLI says; what neither says is not guessed.

import type { AskAnswer as Answer, EntryApproval as Approval, Tool } from '../../api/types';
import { clockTime, waiting } from '../../kit/ages';
import { initials, placeOf } from '../../approval/stamp';

export type Mark =
  | { by: 'person'; initials: string; title: string }
  | { by: 'rule'; title: string }
  | { by: 'mode'; title: string };

/** The mark of a call; none while nobody has decided. */
export function markOf(tool: Tool, me: string): Mark | null {
  const answer = tool.approval?.answer;
  if (answer) return ofAnswer(answer, me);
  // It was asked, and nobody answered.
  if (tool.approval) return null;
  if (tool.denial) return { by: 'rule', title: `Denied by the CLI: ${tool.denial.reason ?? tool.denial.message}` };
  const signed = tool.signed;
  if (!signed) return null;
  if (signed.reason === 'rule') return { by: 'rule', title: 'By a rule of the CLI' };
  if (signed.reason === 'mode') return { by: 'mode', title: 'By the mode' };
  return { by: 'mode', title: signed.source ? `By ${signed.source.replaceAll('_', ' ')}` : 'Not asked' };
}

function ofAnswer(answer: Answer, me: string): Mark {
  const by = answer.by ?? '';
  const why = answer.why ?? '';
  if (by === 'rule') return { by: 'rule', title: why || 'By a rule' };
  if (by === 'mode') return { by: 'mode', title: why || 'By the mode' };
  if (by === 'expired' || by === 'budget' || by === '') return { by: 'mode', title: why || by };
  return { by: 'person', initials: initials(by === me ? 'You' : by), title: stampOf(answer, me) };
}

/** `Allowed by You · 14:02 · waited 38 s`. */
export function stampOf(answer: Answer, me: string): string {
  const did = answer.verdict === 'allow' ? 'Allowed' : answer.verdict === 'deny' ? 'Denied' : 'Answered';
  const parts = [`${did} ${byWhom(answer, me)}`, clockTime(answer.at / 1000)];
  if (answer.client && answer.client !== 'host' && answer.client !== 'http') parts.push(placeOf(answer.client));
  const seconds = Math.round(answer.waited / 1e6);
  if (answer.by !== 'rule' && answer.by !== 'mode' && seconds > 0) parts.push(`waited ${waiting(answer.waited / 1000)}`);
  return parts.join(' · ');
}

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

/** Why a person denied, where they said so. */
export function denialWords(tool: Tool): string {
  const answer = tool.approval?.answer;
  if (answer && answer.verdict !== 'allow') return answer.message?.text || answer.why || '';
  return tool.denial?.message ?? '';
}
