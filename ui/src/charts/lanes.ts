// Bars in lanes over time, laid out in pixels. Pure. Rules: every bar is seen, however short; bars of one look that would touch are drawn
// as one, so that a long session costs no more than the width of the screen; a label never lies on another bar.
import type { Look } from './scale';
import { timeScale, type Span, type TimeScale } from './times';

export interface LaneBar extends Span {
  look: Look;
  /** What it is, for who points at it and for the table. */
  words: string;
  /** Written in or beside it, where there is room. */
  label?: string;
  href?: string;
}
export interface Lane {
  name: string;
  bars: LaneBar[];
  /** Bars that overlap lie below one another, in thin rows. */
  isPacked?: boolean;
  /** Labels stand inside the bars; else beside them. */
  isInside?: boolean;
}
export interface Drawn {
  key: string;
  x: number;
  y: number;
  w: number;
  h: number;
  look: Look;
  words: string;
  href: string | undefined;
  /** How many bars are drawn as this one. */
  count: number;
  label: { x: number; anchor: 'start' | 'end'; text: string; isIn: boolean } | undefined;
}
export interface LanesLayout {
  scale: TimeScale;
  left: number;
  right: number;
  height: number;
  bottom: number;
  lanes: { name: string; top: number; height: number; bars: Drawn[] }[];
}

const TOP = 8;
const FOOT = 24;
const BAR = 16;
const THIN = 5;
const ROWS = 4;
const LEAST = 2;
const LETTER = 6.3;
const EDGE = 8;

/** `offset`: minutes that the reader's clock is ahead of UTC. `head`: room above the bars of each lane, for its name. */
export function lanesLayout(lanes: readonly Lane[], width: number, left: number, how: { offset?: number; head?: number } = {}): LanesLayout {
  const { offset = 0, head = 0 } = how;
  const right = Math.max(left + 40, width - EDGE);
  const scale = timeScale(
    lanes.flatMap((lane) => lane.bars),
    left,
    right,
    offset,
  );
  let top = TOP;
  const placed = lanes.map((lane) => {
    const rows = lane.isPacked ? packed(lane.bars) : lane.bars.map(() => 0);
    const deep = Math.min(ROWS, Math.max(0, ...rows) + 1);
    const height = lane.isPacked ? Math.max(36, deep * (THIN + 3) + 16) : 36;
    const bars = draw(lane, rows, scale, { top: top + head, height, deep, left, right });
    const found = { name: lane.name, top, height: height + head, bars };
    top += height + head;
    return found;
  });
  return { scale, left, right, bottom: top, height: top + FOOT, lanes: placed };
}

/** The row of each bar: the first one that is free when it begins; beyond the last, the last. */
export function packed(bars: readonly Span[]): number[] {
  const ends: number[] = [];
  const order = bars.map((bar, n) => ({ bar, n })).sort((a, b) => a.bar.from - b.bar.from);
  const rows: number[] = bars.map(() => 0);
  for (const { bar, n } of order) {
    const free = ends.findIndex((end) => end <= bar.from);
    const row = free >= 0 ? free : Math.min(ends.length, ROWS - 1);
    ends[row] = Math.max(ends[row] ?? 0, bar.to);
    rows[n] = row;
  }
  return rows;
}

interface Place {
  top: number;
  height: number;
  deep: number;
  left: number;
  right: number;
}

function draw(lane: Lane, rows: number[], scale: TimeScale, place: Place): Drawn[] {
  const { top, height, deep, left, right } = place;
  const drawn: Drawn[] = [];
  const lastOf = new Map<string, Drawn>();
  const order = lane.bars.map((bar, n) => ({ bar, row: rows[n] ?? 0, n })).sort((a, b) => a.bar.from - b.bar.from);
  for (const { bar, row, n } of order) {
    const x = Math.min(scale.x(bar.from), right - LEAST);
    const w = Math.max(LEAST, scale.x(bar.to) - x);
    const h = lane.isPacked ? THIN : lane.isInside ? BAR + 2 : BAR;
    const y = lane.isPacked ? top + (height - deep * (THIN + 3)) / 2 + row * (THIN + 3) : top + (height - h) / 2;
    const last = lastOf.get(`${bar.look}.${row}`);
    if (last && x - (last.x + last.w) < 0.75 && !lane.isInside) {
      last.w = Math.max(last.w, x + w - last.x);
      last.count += 1;
      last.words = `${last.count} together, the last: ${bar.words}`;
      last.label = undefined;
      continue;
    }
    const one: Drawn = { key: `${n}`, x, y, w, h, look: bar.look, words: bar.words, href: bar.href, count: 1, label: undefined };
    drawn.push(one);
    lastOf.set(`${bar.look}.${row}`, one);
  }
  label(lane, order.map((one) => one.bar), drawn, left, right);
  return drawn;
}

/** Puts labels where they lie on nothing else. */
function label(lane: Lane, bars: LaneBar[], drawn: Drawn[], left: number, right: number): void {
  const texts = new Map(bars.map((bar) => [bar.words, bar.label]));
  let taken = left;
  drawn.forEach((one, n) => {
    const text = one.count === 1 ? texts.get(one.words) : undefined;
    if (!text) {
      taken = Math.max(taken, one.x + one.w);
      return;
    }
    const long = text.length * LETTER;
    if (lane.isInside) {
      const short = text.split(',')[0] ?? text;
      const fits = [text, short, short.replace(/^\D+/, '')].find((words) => words && words.length * LETTER + 14 <= one.w);
      if (fits) one.label = { x: one.x + 8, anchor: 'start', text: fits, isIn: false };
      return;
    }
    const next = drawn[n + 1]?.x ?? right;
    if (one.x + one.w + 6 + long <= next) {
      one.label = { x: one.x + one.w + 6, anchor: 'start', text, isIn: false };
      taken = one.x + one.w + 6 + long;
    } else if (one.x - 6 - long >= taken) {
      one.label = { x: one.x - 6, anchor: 'end', text, isIn: false };
      taken = one.x + one.w;
    } else {
      taken = Math.max(taken, one.x + one.w);
      // On the bar itself, at the end that is nearest to now.
      if (long + 12 <= one.w) one.label = { x: one.x + one.w - 6, anchor: 'end', text, isIn: true };
    }
  });
}
