// The virtual list of the feed: which rows are drawn, and where the reader is. Rules: pinned to the end only if the reader is at the
// end; whatever changes above or below, what is read stays where it is; the scroll handler reads the scroll position and nothing else.
import { Heights, type Range } from './model/heights';

/** Nearer than this to the end counts as at the end. */
const NEAR = 24;
/** Screens that are drawn above and below the one that is seen: little at first, more with each frame, so that no frame has to draw all. */
const LITTLE = 0.1;
const MORE = 0.3;
const ENOUGH = 1;
/** Rows by which the reader's place is known. Several: a row of reads gets another name when more of them come above it. */
const ANCHORS = 3;
/** What the reader does to scroll, and for how long a movement of the box may come from it. */
const HANDS = ['wheel', 'touchmove', 'keydown', 'pointerdown'] as const;
const HAND = 1000;
const SCROLL_KEYS = new Set(['ArrowUp', 'ArrowDown', 'PageUp', 'PageDown', 'Home', 'End', 'Tab']);

/** A row, and how far the box is scrolled beyond its beginning. */
interface Anchor {
  key: string;
  offset: number;
}

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
  /** How far the box could be scrolled when it was last put in its place. */
  #extent = 0;
  #touched = -HAND;
  #view = 600;
  #anchors: Anchor[] = [];
  #around = LITTLE;
  #isGrowing = false;
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
    // What stands in it beside the rows, such as a question without its call, makes it longer as well.
    this.#sizes.observe(list);
    box.addEventListener('scroll', this.#scrolled, { passive: true });
    for (const hand of HANDS) box.addEventListener(hand, this.#byHand, { passive: true });
    this.#draw();
    return () => {
      box.removeEventListener('scroll', this.#scrolled);
      for (const hand of HANDS) box.removeEventListener(hand, this.#byHand);
      this.#sizes?.disconnect();
      this.#box = this.#list = this.#sizes = null;
    };
  }

  /** Other rows. */
  rows(keys: readonly string[]): void {
    const { from } = this.range;
    const at = keys.indexOf(this.#keys[from] ?? '');
    this.#keys = keys;
    this.#draw(at < 0 ? 0 : at - from);
  }

  /** After the rows have been drawn: measures those that are new and keeps the reader's place. */
  drawn(): void {
    this.#measure();
    this.#keepPlace();
  }

  toEnd(): void {
    this.isPinned = true;
    this.#anchors = [];
    this.#draw();
    this.#keepPlace();
  }

  /** Brings a row to the upper third of the box. */
  toRow(key: string): boolean {
    const at = this.#keys.indexOf(key);
    if (at < 0) return false;
    this.isPinned = false;
    this.#anchors = [{ key, offset: -this.#view / 4 }];
    this.#draw();
    this.#keepPlace();
    return true;
  }

  #byHand = (event: Event): void => {
    // A click on an answer, and the key of one, make the list shorter or longer: that is not scrolling. A press on the box itself is
    // one on its scroll bar.
    if (event.type === 'pointerdown' && event.target !== this.#box) return;
    if (event instanceof KeyboardEvent && !SCROLL_KEYS.has(event.key) && !(event.key === ' ' && event.target === this.#box)) return;
    this.#touched = performance.now();
  };

  #scrolled = (): void => {
    const box = this.#box;
    if (!box) return;
    const top = box.scrollTop;
    const extent = box.scrollHeight - box.clientHeight;
    // A list that got shorter, or a box that got higher, moves by itself: that was not the reader.
    const isMoved = this.isPinned && Math.abs(extent - this.#extent) > 0.5 && performance.now() - this.#touched > HAND;
    if (isMoved) return this.#keepPlace();
    const isUp = top < this.#top - 1;
    this.#top = top;
    // The box may have another height since it was last looked at: then it was not the reader who scrolled.
    const isEnd = box.scrollHeight - top - box.clientHeight < NEAR;
    if (isEnd && this.#mayPin()) this.isPinned = true;
    else if (isUp) this.isPinned = false;
    this.#anchors = this.isPinned ? [] : this.#placeAt(top);
    this.#draw();
  };

  /** The first rows that are seen, and how far they are scrolled. */
  #placeAt(top: number): Anchor[] {
    const { from, above } = this.#heights.range(this.#keys, top, top + 1);
    let offset = top - above;
    return this.#keys.slice(from, from + ANCHORS).map((key) => {
      const anchor = { key, offset };
      offset -= this.#heights.of(key);
      return anchor;
    });
  }

  /** Which rows are near the screen. `moved`: those that are drawn stand so much further down in the list by now. */
  #draw(moved = 0): void {
    const total = this.#heights.top(this.#keys, this.#keys.length);
    // What is read stays where it is: rows that came or were measured above have moved it, and the box follows once they are drawn.
    this.#top = this.#wanted() ?? this.#top;
    const top = this.isPinned ? Math.max(0, total - this.#view) : this.#top;
    const { from, to, above, below } = this.range;
    const seen = this.#heights.range(this.#keys, top, top + this.#view);
    // Somewhere else altogether: all of it is to be made.
    if (seen.to > seen.from && (seen.to <= from + moved || seen.from >= to + moved)) this.#around = LITTLE;
    const around = this.#view * this.#around;
    const next = this.#heights.range(this.#keys, top - around, top + this.#view + around);
    if (this.#around < ENOUGH) this.#grow();
    if (next.from !== from || next.to !== to || next.above !== above || next.below !== below) this.range = next;
    if (top < this.#view * 1.5) this.#onEdge('top');
    if (total - top - this.#view < this.#view * 1.5) this.#onEdge('bottom');
  }

  /** Draws more of what is around, once what is there has been painted. */
  #grow(): void {
    if (this.#isGrowing || !this.#box) return;
    this.#isGrowing = true;
    requestAnimationFrame(() =>
      setTimeout(() => {
        this.#isGrowing = false;
        this.#around = Math.min(ENOUGH, this.#around + MORE);
        if (this.#box) this.#draw();
      }),
    );
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
      if (target === this.#list) {
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
      this.#extent = end;
      if (Math.abs(box.scrollTop - end) > 0.5) box.scrollTop = end;
      this.#top = box.scrollTop;
      return;
    }
    const want = this.#wanted();
    if (want === null) return;
    if (Math.abs(box.scrollTop - want) > 0.5) {
      box.scrollTop = want;
      this.#top = box.scrollTop;
    }
  }

  /** Where the box must stand for the reader to see what they saw. None at the end, or where nothing of it is left. */
  #wanted(): number | null {
    if (this.isPinned) return null;
    for (const { key, offset } of this.#anchors) {
      const at = this.#keys.indexOf(key);
      if (at >= 0) return Math.max(0, this.#heights.top(this.#keys, at) + offset);
    }
    return null;
  }
}
