// What a plan asks for in advance: which commands that would cover is shown before it is granted.
import { flushSync, mount, unmount } from 'svelte';
import { afterEach, expect, it } from 'vitest';
import type { Approval, PlanWay } from '../api/types';
import type { Review } from './review.svelte';
import Wishes from './Wishes.svelte';

type PlanCard = NonNullable<Approval['plan']>;
const card = {
  wishes: [
    { tool: 'Bash', prompt: 'run the tests', offers: [{ text: 'Bash(npm test)', from: 'named in the plan' }, { text: 'Bash(npm run lint)', from: 'package.json' }] },
    { tool: 'Bash', prompt: 'deploy it', offers: [] },
  ],
} as unknown as PlanCard;

let wishes: Record<string, unknown> | null = null;
afterEach(async () => {
  if (wishes) await unmount(wishes);
  wishes = null;
});

/** The part of a review that wishes go by. */
function show(way: PlanWay, mayGrant: boolean): { granted: [string, boolean][]; said: string } {
  const granted: [string, boolean][] = [];
  const review = { rules: [] as string[], way, grant: (rule: string, on: boolean) => void granted.push([rule, on]) } as unknown as Review;
  wishes = mount(Wishes, { target: document.body, props: { review, card, mayGrant } });
  flushSync();
  return { granted, said: document.body.textContent ?? '' };
}
const boxes = () => [...document.querySelectorAll<HTMLInputElement>('input[type=checkbox]')];

it('a wish names the commands that it would cover, and each is granted by itself', () => {
  const { granted, said } = show('manual', true);
  expect(boxes().map((box) => box.closest('label')?.textContent?.replace(/\s+/g, ' ').trim())).toEqual(['Bash(npm test)named in the plan', 'Bash(npm run lint)package.json']);
  expect(boxes().map((box) => box.checked)).toEqual([false, false]);
  expect(said).toContain('No command was found for this.');
  expect(said).toContain('Ticked rules run without asking in this session.');
  boxes()[1]?.click();
  expect(granted).toEqual([['Bash(npm run lint)', true]]);
});

it('a fresh conversation is said to take the rules along', () => {
  expect(show('clear-context', true).said).toContain('in this session and the fresh one.');
});

it('where nothing can be granted nothing can be ticked', () => {
  const { said } = show('keep-planning', false);
  expect(boxes().every((box) => box.disabled)).toBe(true);
  expect(said).toContain('nothing granted');
});
