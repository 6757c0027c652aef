// How a card looks: from what the host says and what was just done here. Pure; time and names come in.
// Invariants: an answer counts as delivered only when the host says so; what somebody else decided is never shown as ours.

import type { Approval } from '../api/types';
import { at, span } from './times';
import { decidedWords, nameOf, placeOf } from './stamp';

/** What was done here and is not yet in what the host says. */
export type Local =
  | { phase: 'idle' }
  | { phase: 'sending'; words: string; since: number }
  | { phase: 'held'; words: string; since: number }
  | { phase: 'failed'; problem: string; hint: string }
  | { phase: 'late' };

export interface Around {
  /** The name that our own decisions are recorded under. */
  me: string;
  online: boolean;
  mayAnswer: boolean;
  /** Milliseconds of Unix time. */
  now: number;
}

export type Look = 'needs' | 'danger' | 'sent' | 'gone';
export type Mark = 'needs' | 'warn' | 'run' | 'idle' | 'stall' | 'fail' | 'done';

/** Every state that a card can be in. */
export type State =
  | 'open'
  | 'read-only'
  | 'held'
  | 'sending'
  | 'written'
  | 'ran'
  | 'failed'
  | 'refused'
  | 'unused'
  | 'unknown'
  | 'withdrawn'
  | 'other'
  | 'expired';

export interface Face {
  state: State;
  look: Look;
  mark: Mark;
  /** Replaces the sentence of the question where something has happened. */
  title: string | null;
  /** On the right of the head. */
  age: string;
  /** Below the thing, in place of answers or beside them. */
  note: string | null;
  canAnswer: boolean;
  /** Shown as one line. */
  folds: boolean;
}

/** Phases of our own that are over once the host has spoken. */
export function face(asked: Approval, local: Local, around: Around, harm: string | null): Face {
  const waited = span(around.now - asked.asked / 1000);
  switch (asked.life) {
    case 'open':
      return open(local, around, harm, waited);
    case 'decided':
      return decided(asked, local, around);
    case 'written':
    case 'settled':
      return over(asked, local, around);
    case 'withdrawn':
      return withdrawn(asked, around);
  }
}

function open(local: Local, around: Around, harm: string | null, waited: string): Face {
  const base: Face = {
    state: 'open',
    look: harm === null ? 'needs' : 'danger',
    mark: harm === null ? 'needs' : 'warn',
    title: null,
    age: `waiting ${waited}`,
    note: null,
    canAnswer: true,
    folds: false,
  };
  if (!around.mayAnswer) {
    return { ...base, state: 'read-only', canAnswer: false, note: 'You can watch. Answering needs a token with a wider scope.' };
  }
  switch (local.phase) {
    case 'sending':
      return {
        ...base,
        state: 'sending',
        look: 'sent',
        mark: 'run',
        title: `${local.words}, telling the agent…`,
        age: tenths(around.now - local.since),
        note: 'If the connection drops, it is sent again automatically.',
        canAnswer: false,
      };
    case 'held':
      return {
        ...base,
        state: 'held',
        look: 'sent',
        mark: 'stall',
        title: `${local.words} when the connection is back`,
        note: 'It is sent automatically when the server is back.',
        canAnswer: false,
      };
    case 'failed':
      return { ...base, note: [local.problem, local.hint].filter((part) => part !== '').join(' ') };
    case 'late':
      return { ...base, note: 'Your answer was not accepted: someone else may have been first.' };
    case 'idle':
      return base;
  }
}

/** The same on a row of the inbox, which has room for one line. */
export function rowNote(local: Local): { words: string; isWrong: boolean } | null {
  switch (local.phase) {
    case 'sending':
      return { words: `${local.words}, telling the agent…`, isWrong: false };
    case 'held':
      return { words: `${local.words} when the connection is back`, isWrong: false };
    case 'failed':
      return { words: [local.problem, local.hint].filter((part) => part !== '').join(' '), isWrong: true };
    case 'late':
      return { words: 'Your answer was not accepted: someone else may have been first.', isWrong: true };
    case 'idle':
      return null;
  }
}

function decided(asked: Approval, local: Local, around: Around): Face {
  if (asked.decided == null || (asked.decided.by === around.me && local.phase !== 'late')) {
    const words = asked.decided == null ? 'Decided' : decidedWords(asked.decided, asked.kind);
    return {
      state: 'sending',
      look: 'sent',
      mark: 'run',
      title: `${words}, telling the agent…`,
      age: '',
      note: asked.needs_restart ? 'The agent that asked has ended. The next one gets your answer.' : null,
      canAnswer: false,
      folds: false,
    };
  }
  return over(asked, local, around);
}

function over(asked: Approval, local: Local, around: Around): Face {
  const done: Face = {
    state: 'written',
    look: 'gone',
    mark: 'done',
    title: null,
    age: '',
    note: null,
    canAnswer: false,
    folds: true,
  };
  const by = asked.decided;
  if (by == null) return { ...done, title: 'Answered', ...outcome(asked) };
  const words = decidedWords(by, asked.kind);
  const who = nameOf(by.by, around.me);
  const when = at(by.at / 1000, around.now);
  const age = [when, placeOf(by.client)].filter((part) => part !== '').join(', ');
  if (by.by === 'expired') {
    return {
      ...done,
      state: 'expired',
      mark: 'stall',
      title: `Nobody answered for ${span((by.at - asked.asked) / 1000)}`,
      age: `denied, ${when}`,
      note: 'Counted as a denial by your setting. Nothing ran.',
      folds: false,
    };
  }
  if (local.phase === 'late') {
    const after = span((by.at - asked.asked) / 1000);
    const first = by.by === around.me ? 'You answered first, elsewhere,' : `${who} answered first,`;
    const yours = by.by === around.me ? 'This answer' : 'Yours';
    return {
      ...done,
      state: 'other',
      title: `${words} by ${who}`,
      age,
      note: `${first} after ${after}. ${yours} was not needed.`,
      folds: false,
    };
  }
  return { ...done, title: `${words} by ${who}`, age, ...outcome(asked) };
}

function outcome(asked: Approval): Partial<Face> {
  if (asked.life !== 'settled') return { state: 'written' };
  switch (asked.outcome) {
    case 'ran':
      return { state: 'ran', mark: 'done' };
    case 'failed':
      return { state: 'failed', mark: 'fail', note: 'It ran and failed.' };
    case 'refused':
      return { state: 'refused', mark: 'idle' };
    case 'unused':
      return { state: 'unused', mark: 'idle', note: 'The agent had withdrawn its question. Nothing ran.' };
    case 'unknown':
      return { state: 'unknown', mark: 'stall', note: 'The agent ended before it reported back. It may have run.' };
  }
}

function withdrawn(asked: Approval & { life: 'withdrawn' }, around: Around): Face {
  const notes = {
    cancelled: 'The agent no longer needs an answer. Nothing ran.',
    interrupted: 'The turn was interrupted before anyone answered. Nothing ran.',
    agent_gone: 'The agent ended before anyone answered. Nothing ran.',
  };
  const when = asked.decided == null ? '' : at(asked.decided.at / 1000, around.now);
  return {
    state: 'withdrawn',
    look: 'gone',
    mark: 'idle',
    title: 'Withdrawn by the agent',
    age: when,
    note: notes[asked.why],
    canAnswer: false,
    folds: false,
  };
}

function tenths(millis: number): string {
  return `${(Math.max(0, millis) / 1000).toFixed(1)} s`;
}
