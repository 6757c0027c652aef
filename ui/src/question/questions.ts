// The agent's own questions as a form: one or several of a list, own words, previews, its recommendation. Pure.
// Invariants: an answer is the option's label as it was written; a recommendation is chosen in advance and never sent by itself.

import { fields, text } from '../approval/thing';
import type { Decide } from '../api/types';

export interface Option {
  /** As it was written: this is what is sent. */
  label: string;
  /** Without the mark of a recommendation. */
  shown: string;
  description: string;
  preview: string | null;
  recommended: boolean;
  /** The key that chooses it; none after nine. */
  key: number | null;
}

export interface Question {
  text: string;
  header: string;
  several: boolean;
  options: Option[];
  /** The key of one's own words. */
  ownKey: number | null;
}

const RECOMMENDED = /\s*\(recommended\)\s*$/i;

export function questionsOf(input: unknown): Question[] {
  const list = fields(input)['questions'];
  if (!Array.isArray(list)) return [];
  let next = 1;
  const key = () => (next <= 9 ? next++ : null);
  return list.map((each) => {
    const options = fields(each)['options'];
    const read = (Array.isArray(options) ? options : []).map((option): Option => {
      const label = text(option, 'label');
      return {
        label,
        shown: label.replace(RECOMMENDED, ''),
        description: text(option, 'description'),
        preview: text(option, 'preview') || null,
        recommended: RECOMMENDED.test(label),
        key: key(),
      };
    });
    return {
      text: text(each, 'question'),
      header: text(each, 'header'),
      several: fields(each)['multiSelect'] === true,
      options: read,
      ownKey: key(),
    };
  });
}

/** What is chosen of one question: places of options, and one's own words. */
export interface Chosen {
  options: number[];
  own: string;
  /** The own words count. */
  isOwn: boolean;
}

export function atFirst(questions: Question[]): Chosen[] {
  return questions.map((question) => {
    const picks = question.options.flatMap((option, place) => (option.recommended ? [place] : []));
    return { options: question.several ? picks : picks.slice(0, 1), own: '', isOwn: false };
  });
}

/** An option is chosen, or chosen no longer. */
export function toggled(question: Question, chosen: Chosen, place: number): Chosen {
  const has = chosen.options.includes(place);
  if (!question.several) return { ...chosen, options: [place], isOwn: false };
  const options = has ? chosen.options.filter((one) => one !== place) : [...chosen.options, place].sort((a, b) => a - b);
  return { ...chosen, options };
}

/** Own words: of one answer they take its place, of several they join. */
export function inOwnWords(question: Question, chosen: Chosen, own: string): Chosen {
  const isOwn = own.trim() !== '';
  if (question.several || !isOwn) return { ...chosen, own, isOwn };
  return { options: [], own, isOwn };
}

export type Hit = { question: number; option: number } | { question: number; own: true };

/** What a number key means. */
export function byKey(questions: Question[], key: number): Hit | null {
  for (const [place, question] of questions.entries()) {
    const option = question.options.findIndex((each) => each.key === key);
    if (option >= 0) return { question: place, option };
    if (question.ownKey === key) return { question: place, own: true };
  }
  return null;
}

/** How many are answered. */
export function answered(chosen: Chosen[]): number {
  return chosen.filter((each) => each.options.length > 0 || (each.isOwn && each.own.trim() !== '')).length;
}

/** What is sent: by the text of each question that has an answer. */
export function answersOf(questions: Question[], chosen: Chosen[]): Decide | null {
  const answers: Record<string, string | string[]> = {};
  for (const [place, question] of questions.entries()) {
    const given = chosen[place];
    if (given === undefined) continue;
    const labels = given.options.flatMap((option) => question.options[option]?.label ?? []);
    const own = given.isOwn ? given.own.trim() : '';
    if (question.several) {
      const all = own === '' ? labels : [...labels, own];
      if (all.length > 0) answers[question.text] = all;
    } else {
      const one = own === '' ? labels[0] : own;
      if (one !== undefined) answers[question.text] = one;
    }
  }
  return Object.keys(answers).length === 0 ? null : { decision: 'answer', answers };
}

/** The button: how many of the questions go unanswered is said before it is pressed. */
export function sendWords(questions: Question[], chosen: Chosen[]): string {
  const done = answered(chosen);
  if (questions.length === 1) return 'Send answer';
  return done === questions.length || done === 0 ? 'Send answers' : `Send ${done} of ${questions.length} answers`;
}
