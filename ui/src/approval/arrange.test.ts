// The inbox keeps still.
import { expect, it } from 'vitest';
import { arrange } from './arrange';
import { grouped } from './alike';
import { asked } from './testing';

const one = (id: string, session = id) => asked({ id, session, asked: Number(id) });
const ids = (groups: { asked: { id: string }[] }[]) => groups.map((group) => group.asked.map((each) => each.id).join('+'));
const none = () => undefined;

it('puts new ones behind, and leaves the others where they are', () => {
  const before = grouped([one('5'), one('6')]);
  // An older question that was learned of late does not push in front.
  expect(ids(arrange(before, [one('1'), one('5'), one('6')], none, '5'))).toEqual(['5', '6', '1']);
});

it('keeps the place of what was answered until it is let go', () => {
  const before = grouped([one('1'), one('2')]);
  const gone = one('1');
  expect(ids(arrange(before, [one('2')], (id) => (id === '1' ? gone : undefined), null))).toEqual(['1', '2']);
  expect(ids(arrange(before, [one('2')], none, null))).toEqual(['2']);
});

it('lets a new one join its like only behind the focus', () => {
  const before = grouped([one('1', 's'), one('2')]);
  const next = [one('1', 's'), one('2'), one('3', 's')];
  expect(ids(arrange(before, next, none, null))).toEqual(['1+3', '2']);
  expect(ids(arrange(before, next, none, '2'))).toEqual(['1', '2', '3']);
});
