// Sentences of the frame. Pure.
import { counted } from '../kit/ages';

/** `(3) Fix the test · Countersign` */
export function titleOf(open: number, name?: string): string {
  const title = name ? `${name} · Countersign` : 'Countersign';
  return open > 0 ? `(${open}) ${title}` : title;
}

/** `Reconnected. 1 new question.` */
export function backWords(questions: number): string {
  return questions > 0 ? `Reconnected. ${counted(questions, 'new question')}.` : 'Reconnected.';
}

export interface Meanwhile {
  ended: number;
  byRule: number;
  opened: number;
}

/** `2 sessions ended, 14 calls by rule, 3 questions opened.`; nothing where nothing happened. */
export function meanwhile(what: Meanwhile): string {
  const parts = [
    what.ended > 0 ? `${counted(what.ended, 'session')} ended` : '',
    what.byRule > 0 ? `${counted(what.byRule, 'call')} by rule` : '',
    what.opened > 0 ? `${counted(what.opened, 'question')} opened` : '',
  ].filter(Boolean);
  return parts.length > 0 ? `${parts.join(', ')}.` : '';
}
