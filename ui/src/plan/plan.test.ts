// Plans: lines, differences, comments that survive versions, and the ways on.
import { describe, expect, it } from 'vitest';
import type { Approval, PlanVersion } from '../api/types';
import { asked } from '../approval/testing';
import { carried, saidBefore, withDraft } from './comments';
import { common, counts, rows } from './diff';
import { linesOf, tokens } from './lines';
import { shownLines } from './view';
import { decisionOf, missing, ruleProblem, submitWords, ways, type Choice } from './ways';

const PLAN = '# Greet\n\n## Steps\n\n1. Write `greet.sh`\n2. Add French\n   - with accents\n\n```sh\necho hi\n```\n- [x] done';

describe('lines of a plan', () => {
  it('keep the numbers of the text, and leave out what is empty', () => {
    expect(linesOf(PLAN).map((line) => [line.number, line.kind])).toEqual([
      [1, 'h1'],
      [3, 'h2'],
      [5, 'item'],
      [6, 'item'],
      [7, 'item'],
      [10, 'code'],
      [12, 'item'],
    ]);
  });

  it('know markers, depth and ticks', () => {
    const lines = linesOf(PLAN);
    expect(lines[2]).toMatchObject({ marker: '1.', depth: 0, text: 'Write `greet.sh`' });
    expect(lines[4]).toMatchObject({ marker: '–', depth: 1 });
    expect(lines[6]).toMatchObject({ ticked: true, text: 'done' });
  });

  it('a fence inside of code does not end it unless it is as long', () => {
    const kinds = linesOf('````\n```\nx\n````\nafter').map((line) => line.kind);
    expect(kinds).toEqual(['code', 'code', 'text']);
  });

  it('hold tokens and never markup', () => {
    expect(tokens('a `b*c` **d** <script>')).toEqual([
      { as: 'text', text: 'a ' },
      { as: 'code', text: 'b*c' },
      { as: 'text', text: ' ' },
      { as: 'strong', text: 'd' },
      { as: 'text', text: ' <script>' },
    ]);
    expect(tokens('see [here](https://x.y)').map((token) => token.text).join('')).toBe('see [here](https://x.y)');
  });
});

describe('the difference of two versions', () => {
  it('puts what is gone in front of what came', () => {
    const list = rows('a\nb\nc', 'a\nB\nc\nd');
    expect(list.map((row) => `${row.is}:${row.line}:${row.text}`)).toEqual([
      'same:1:a',
      'gone:2:b',
      'new:2:B',
      'same:3:c',
      'new:4:d',
    ]);
    expect(counts('a\nb\nc', 'a\nB\nc\n\nd')).toEqual({ added: 2, removed: 1 });
  });

  it('gives back the new text from what is not gone', () => {
    const [before, after] = ['x\ny\nz\nx\ny', 'y\nx\nz\ny\ny\nx'];
    const kept = rows(before, after).filter((row) => row.is !== 'gone');
    expect(kept.map((row) => row.text).join('\n')).toBe(after);
    const old = rows(before, after).filter((row) => row.is !== 'new');
    expect(old.map((row) => row.text).join('\n')).toBe(before);
  });

  it('is bounded for texts that share nothing', () => {
    const many = (word: string) => Array.from({ length: 3000 }, (_, place) => `${word}${place}`);
    expect(common(many('a'), many('b'))).toEqual([]);
  });

  it('shows what is gone in its place and marks fresh words, code included', () => {
    const list = shownLines('a\n2. Rotate by a job in `worker`.', 'a\n2. Rotate by a job in the API.');
    expect(list.map((each) => each.is)).toEqual(['same', 'gone', 'new']);
    expect(list[2]?.tokens.filter((token) => token.fresh)).toEqual([{ as: 'code', text: 'worker', fresh: true }]);
  });

  it('does not mark words of a line that is new all over', () => {
    const list = shownLines('Something quite different', 'A first line');
    expect(list[1]?.tokens.some((token) => token.fresh)).toBe(false);
  });
});

describe('comments', () => {
  it('move with their line', () => {
    expect(carried([{ line: 2, text: 'why' }], 'a\nb', 'new\na\nb')).toEqual([
      { line: 3, text: 'why', outdated: false },
    ]);
  });

  it('are kept, as outdated, when their line is gone', () => {
    expect(carried([{ line: 2, text: 'why' }], 'a\nb\nc', 'a\nc')).toEqual([{ line: 1, text: 'why', outdated: true }]);
    expect(carried([{ line: 1, text: 'why' }], 'a', 'b')).toEqual([{ line: 1, text: 'why', outdated: true }]);
  });

  it('that were sent with an earlier version stand at the lines of this one', () => {
    const version = (number: number, approval: string, text: string): PlanVersion => ({
      number,
      approval,
      text,
      at: 0,
      by: 'agent',
      changes: '',
    });
    const [one, two] = [version(1, 'p1', 'a\nb'), version(2, 'p2', 'x\na\nc')];
    const comments = [
      { line: 1, text: 'stays' },
      { line: 2, text: 'goes' },
    ];
    const decided = { by: 'bo', effect: 'deny', why: '', client: '', at: 0, decision: { decision: 'plan', comments } };
    const plan = { ...asked({ id: 'p1', kind: 'plan' }), decided } as Approval;
    expect(saidBefore([one, two], two, [plan])).toEqual([
      { line: 2, text: 'stays', outdated: false, by: 'bo', version: 1 },
      { line: 2, text: 'goes', outdated: true, by: 'bo', version: 1 },
    ]);
  });

  it('drafts are one a line, in order; empty words take one away', () => {
    const two = withDraft(withDraft([], 5, 'b'), 2, ' a ');
    expect(two).toEqual([
      { line: 2, text: 'a' },
      { line: 5, text: 'b' },
    ]);
    expect(withDraft(two, 5, ' ')).toHaveLength(1);
  });
});

