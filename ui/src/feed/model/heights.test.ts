// The list is as high as its rows, seen or not, and only rows near the screen are in it.
import { describe, expect, it } from 'vitest';
import { Heights } from './heights';

const keys = Array.from({ length: 100 }, (_, at) => `k${at}`);

describe('heights', () => {
  it('finds the rows of the screen and what lies around them', () => {
    const heights = new Heights();
    for (const key of keys) heights.set(key, 10);
    expect(heights.range(keys, 95, 200)).toEqual({ from: 9, to: 20, above: 90, below: 800 });
    expect(heights.range(keys, 0, 5)).toEqual({ from: 0, to: 1, above: 0, below: 990 });
    expect(heights.range(keys, 5000, 5100)).toEqual({ from: 100, to: 100, above: 1000, below: 0 });
  });

  it('takes rows it has not seen for what others are', () => {
    const heights = new Heights();
    for (const key of keys.slice(0, 10)) heights.set(key, 100);
    expect(heights.of('k50')).toBe(100);
  });

  it('says whether a height is another one, and forgets all with the width', () => {
    const heights = new Heights();
    heights.width(700);
    expect(heights.set('a', 20)).toBe(true);
    expect(heights.set('a', 20.2)).toBe(false);
    expect(heights.width(700)).toBe(false);
    expect(heights.width(400)).toBe(true);
    expect(heights.has('a')).toBe(false);
  });
});
