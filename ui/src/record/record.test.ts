// Rules with their uses.
import { describe, expect, it } from 'vitest';
import type { Rule } from '../api/types';
import { decision } from '../audit/testing';
import { endsOf, inOrder, isAboutFolder, missedBy, placeMissing, useOf, usesOf, whereOf } from './rules';

const rule = (but: Partial<Rule>): Rule =>
  ({ id: 1, effect: 'allow', rule: 'Bash(echo:*)', scope: 'always', is_over: false, by: 'ana', client: '', at: 1, ...but }) as Rule;

describe('rules', () => {
  const record = [
    decision('echo b', 'rule', 'allow Bash(echo:*)', 9),
    decision('echo b', 'rule', 'allow Bash(echo:*)', 8),
    decision('npm test', 'ana'),
    decision('ls', 'rule', ''),
  ];

  it('are counted from the record, each example once', () => {
    expect(usesOf(record).get('allow Bash(echo:*)')).toEqual({ count: 2, last: 9_000_000, covers: ['echo b'] });
    expect(usesOf(record).size).toBe(1);
  });

  it('show what people were asked about all the same', () => {
    expect(missedBy(rule({}), record)).toEqual(['npm test']);
    expect(missedBy(rule({ rule: 'Read(x)' }), record)).toEqual([]);
  });

  it('stand with denials first and over ones last', () => {
    const list = [rule({ id: 1 }), rule({ id: 2, effect: 'deny' }), rule({ id: 3, effect: 'deny', is_over: true })];
    expect(inOrder(list).map((one) => one.id)).toEqual([2, 1, 3]);
  });

  it('count what they answered by their number, not by what they say', () => {
    const by = (number: number, command: string) => {
      const one = decision(command, 'rule', 'allow Bash(make:*)');
      return { ...one, decided: { ...one.decided, decision: { rule: 'allow Bash(make:*)', number } } };
    };
    const rules = [rule({ id: 1, rule: 'Bash(make:*)' }), rule({ id: 2, rule: 'Bash(make:*)' })];
    const uses = usesOf([by(1, 'make a'), by(1, 'make b'), by(2, 'make c'), decision('make old', 'rule', 'allow Bash(make:*)')]);
    expect(rules.map((one) => useOf(one, rules, uses)?.count)).toEqual([2, 1]);
    expect(useOf(rules[0] as Rule, rules.slice(0, 1), uses)?.count).toBe(3);
  });

  it('name where they hold before they are sent', () => {
    expect(placeMissing('session', '', '/srv/app')).toBe('Choose the session that it holds in.');
    expect(placeMissing('repository', 's', '  ')).toBe('Name the folder that it holds in.');
    expect([placeMissing('session', 's', ''), placeMissing('repository', '', '/srv'), placeMissing('always', '', '')]).toEqual([null, null, null]);
  });

  it('that the server refuses for their folder say so there', () => {
    expect(isAboutFolder('/nowhere is no folder: name one that is there.', ' /nowhere ')).toBe(true);
    expect(isAboutFolder('Bash( is no rule.', '/nowhere')).toBe(false);
  });

  it('say where they hold and when they end', () => {
    expect(whereOf(rule({ scope: 'repository', repository: '/srv/app' }), () => undefined)).toBe('app');
    expect(whereOf(rule({ scope: 'session', session: 's' }), () => 'Fix')).toBe('Fix');
    expect(endsOf(rule({}), 0)).toBe('never');
    expect(endsOf(rule({ scope: 'session' }), 0)).toBe('with the session');
    expect(endsOf(rule({ expires: 23 * 86_400e6 }), 0)).toBe('in 23 days');
  });
});
