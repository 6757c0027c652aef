// The virtual list of the feed: which rows are drawn, and where the reader is. Rules: pinned to the end only if the reader is at the
// end; whatever changes above or below, what is read stays where it is; the scroll handler reads the scroll position and nothing else.
import { Heights, type Range } from './model/heights';

/** Nearer than this to the end counts as at the end. */
const NEAR = 24;

export class Scroller {
  /** Rows to draw, and the heights of what is not. */
  range = $state.raw<Range>({ from: 0, to: 0, above: 0, below: 0 });
  isPinned = $state(true);
  #heights = new Heights();
  #keys: readonly string[] = [];
  #box: HTMLElement | null = null;
  #list: HTMLElement | null = null;
  #sizes: ResizeObserver | null = null;
  #top = 0;
  #view = 600;
  #anchor: { key: string; offset: number } | null = null;
  #onEdge: (edge: 'top' | 'bottom') => void;
  #mayPin: () => boolean;

  /** `mayPin`: the end of the list is the end of the conversation. */
  constructor(onEdge: (edge: 'top' | 'bottom') => void, mayPin: () => boolean) {
    this.#onEdge = onEdge;
    this.#mayPin = mayPin;
  }

  /** Attaches to the box that scrolls; rows are the children of `list` that have a `data-key`. */
  attach(box: HTMLElement, list: HTMLElement): () => void {
    this.#box = box;
    this.#list = list;
    this.#view = box.clientHeight || 600;
    this.#heights.width(list.clientWidth);
    this.#sizes = new ResizeObserver((seen) => this.#resized(seen));
    this.#sizes.observe(box);
    box.addEventListener('scroll', this.#scrolled, { passive: true });
    this.#draw();
    return () => {
      box.removeEventListener('scroll', this.#scrolled);
      this.#sizes?.disconnect();
      this.#box = this.#list = this.#sizes = null;
    };
  }

  /** Other rows. */
  rows(keys: readonly string[]): void {
    this.#keys = keys;
    this.#draw();
  }

  /** After the rows have been drawn: measures those that are new and keeps the reader's place. */
  drawn(): void {
    this.#measure();
    this.#keepPlace();
  }

  toEnd(): void {
    this.isPinned = true;
    this.#anchor = null;
    this.#draw();
    this.#keepPlace();
  }

  /** Brings a row to the upper third of the box. */
  toRow(key: string): boolean {
    const at = this.#keys.indexOf(key);
    if (at < 0) return false;
    this.isPinned = false;
    this.#anchor = { key, offset: -this.#view / 4 };
    this.#top = Math.max(0, this.#heights.top(this.#keys, at) - this.#view / 4);
    this.#draw();
    return true;
  }

  #scrolled = (): void => {
    const box = this.#box;
    if (!box) return;
    const top = box.scrollTop;
    const isUp = top < this.#top - 1;
    this.#top = top;
    // The box may have another height since it was last looked at: then it was not the reader who scrolled.
    const isEnd = box.scrollHeight - top - box.clientHeight < NEAR;
    if (isEnd && this.#mayPin()) this.isPinned = true;
    else if (isUp) this.isPinned = false;
    this.#anchor = this.isPinned ? null : this.#placeAt(top);
    this.#draw();
  };

  /** The first row that is seen, and how far it is scrolled. */
  #placeAt(top: number): { key: string; offset: number } | null {
    const { from, above } = this.#heights.range(this.#keys, top, top + 1);
    const key = this.#keys[from];
    return key === undefined ? null : { key, offset: top - above };
  }

  /** Which rows are near the screen: one screen around it. */
  #draw(): void {
    const total = this.#heights.top(this.#keys, this.#keys.length);
    const top = this.isPinned ? Math.max(0, total - this.#view) : this.#top;
    const next = this.#heights.range(this.#keys, top - this.#view, top + 2 * this.#view);
    const { from, to, above, below } = this.range;
    if (next.from !== from || next.to !== to || next.above !== above || next.below !== below) this.range = next;
    if (top < this.#view * 1.5) this.#onEdge('top');
    if (total - top - this.#view < this.#view * 1.5) this.#onEdge('bottom');
  }

  #measure(): void {
    if (!this.#list || !this.#sizes) return;
    let isOther = false;
    for (const row of this.#list.children) {
      const key = row instanceof HTMLElement ? row.dataset['key'] : undefined;
      if (key === undefined) continue;
      this.#sizes.observe(row);
      if (this.#heights.has(key)) continue;
      isOther = this.#heights.set(key, (row as HTMLElement).offsetHeight) || isOther;
    }
    if (isOther) this.#draw();
  }

  #resized(seen: ResizeObserverEntry[]): void {
    let isOther = false;
    for (const { target, borderBoxSize, contentRect } of seen) {
      if (target === this.#box) {
        this.#view = contentRect.height;
        isOther = this.#heights.width(this.#list?.clientWidth ?? 0) || isOther;
        isOther = true;
        continue;
      }
      const key = (target as HTMLElement).dataset['key'];
      // A row that has left the list is not measured: it would be nothing high.
      if (key === undefined || !target.isConnected) {
        this.#sizes?.unobserve(target);
        continue;
      }
      const height = borderBoxSize[0]?.blockSize ?? contentRect.height;
      isOther = this.#heights.set(key, height) || isOther;
    }
    if (!isOther) return;
    this.#draw();
    this.#keepPlace();
  }

  #keepPlace(): void {
    const box = this.#box;
    if (!box) return;
    if (this.isPinned) {
      const end = box.scrollHeight - box.clientHeight;
      if (Math.abs(box.scrollTop - end) > 0.5) box.scrollTop = end;
      this.#top = box.scrollTop;
      return;
    }
    if (!this.#anchor) return;
    const at = this.#keys.indexOf(this.#anchor.key);
    if (at < 0) return;
    const want = Math.max(0, this.#heights.top(this.#keys, at) + this.#anchor.offset);
    if (Math.abs(box.scrollTop - want) > 0.5) {
      box.scrollTop = want;
      this.#top = box.scrollTop;
    }
  }
}
