// Who reads at the end of a conversation stays there, whatever becomes longer or shorter; only the reader's own hand leads away.
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Scroller } from './scroller.svelte';

/** Heights of the box and of what is in it: jsdom has no layout. */
const VIEW = 400;
let height = 2000;
let observed: Set<Element>;
let resized: (target: Element) => void;
let box: HTMLElement;
let list: HTMLElement;
let scroller: Scroller;
let detach: () => void;

beforeEach(() => {
  observed = new Set();
  vi.stubGlobal('ResizeObserver', class {
    constructor(told: ResizeObserverCallback) {
      resized = (target) => {
        if (observed.has(target)) told([{ target, borderBoxSize: [], contentRect: { height: VIEW } } as unknown as ResizeObserverEntry], this as unknown as ResizeObserver);
      };
    }
    observe(target: Element) {
      observed.add(target);
    }
    unobserve() {}
    disconnect() {}
  });
  box = document.createElement('div');
  list = box.appendChild(document.createElement('div'));
  document.body.append(box);
  height = 2000;
  let top = 0;
  const most = () => height - VIEW;
  Object.defineProperties(box, {
    clientHeight: { get: () => VIEW },
    scrollHeight: { get: () => height },
    // As a browser does, it never stands beyond its end.
    scrollTop: { get: () => (top = Math.min(top, most())), set: (to: number) => (top = Math.max(0, Math.min(to, most()))) },
  });
  scroller = new Scroller(() => {}, () => true);
  detach = scroller.attach(box, list);
  scroller.toEnd();
  expect(box.scrollTop).toBe(1600);
});
afterEach(() => {
  detach();
  box.remove();
  vi.unstubAllGlobals();
});

/** A line gives way to a card: for a moment there is less in the box than before, and then more. The browser tells it once. */
function cardArrives(): void {
  height = 1500;
  void box.scrollTop;
  height = 1900;
  box.dispatchEvent(new Event('scroll'));
}
const isAtEnd = () => scroller.isPinned && box.scrollTop === height - VIEW;

it('a card that arrives does not lead away from the end', () => {
  cardArrives();
  expect(isAtEnd()).toBe(true);
});

it('what stands beside the rows and becomes longer is seen to its end', () => {
  height = 2300;
  resized(list);
  expect(isAtEnd()).toBe(true);
});

it('a click on an answer, and its key, are no scrolling', () => {
  const button = list.appendChild(document.createElement('button'));
  button.dispatchEvent(new Event('pointerdown', { bubbles: true }));
  button.dispatchEvent(new KeyboardEvent('keydown', { key: 'a', bubbles: true }));
  cardArrives();
  expect(isAtEnd()).toBe(true);
});

it.each([
  ['the wheel', () => new Event('wheel')],
  ['a finger', () => new Event('touchmove')],
  ['a key that scrolls', () => new KeyboardEvent('keydown', { key: 'PageUp' })],
  ['the scroll bar', () => new Event('pointerdown')],
])('%s leads away from the end', (_, hand) => {
  box.dispatchEvent(hand());
  box.scrollTop = 700;
  box.dispatchEvent(new Event('scroll'));
  expect(scroller.isPinned).toBe(false);
  height = 2300;
  resized(list);
  expect(box.scrollTop).toBeLessThan(1000);
});
