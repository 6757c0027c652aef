// Questions and forms: what is chosen, and what is sent.
import { describe, expect, it } from 'vitest';
import { dialogChoices, fault, filled, itemsOf, pageOf, valuesAtFirst } from './form';
import { answered, answersOf, atFirst, byKey, inOwnWords, questionsOf, sendWords, toggled } from './questions';

const INPUT = {
  questions: [
    {
      question: 'Which colour?',
      header: 'Colour',
      multiSelect: false,
      options: [
        { label: 'Blue (Recommended)', description: 'Calm' },
        { label: 'Green', description: '', preview: 'green { }' },
      ],
    },
    { question: 'What?', header: '', multiSelect: true, options: [{ label: 'A' }, { label: 'B' }] },
  ],
};

describe('questions', () => {
  const questions = questionsOf(INPUT);
  const [colour, what] = questions as [(typeof questions)[0], (typeof questions)[0]];

  it('number their options through, own words included', () => {
    expect(questions.flatMap((each) => [...each.options.map((option) => option.key), each.ownKey])).toEqual([
      1, 2, 3, 4, 5, 6,
    ]);
    expect(byKey(questions, 5)).toEqual({ question: 1, option: 1 });
    expect(byKey(questions, 3)).toEqual({ question: 0, own: true });
    expect(byKey(questions, 9)).toBeNull();
  });

  it('choose the recommended one in advance and send its label as it was written', () => {
    const chosen = atFirst(questions);
    expect(colour.options[0]).toMatchObject({ shown: 'Blue', recommended: true });
    expect(answersOf(questions, chosen)).toEqual({
      decision: 'answer',
      answers: { 'Which colour?': 'Blue (Recommended)' },
    });
  });

  it('one answer replaces another; several join', () => {
    const [first, second] = atFirst(questions) as [ReturnType<typeof atFirst>[0], ReturnType<typeof atFirst>[0]];
    expect(toggled(colour, first, 1).options).toEqual([1]);
    const both = toggled(what, toggled(what, second, 1), 0);
    expect(both.options).toEqual([0, 1]);
    expect(toggled(what, both, 0).options).toEqual([1]);
  });

  it('own words take the place of the one answer, and join several', () => {
    const chosen = atFirst(questions);
    const own = inOwnWords(colour, chosen[0]!, 'Red');
    const some = inOwnWords(what, toggled(what, chosen[1]!, 0), 'C');
    expect(answersOf(questions, [own, some])).toEqual({
      decision: 'answer',
      answers: { 'Which colour?': 'Red', 'What?': ['A', 'C'] },
    });
  });

  it('nothing chosen is nothing to send', () => {
    const none = questions.map(() => ({ options: [], own: ' ', isOwn: true }));
    expect(answersOf(questions, none)).toBeNull();
    expect(answered(none)).toBe(0);
    expect(sendWords(questions, atFirst(questions))).toBe('Send 1 of 2 answers');
  });

  it('what is no question is an empty form', () => {
    expect(questionsOf({ questions: 'x' })).toEqual([]);
    expect(questionsOf(null)).toEqual([]);
  });
});

describe('a form of a server', () => {
  const input = {
    mode: 'form',
    property_order: ['age', 'name'],
    requested_schema: {
      required: ['name', 'level'],
      properties: {
        name: { type: 'string', title: 'Your name', minLength: 2 },
        age: { type: 'integer', minimum: 18 },
        mail: { type: 'string', format: 'email' },
        level: { type: 'string', enum: ['a', 'b'], enumNames: ['First', 'Second'] },
        size: { type: 'number', enum: [1, 2] },
        news: { type: 'boolean', default: true },
        tags: { type: 'array', items: { type: 'string', enum: ['x', 'y'] } },
      },
    },
  };
  const items = itemsOf(input);
  const item = (name: string) => items.find((each) => each.name === name)!;

  it('has its fields in the order of the server, then the others', () => {
    expect(items.map((each) => each.name)).toEqual(['age', 'name', 'mail', 'level', 'size', 'news', 'tags']);
    expect(item('level').options[1]).toEqual({ value: 'b', label: 'Second' });
  });

  it('says what is missing or wrong', () => {
    expect(fault(item('name'), '')).toBe('Needed.');
    expect(fault(item('name'), 'x')).toBe('At least 2 letters.');
    expect(fault(item('age'), '17')).toBe('At least 18.');
    expect(fault(item('age'), '18.5')).toBe('A whole number.');
    expect(fault(item('age'), '')).toBeNull();
    expect(fault(item('mail'), 'nobody')).toContain('@');
    expect(fault(item('news'), false)).toBeNull();
  });

  it('gives values back in the kinds it wants, and leaves out what is empty', () => {
    const values = { ...valuesAtFirst(items), name: 'Ana', age: '20', level: 'b', size: '2', tags: ['x'] };
    expect(filled(items, values)).toEqual({ name: 'Ana', age: 20, level: 'b', size: 2, news: true, tags: ['x'] });
  });

  it('gives a moment back with its zone, as the reader means it', () => {
    const when = { requested_schema: { properties: { at: { type: 'string', format: 'date-time', default: '2026-03-01T10:30:00Z' } } } };
    const [at] = itemsOf(when);
    const shown = valuesAtFirst(at ? [at] : [])['at'];
    expect(shown).toMatch(/^2026-\d\d-\d\dT\d\d:\d\d$/);
    expect(filled(itemsOf(when), { at: shown ?? '' })).toEqual({ at: '2026-03-01T10:30:00.000Z' });
  });

  it('opens pages of the web and nothing else', () => {
    expect(pageOf({ url: 'https://example.org/a' })).toEqual({ href: 'https://example.org/a', host: 'example.org' });
    expect(pageOf({ url: 'javascript:alert(1)' })).toBeNull();
    expect(pageOf({ url: 'file:///etc/passwd' })).toBeNull();
    expect(pageOf({})).toBeNull();
  });

  it('a dialog that is not known can only be closed', () => {
    expect(dialogChoices('refusal_fallback_prompt')).toHaveLength(2);
    expect(dialogChoices('of_tomorrow')).toEqual([]);
  });
});
