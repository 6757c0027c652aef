// What the window must always hold: order, bounds, and no change told twice.
import { describe, expect, it } from 'vitest';
import type { Changes, Entry, TranscriptPage } from '../../api/types';
import * as w from './window';

function text(seq: number, words = `t${seq}`): Entry {
  const id = `1-${seq}`;
  return {
    id, first: id, last: id, at: seq, life: 'open',
    body: { kind: 'text', is: { text: { text: words, length: words.length }, is_partial: true, is_aborted: false } },
  };
}
const put = (seq: number, cursor = seq): Changes => ({ cursor: `1-${cursor}`, entries: [{ put: text(seq) }], totals: false });
const grow = (seq: number, cursor: number, more: string): Changes => ({
  cursor: `1-${cursor}`, entries: [{ grow: { id: `1-${seq}`, last: `1-${cursor}`, text: more, length: 99 } }], totals: false,
});
/** A server with entries 1..total that answers `before` as the real one does. */
function server(total: number) {
  return (before: string | null, most = w.PAGE): TranscriptPage => {
    const [, seq, nth] = /^1-(\d+)(\.\d+)?$/.exec(before ?? `1-${total}.1`) ?? [];
    const end = Math.min(total, Number(seq) - (nth ? 0 : 1));
    const begin = Math.max(1, end - most + 1);
    const items = Array.from({ length: Math.max(0, end - begin + 1) }, (_, at) => text(begin + at));
    return { items, more: begin > 1, cursor: `1-${total}` };
  };
}
const ids = (window: w.Window) => w.entriesOf(window).map((entry) => Number(entry.id.slice(2)));
const said = (window: w.Window, seq: number) => {
  const entry = w.entriesOf(window).find((one) => one.id === `1-${seq}`);
  return entry?.body.kind === 'text' ? entry.body.is.text.text : undefined;
};
const isRun = (numbers: number[]) => numbers.every((n, at) => at === 0 || n === (numbers[at - 1] ?? 0) + 1);

describe('a window of a transcript', () => {
  it('puts new entries behind, and lets text grow', () => {
    let window = w.openAt(server(3)(null));
    window = w.takeAll(window, [put(4), grow(4, 5, ' and more'), grow(4, 6, '.')]);
    expect(ids(window)).toEqual([1, 2, 3, 4]);
    expect(said(window, 4)).toBe('t4 and more.');
  });

  it('takes no event that a page has told already', () => {
    const page = server(3)(null);
    const window = w.takeAll(w.openAt(page), [grow(3, 2, 'again'), grow(3, 3, 'again')]);
    expect(said(window, 3)).toBe('t3');
  });

  it('does not let an older page be changed by events the page already holds', () => {
    let window = w.openAt({ items: [text(50)], more: true, cursor: '1-50' });
    // The older page is read later, at 60; the stream is still at 50.
    window = w.takeAbove(window, { items: [text(49, 'whole')], more: false, cursor: '1-60' });
    window = w.takeAll(window, [grow(49, 55, ' twice'), grow(49, 61, ' once')]);
    expect(said(window, 49)).toBe('whole once');
  });

  it('takes several changes of one record to one entry', () => {
    let window = w.openAt(server(1)(null));
    const changes: Changes = { cursor: '1-7', totals: false, entries: [...put(7).entries, ...grow(7, 7, '!').entries] };
    window = w.take(window, changes);
    expect(said(window, 7)).toBe('t7!');
    window = w.take(window, { cursor: '1-8', totals: false, entries: [...grow(7, 8, '!').entries, ...grow(7, 8, '!').entries] });
    expect(said(window, 7)).toBe('t7!!!');
  });

  it('holds no more than the bound while new ones come, and says that there is more above', () => {
    let window = w.openAt(server(1)(null));
    for (let seq = 2; seq <= 2000; seq += 1) window = w.take(window, put(seq));
    expect(ids(window)).toHaveLength(w.HELD);
    expect(ids(window).at(-1)).toBe(2000);
    expect(w.askAbove(window)).toBe(`1-${2000 - w.HELD + 1}`);
  });

  it('scrolls up through a long session and down again without gaps, within the bound', () => {
    const read = server(5000);
    let window = w.openAt(read(null));
    for (let above = w.askAbove(window); above; above = w.askAbove(window)) {
      window = w.takeAbove(window, read(above));
      expect(ids(window).length).toBeLessThanOrEqual(w.HELD);
      expect(isRun(ids(window))).toBe(true);
    }
    expect(ids(window)[0]).toBe(1);
    expect(w.isAtNewest(window)).toBe(false);
    for (let steps = 0; !w.isAtNewest(window) && steps < 100; steps += 1) {
      const asked = w.askBelow(window);
      const next = w.takeBelow(window, read(asked), asked);
      expect(next).not.toBeNull();
      window = next ?? window;
      expect(ids(window).length).toBeLessThanOrEqual(w.HELD);
      expect(isRun(ids(window))).toBe(true);
    }
    expect(ids(window).at(-1)).toBe(5000);
  });

  it('counts what comes while the reader is far above, and finds it again', () => {
    let total = 1500;
    let window = w.openAt(server(total)(null));
    while (w.isAtNewest(window)) window = w.takeAbove(window, server(total)(w.askAbove(window)));
    for (; total < 1850; total += 1) window = w.take(window, put(total + 1));
    expect(window.added).toBe(350);
    for (let steps = 0; !w.isAtNewest(window) && steps < 50; steps += 1) {
      const asked = w.askBelow(window);
      window = w.takeBelow(window, server(total)(asked), asked) ?? window;
      expect(isRun(ids(window))).toBe(true);
    }
    expect(ids(window).at(-1)).toBe(1850);
  });

  it('opened in the middle, refuses a page that would leave a gap', () => {
    const read = server(3000);
    const window = w.openAround(w.openAt(read(null)), read('1-1000'));
    expect(w.isAtNewest(window)).toBe(false);
    expect(w.takeBelow(window, read(null), null)).toBeNull();
    const next = w.takeBelow(window, read('1-1050'), '1-1050');
    expect(next && isRun(ids(next))).toBe(true);
    expect(next && ids(next).at(-1)).toBe(1049);
  });
});
