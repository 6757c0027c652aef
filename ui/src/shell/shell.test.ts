// What the frame says in a line: the gist of a question, the title, what happened meanwhile; and what somebody means by a few letters.
import { describe, expect, it } from 'vitest';
import type { Approval } from '../api/types';
import { age, counted, many, money, span, waiting } from '../kit/ages';
import { pieces } from '../pages/excerpt';
import { gistOf, waitsFor, within } from './gist';
import { rank, score } from './rank';
import { backWords, meanwhile, titleOf } from './words';

const asked = (kind: Approval['kind'], tool: string, input: unknown) => ({ kind, tool, input, reason: '' }) as unknown as Approval;

describe('a question in one line', () => {
  it('is the command, the path or the question itself', () => {
    expect(gistOf(asked('tool', 'Bash', { command: 'npm  run\n test' }))).toEqual({ icon: 'term', text: 'npm run test', isCode: true });
    expect(gistOf(asked('tool', 'Edit', { file_path: '/a/b.ts' }))).toEqual({ icon: 'edit', text: '/a/b.ts', isCode: true, isPath: true });
    expect(gistOf(asked('tool', 'Read', { file_path: '/a' })).icon).toBe('file');
    expect(gistOf(asked('questions', 'AskUserQuestion', { questions: [{ question: 'Which?' }] })).text).toBe('Which?');
    expect(gistOf(asked('plan', 'ExitPlanMode', {})).icon).toBe('plan');
    expect(gistOf(asked('tool', 'mcp__x__y', null)).text).toBe('mcp__x__y');
  });

  it('says beside the folder how many there are, and of which kind', () => {
    expect(waitsFor(asked('tool', 'Bash', { command: 'ls' }), 1)).toBe('1 question');
    expect(waitsFor(asked('questions', 'AskUserQuestion', { questions: [{}, {}] }), 1)).toBe('2 questions');
    expect(waitsFor(asked('plan', 'ExitPlanMode', {}), 1)).toBe('plan ready');
    expect(waitsFor(undefined, 3)).toBe('3 questions');
  });

  it('tells a path from the folder of the session on', () => {
    const gist = gistOf(asked('tool', 'Edit', { file_path: '/srv/app/src/a.ts' }));
    expect(within(gist, '/srv/app').text).toBe('src/a.ts');
    expect(within(gist, '/srv/ap').text).toBe('/srv/app/src/a.ts');
  });
});

describe('the title of the tab', () => {
  it('counts what waits for a person', () => {
    expect([titleOf(0), titleOf(3, 'Fix it')]).toEqual(['Countersign', '(3) Fix it · Countersign']);
  });
});

describe('what happened meanwhile', () => {
  it('a_reconnected_page_says_how_many_questions_are_new', () => {
    expect([backWords(0), backWords(1), backWords(3)]).toEqual(['Reconnected.', 'Reconnected. 1 new question.', 'Reconnected. 3 new questions.']);
  });

  it('is said only where something did', () => {
    expect(meanwhile({ ended: 2, byRule: 14, opened: 1 })).toBe('2 sessions ended, 14 calls by rule, 1 question opened.');
    expect(meanwhile({ ended: 0, byRule: 0, opened: 0 })).toBe('');
  });
});

describe('a few letters', () => {
  it('mean the beginning of words before anything else', () => {
    expect(score('', 'x')).toBe(1);
    expect(score('zz', 'Inbox')).toBe(0);
    const items = ['Settings', 'Insights', 'The inbox of yesterday', 'Inbox'];
    expect(rank('in', items, (one) => one, 3)).toEqual(['Insights', 'Inbox', 'The inbox of yesterday']);
    expect(rank('ibx', items, (one) => one, 9)).toEqual(['The inbox of yesterday', 'Inbox']);
  });
});

describe('figures', () => {
  it('are short, and the same everywhere', () => {
    const now = Date.UTC(2026, 2, 20, 12);
    const ago = (ms: number) => age(now - ms, now);
    expect([ago(1000), ago(12_000), ago(120_000), ago(3 * 3600_000)]).toEqual(['now', '12 s', '2 m', '3 h']);
    expect(ago(3 * 86_400_000)).toBe('Tue');
    expect(ago(12 * 86_400_000)).toBe('8 Mar');
    expect([span(400), span(12_400), span(134_000), span(11_100_000)]).toEqual(['0.4 s', '12 s', '2 m 14 s', '3 h 5 m']);
    expect(waiting(9_900)).toBe('9 s');
    expect([money(0), money(0.004), money(1.836), money(12345.6)]).toEqual(['$0.00', '<$0.01', '$1.84', '$12,346']);
    expect([many(999), many(6200), many(62_000), many(2000), many(1_200_000)]).toEqual(['999', '6.2 k', '62 k', '2 k', '1.2 M']);
    expect([counted(1, 'line'), counted(1200, 'line')]).toEqual(['1 line', '1,200 lines']);
  });
});

describe('an excerpt', () => {
  it('is cut where something was found', () => {
    expect(pieces('a \u2068clock\u2069 b')).toEqual([
      { text: 'a ', isHit: false },
      { text: 'clock', isHit: true },
      { text: ' b', isHit: false },
    ]);
  });
});
