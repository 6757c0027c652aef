// Moving one message leaves the others in their order.
import { describe, expect, it } from 'vitest';
import type { Queued } from '../api/types';
import { moved, unsaved } from './queue.svelte';

const items = ['a', 'b', 'c'].map((id) => ({ id, text: id, blocks: 0, at: 0, by: 'x' })) as Queued[];
const ids = (list: readonly Queued[]) => list.map((item) => item.id).join('');

describe('a queue', () => {
  it('moves one in front of another, or to the end', () => {
    expect(ids(moved(items, 'c', 'a'))).toBe('cab');
    expect(ids(moved(items, 'a', null))).toBe('bca');
    expect(ids(moved(items, 'a', 'c'))).toBe('bac');
    expect(ids(moved(items, 'a', 'a'))).toBe('abc');
    expect(ids(moved(items, 'x', 'a'))).toBe('abc');
  });

  it('knows words that would be lost with an item', () => {
    expect(unsaved({ id: 'a', was: 'a', text: 'a, but better' })).toBe('a, but better');
    expect(unsaved({ id: 'a', was: 'a', text: 'a' })).toBeNull();
    expect(unsaved({ id: 'a', was: 'a', text: '  ' })).toBeNull();
    expect(unsaved(null)).toBeNull();
  });
});
