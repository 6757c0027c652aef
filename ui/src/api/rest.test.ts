import { expect, it } from 'vitest';
import { onRest, rests } from './rest';

it('gives its connections back when another page takes its place, and has them again when one goes back', () => {
  const heard: boolean[] = [];
  const undo = onRest(() => heard.push(rests()));
  expect(rests()).toBe(false);
  dispatchEvent(new Event('pagehide'));
  expect(rests()).toBe(true);
  dispatchEvent(new Event('pagehide'));
  dispatchEvent(new Event('pageshow'));
  expect(rests()).toBe(false);
  expect(heard).toEqual([true, false]);
  undo();
});
