// Every state of a card: from what the host says and what was just done here.
import { describe, expect, it } from 'vitest';
import type { Approval } from '../api/types';
import { face, rowNote, type Around, type Local } from './face';
import { stampOf } from './stamp';
import { asked } from './testing';

const NOW = 1_012_000;
const around: Around = { me: 'ana', online: true, mayAnswer: true, now: NOW };
const idle: Local = { phase: 'idle' };

function after(life: object, by = 'ana', decision: object = { decision: 'allow' }, effect = 'allow'): Approval {
  const decided = { by, effect, why: 'allowed', client: 'web', at: 1_008_000_000, decision };
  return { ...asked(), decided, ...life } as Approval;
}

describe('a question that is open', () => {
  it('waits, in amber', () => {
    const shown = face(asked(), idle, around, null);
    expect(shown).toMatchObject({ state: 'open', look: 'needs', age: 'waiting 12 s', canAnswer: true, title: null });
  });

  it('is red where the host counts a harm', () => {
    expect(face(asked(), idle, around, 'It is gone.')).toMatchObject({ look: 'danger', mark: 'warn', canAnswer: true });
  });

  it('has no answers for somebody who may only read', () => {
    const shown = face(asked(), idle, { ...around, mayAnswer: false }, null);
    expect(shown).toMatchObject({ state: 'read-only', canAnswer: false });
    expect(shown.note).toContain('You can watch.');
  });

  it('is locked while an answer is on its way, and is not called delivered', () => {
    const shown = face(asked(), { phase: 'sending', words: 'Allowed', since: NOW - 300 }, around, null);
    expect(shown).toMatchObject({ state: 'sending', look: 'sent', canAnswer: false, age: '0.3 s' });
    expect(shown.title).toBe('Allowed, telling the agent…');
  });

  it('keeps an answer that was given offline', () => {
    const shown = face(asked(), { phase: 'held', words: 'Allowed', since: NOW }, { ...around, online: false }, null);
    expect(shown).toMatchObject({ state: 'held', canAnswer: false });
  });

  it('can be answered again after a refusal, with the reason', () => {
    const shown = face(asked(), { phase: 'failed', problem: 'The disk is full.', hint: 'Make room.' }, around, null);
    expect(shown).toMatchObject({ state: 'open', canAnswer: true, note: 'The disk is full. Make room.' });
  });
});

describe('a row', () => {
  it('says what was done here, and why it was not taken', () => {
    expect(rowNote(idle)).toBeNull();
    expect(rowNote({ phase: 'sending', words: 'Allowed', since: 0 })).toEqual({ words: 'Allowed, telling the agent…', isWrong: false });
    expect(rowNote({ phase: 'failed', problem: 'Full.', hint: 'Make room.' })).toEqual({ words: 'Full. Make room.', isWrong: true });
    expect(rowNote({ phase: 'late' })?.isWrong).toBe(true);
  });
});

describe('a question that was answered', () => {
  it('is on its way until the host says it was written', () => {
    expect(face(after({ life: 'decided' }), idle, around, null)).toMatchObject({ state: 'sending', folds: false });
    expect(face(after({ life: 'written' }), idle, around, null)).toMatchObject({
      state: 'written',
      folds: true,
      title: 'Allowed once by You',
    });
  });

  it.each([
    ['ran', 'done'],
    ['failed', 'fail'],
    ['refused', 'idle'],
    ['unused', 'idle'],
    ['unknown', 'stall'],
  ] as const)('says what came of it: %s', (outcome, mark) => {
    expect(face(after({ life: 'settled', outcome }), idle, around, null)).toMatchObject({ state: outcome, mark });
  });

  it('says that somebody else was first, only to who answered too', () => {
    const bo = after({ life: 'written' }, 'bo');
    const late = face(bo, { phase: 'late' }, around, null);
    expect(late).toMatchObject({ state: 'other', folds: false, title: 'Allowed once by bo' });
    expect(late.note).toBe('bo answered first, after 8 s. Yours was not needed.');
    expect(face(bo, idle, around, null)).toMatchObject({ state: 'written', folds: true });
  });

  it('does not call the decision of somebody else ours while it is on its way', () => {
    expect(face(after({ life: 'decided' }, 'bo'), { phase: 'late' }, around, null)).toMatchObject({ state: 'other' });
  });

  it('says so too where one was first oneself, in another window', () => {
    const late = face(after({ life: 'decided' }), { phase: 'late' }, around, null);
    expect(late.note).toBe('You answered first, elsewhere, after 8 s. This answer was not needed.');
  });

  it('is expired where nobody answered', () => {
    const shown = face(after({ life: 'settled', outcome: 'refused' }, 'expired', {}, 'deny'), idle, around, null);
    expect(shown).toMatchObject({ state: 'expired', title: 'Nobody answered for 8 s', folds: false });
  });

  it.each(['cancelled', 'interrupted', 'agent_gone'] as const)('was withdrawn: %s', (why) => {
    const shown = face({ ...asked(), life: 'withdrawn', why } as Approval, idle, around, null);
    expect(shown).toMatchObject({ state: 'withdrawn', canAnswer: false, title: 'Withdrawn by the agent' });
    expect(shown.note).toContain('Nothing ran.');
  });
});

describe('the stamp', () => {
  const stamp = (decision: object, effect = 'allow', by = 'ana') =>
    stampOf(after({ life: 'written' }, by, decision, effect), 'ana', NOW);

  it.each([
    [{ decision: 'allow' }, 'Allowed once'],
    [{ decision: 'allow', updated_input: { command: 'x' } }, 'Allowed with a change'],
    [{ decision: 'allow', remember: { rules: ['a'], scope: 'session' } }, 'Allowed for this session'],
    [{ decision: 'allow', remember: { rules: ['a'], scope: 'always' } }, 'Allowed as a rule'],
    [{ decision: 'deny', message: 'no' }, 'Denied'],
    [{ decision: 'deny', interrupt: true }, 'Denied and stopped'],
    [{ decision: 'plan', choice: 'keep-planning' }, 'Kept planning'],
    [{ decision: 'answer', answers: {} }, 'Answered'],
  ])('says %j', (decision, words) => {
    expect(stamp(decision)?.words).toBe(words);
  });

  it('carries the reason and how long it took', () => {
    const line = stamp({ decision: 'deny', message: 'use pnpm' }, 'deny');
    expect(line).toMatchObject({ who: 'You', why: 'use pnpm' });
    expect(line?.facts.slice(1)).toEqual(['browser', 'waited 8 s']);
  });

  it('of a rule names the rule and no wait', () => {
    const line = stamp({ kind: 'rule', rule: 'allow Bash(ls)' }, 'allow', 'rule');
    expect(line).toMatchObject({ words: 'Allowed', who: 'a rule', why: 'allowed' });
    expect(line?.facts).toHaveLength(1);
    expect(stamp({ kind: 'profile' }, 'allow', 'rule')?.who).toBe('the mode');
  });
});