describe('ways', () => {
  const offer = (way: 'clear-context' | 'accept-edits' | 'manual' | 'keep-planning') => ({
    way,
    label: '',
    may_compact: way !== 'clear-context',
  });
  const card = {
    text: PLAN,
    wishes: [{ tool: 'Bash', prompt: 'run tests' }],
    ways: [offer('clear-context'), offer('accept-edits'), offer('manual'), offer('keep-planning')],
    context_percent: 70.6,
    restarts: false,
    edit_note: null,
  };
  const choice: Choice = { way: 'manual', rules: ['Bash(npm test)'], compact: false, comments: [], feedback: '', edited: null, mode: 'edits', pictures: [] };

  it('are said in plain words, with how full the context is', () => {
    expect(ways(card, true).map((way) => way.label)).toEqual([
      'Start fresh with this plan',
      'Continue and accept edits',
      'Continue and approve each edit',
      'Keep planning',
    ]);
    expect(ways(card, true)[0]?.help).toContain('71 %');
    expect(ways({ ...card, context_percent: null }, true)[0]?.help).not.toContain('%');
  });

  it('that settle more than the plan are for those who may do everything', () => {
    expect(ways(card, false).map((way) => way.way)).toEqual(['manual', 'keep-planning']);
    expect(ways(card, true).some((way) => way.mayCompact)).toBe(true);
    expect(ways(card, false).some((way) => way.mayCompact)).toBe(false);
  });

  it('grant the rules that were chosen, but for keep planning', () => {
    for (const way of ['manual', 'accept-edits', 'clear-context'] as const) {
      expect(decisionOf({ ...choice, way, compact: true }, true)).toMatchObject({ choice: way, rules: ['Bash(npm test)'] });
    }
    expect(decisionOf({ ...choice, way: 'keep-planning', feedback: 'so' }, true)).not.toHaveProperty('rules');
    expect(decisionOf({ ...choice, rules: [] }, true)).not.toHaveProperty('rules');
    expect(submitWords(choice, true)).toBe('Continue and approve each edit, allow 1 rule');
  });

  it('a rule that is typed begins with a tool', () => {
    expect(ruleProblem(' Bash(npm test) ')).toBeNull();
    expect(ruleProblem('mcp__github__get_issue')).toBeNull();
    for (const text of ['', 'npm test', 'Bash(npm test', 'Bash()']) expect(ruleProblem(text), text).toContain('tool name');
  });

  it('keep planning needs something to say, unless there is no plan', () => {
    const keep: Choice = { ...choice, way: 'keep-planning' };
    expect(missing(keep, true)).toContain('Say what shall be different');
    expect(missing({ ...keep, comments: [{ line: 1, text: 'x' }] }, true)).toBeNull();
    expect(missing(keep, false)).toBeNull();
    expect(decisionOf(keep, false)).toEqual({ decision: 'deny', interrupt: false });
  });

  it('start fresh says the mode, and no other way does', () => {
    const fresh: Choice = { ...choice, way: 'clear-context', mode: 'rules-only' };
    expect(decisionOf(fresh, true)).toMatchObject({ choice: 'clear-context', mode: { mode: 'rules-only' } });
    expect(decisionOf(choice, true)).not.toHaveProperty('mode');
  });

  it('pictures are something to say, and go along as blocks', () => {
    const picture = { id: '1', name: 'a.png', type: 'image/png', data: 'AAAA', url: '' };
    const keep: Choice = { ...choice, way: 'keep-planning', pictures: [picture] };
    expect(missing(keep, true)).toBeNull();
    const block = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };
    expect(decisionOf(keep, true)).toMatchObject({ choice: 'keep-planning', images: [block] });
    expect(submitWords(keep, true)).toBe('Keep planning, send 1 picture');
    const both: Choice = { ...keep, feedback: 'so', pictures: [picture, picture] };
    expect(submitWords(both, true)).toBe('Keep planning, send 1 comment and 2 pictures');
    expect(decisionOf(choice, true)).not.toHaveProperty('images');
  });

  it('the button repeats the choice and counts comments', () => {
    const keep: Choice = { ...choice, way: 'keep-planning', comments: [{ line: 1, text: 'x' }] };
    expect(submitWords(keep, true)).toBe('Keep planning, send 1 comment');
    expect(submitWords({ ...choice, rules: [], compact: true }, true)).toBe('Compact, then continue and approve each edit');
    expect(submitWords({ ...choice, rules: [], edited: 'x' }, true)).toBe('Continue and approve each edit, with your edits');
  });
});
