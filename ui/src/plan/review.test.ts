// A comment that is being written is not lost, and counts before it is kept.
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Review } from './review.svelte';

beforeEach(() => vi.stubGlobal('fetch', async () => Response.json({})));
afterEach(() => vi.unstubAllGlobals());

it('goes along with the decision, which is not to go on by itself', () => {
  const review = new Review('p');
  expect(review.choice).toMatchObject({ way: 'manual', comments: [] });
  review.write(3);
  review.words = 'Not ';
  expect(review.choice).toMatchObject({ way: 'keep-planning', comments: [{ line: 3, text: 'Not' }] });
  review.writing = null;
  expect(review.choice).toMatchObject({ way: 'manual', comments: [] });
});

it('is kept when another line or version is looked at', () => {
  const review = new Review('p');
  review.write(3);
  review.words = 'half a';
  review.write(5);
  expect([review.drafts, review.words, review.writing]).toEqual([[{ line: 3, text: 'half a' }], '', 5]);
  review.write(3);
  expect(review.words).toBe('half a');
  review.words = '';
  review.settle();
  expect([review.drafts, review.writing]).toEqual([[{ line: 3, text: 'half a' }], null]);
});
