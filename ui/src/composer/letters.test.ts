// A message that waits outlives the page, whole or with what is missing.
import { describe, expect, it } from 'vitest';
import { Letters, type Letter } from './letters';

function shelf(most = Infinity) {
  const map = new Map<string, string>();
  return {
    get length() {
      return map.size;
    },
    key: (at: number) => [...map.keys()][at] ?? null,
    getItem: (key: string) => map.get(key) ?? null,
    removeItem: (key: string) => void map.delete(key),
    setItem: (key: string, value: string) => {
      if (value.length > most) throw new Error('full');
      map.set(key, value);
    },
  };
}
const picture = { id: 'p', name: 'dot.png', type: 'image/png', data: 'A'.repeat(900), url: '' };
const letter = (key: string, more: Partial<Letter> = {}): Letter => ({ key, session: 's', at: 1, text: key, pictures: [], way: null, missing: 0, ...more });

describe('letters', () => {
  it('are there again after a reload, the oldest first, with their key, way and pictures', () => {
    const kept = shelf();
    const before = new Letters(kept);
    const [one, two] = [letter('one', { at: 2, way: 'resume' }), letter('two', { pictures: [picture] })];
    before.put(one);
    before.put(two);
    expect(new Letters(kept).all()).toEqual([two, one]);
  });

  it('that one tab has sent wait in no other', () => {
    const kept = shelf();
    const [one, two] = [new Letters(kept), new Letters(kept)];
    one.put(letter('a'));
    two.put(letter('b'));
    two.drop('a');
    expect(one.all().map(({ key }) => key)).toEqual(['b']);
  });

  it('with pictures that are too large are whole while the page lives, and say what is missing afterwards', () => {
    const kept = shelf(500);
    const before = new Letters(kept);
    before.put(letter('a', { pictures: [picture] }));
    expect(before.all()).toMatchObject([{ pictures: [picture], missing: 0 }]);
    expect(new Letters(kept).all()).toMatchObject([{ text: 'a', pictures: [], missing: 1 }]);
  });

  it('stay in memory where nothing can be kept, and bear what is no letter', () => {
    const full = new Letters(shelf(0));
    full.put(letter('a'));
    full.put(letter('a', { way: 'send' }));
    expect(full.all()).toEqual([letter('a', { way: 'send' })]);
    const odd = shelf();
    odd.setItem('letter x', '{');
    odd.setItem('drafts', '[]');
    expect(new Letters(odd).all()).toEqual([]);
  });
});
