// The gesture for what cannot be undone.
import { expect, it } from 'vitest';
import { twice } from './hold';

it('needs two presses within five seconds', () => {
  const gate = twice();
  expect(gate.press(0)).toBe('armed');
  expect(gate.press(4_000)).toBe('done');
  expect(gate.press(5_000)).toBe('armed');
  expect(gate.press(10_001)).toBe('armed');
  expect(gate.isArmed(10_002)).toBe(true);
});

it('takes a key that repeats for one press', () => {
  const gate = twice();
  gate.press(0);
  expect(gate.press(30)).toBe('armed');
});
