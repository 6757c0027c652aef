// A draft survives the page, within bounds.
import { describe, expect, it } from 'vitest';
import { Drafts } from './drafts';

function shelf() {
  const map = new Map<string, string>();
  return { getItem: (key: string) => map.get(key) ?? null, setItem: (key: string, value: string) => void map.set(key, value) };
}

describe('drafts', () => {
  it('are there again after a reload, and gone once empty', () => {
    const kept = shelf();
    new Drafts(kept).set('a', 'half a thought');
    expect(new Drafts(kept).get('a')).toBe('half a thought');
    new Drafts(kept).set('a', '');
    expect(new Drafts(kept).get('a')).toBe('');
  });

  it('take in words from elsewhere behind their own', () => {
    const drafts = new Drafts(shelf());
    expect(drafts.add('a', 'first')).toBe('first');
    expect(drafts.add('a', 'second')).toBe('first\nsecond');
    expect(drafts.get('a')).toBe('first\nsecond');
  });

  it('of two tabs do not take each other away', () => {
    const kept = shelf();
    const [one, two] = [new Drafts(kept), new Drafts(kept)];
    one.set('a', 'from the first');
    two.set('b', 'from the second');
    one.set('a', 'changed');
    const after = new Drafts(kept);
    expect([after.get('a'), after.get('b')]).toEqual(['changed', 'from the second']);
  });

  it('keep the newest, and bear a storage that is broken or full', () => {
    const drafts = new Drafts({ getItem: () => '{', setItem: () => { throw new Error('full'); } });
    for (let at = 0; at < 60; at += 1) drafts.set(`s${at}`, 'x');
    expect(drafts.get('s0')).toBe('');
    expect(drafts.get('s59')).toBe('x');
  });
});
