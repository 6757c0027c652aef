// Grouping of questions, and what a bulk answer sends.
import { describe, expect, it } from 'vitest';
import type { Approval } from '../api/types';
import { alikeOf, bulk, cameOf, grouped, mayBulk, passes, stays, step } from './alike';
import { asked } from './testing';

const one = (id: string, but: Partial<Omit<Approval, 'life'>> = {}) =>
  asked({ id, digest: `d-${id}`, asked: Number(id) * 10, ...but });

describe('groups', () => {
  it('stand longest wait first, alike ones together at the place of their oldest', () => {
    const all = [one('3'), one('2', { session: 's2' }), one('1')];
    expect(grouped(all).map((group) => group.asked.map((each) => each.id))).toEqual([['1', '3'], ['2']]);
  });

  it('keep what cannot be undone, what the CLI remarks and plans alone', () => {
    const all = [
      one('1'),
      one('2', { harm: { kind: 'destructive', says: 'removes files' } }),
      one('3', { remark: 'It writes outside.' }),
      one('4', { kind: 'plan' }),
      one('5'),
    ];
    expect(grouped(all).map((group) => group.asked.length)).toEqual([2, 1, 1, 1]);
    const [first] = all;
    expect(alikeOf(first as Approval, all).map((each) => each.id)).toEqual(['1', '5']);
  });

  it('filter by kind; forms and dialogs count as questions', () => {
    expect(passes(one('1', { kind: 'elicitation' }), 'questions')).toBe(true);
    expect(passes(one('1'), 'questions')).toBe(false);
  });
});

describe('a bulk answer', () => {
  it('allows alike ones in one request that names every digest', () => {
    const sent = bulk([one('1'), one('2'), one('3', { session: 's2' })], 'once');
    expect(sent).toHaveLength(2);
    expect(sent[0]).toMatchObject({ id: '1', saw: 'd-1', others: ['d-2'], ids: ['1', '2'] });
    expect(sent[1]).toMatchObject({ id: '3', others: [] });
  });

  it('never takes in what cannot be undone', () => {
    const harmful = one('1', { harm: { kind: 'destructive', says: 'removes files' } });
    expect(bulk([harmful], 'once')).toEqual([]);
    expect(bulk([harmful], { deny: 'no' })).toEqual([]);
  });

  it('denies one by one, since a no for a kind would be a no to all of it', () => {
    const sent = bulk([one('1'), one('2')], { deny: ' not now ' });
    expect(sent.map((each) => each.others)).toEqual([[], []]);
    expect(sent[0]?.body).toEqual({ decision: 'deny', interrupt: false, message: 'not now' });
  });

  it('keeps each for the session by its own narrowest rule, and leaves out those without one', () => {
    const offers = [{ kind: 'always' as const, label: '', rules: ['Bash(npm test)'] }];
    const sent = bulk([one('1', { offers }), one('2')], 'session');
    expect(sent).toHaveLength(1);
    expect(sent[0]?.body).toMatchObject({ remember: { rules: ['Bash(npm test)'], scope: 'session' } });
  });
});

describe('the focus', () => {
  it('stays where it is, and goes to the next one when its own is gone', () => {
    expect(stays(['a', 'b', 'c'], 'b', ['a', 'b', 'c', 'd'])).toBe('b');
    expect(stays(['a', 'b', 'c'], 'b', ['a', 'c'])).toBe('c');
    expect(stays(['a', 'b'], 'b', ['a'])).toBe('a');
    expect(stays(['a'], 'a', [])).toBeNull();
  });

  it('moves by one and holds at the ends', () => {
    expect(step(['a', 'b'], null, 1)).toBe('a');
    expect(step(['a', 'b'], 'b', 1)).toBe('b');
    expect(step(['a', 'b'], 'b', -1)).toBe('a');
  });
});

describe('what came of a bulk', () => {
  const allowed = (count: number) => `Allowed ${count} once`;

  it('counts only those that were taken', () => {
    expect(cameOf(['sending', 'sending'], allowed)).toBe('Allowed 2 once');
    expect(cameOf(['sending', 'late', 'failed', 'failed'], allowed)).toBe('Allowed 1 once, 1 already answered by someone else, 2 not: their rows say why');
    expect(cameOf(['held'], allowed)).toBe('1 waits for the connection');
    expect(cameOf(['failed'], allowed)).toBe('1 not: its row says why');
  });

  it('takes no call into a bulk of which a row cannot show everything', () => {
    expect(mayBulk(asked({ input: { command: 'make' } }))).toBe(true);
    expect(mayBulk(asked({ input: { command: `echo ${'a'.repeat(3000)}` } }))).toBe(false);
    expect(mayBulk(asked({ input: { command: 'make', dangerouslyDisableSandbox: true } }))).toBe(false);
    const sent = bulk([asked({ id: '1', digest: 'd-1' }), asked({ id: '2', digest: 'd-2' })], 'once');
    expect(sent[0]?.whole).toEqual(['d-1', 'd-2']);
  });
});
