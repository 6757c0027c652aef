// A time axis on which idle stretches are folded, so that ten busy minutes of a long day can be seen. Pure; milliseconds.
// Rules: what happened is never folded; each fold is as wide as any other, and says how long it is.

export interface Span {
  from: number;
  to: number;
}
export interface Fold extends Span {
  x: number;
  w: number;
}
export interface TimeScale {
  x: (at: number) => number;
  folds: Fold[];
  ticks: { x: number; at: number }[];
  /** How far apart the ticks are. */
  step: number;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const STEPS = [
  ...[1, 2, 5, 10, 15, 30].map((n) => n * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * MINUTE),
  ...[1, 2, 3, 6, 12].map((n) => n * HOUR),
  DAY,
  7 * DAY,
];
const FOLD = 34;
const TICK = 84;

/** Stretches that overlap or touch, as one. In order. */
export function union(spans: readonly Span[]): Span[] {
  const sorted = spans.filter((one) => one.to >= one.from).sort((a, b) => a.from - b.from);
  const merged: Span[] = [];
  for (const one of sorted) {
    const last = merged.at(-1);
    if (last && one.from <= last.to) last.to = Math.max(last.to, one.to);
    else merged.push({ from: one.from, to: one.to });
  }
  return merged;
}

/** What of `whole` none of these covers. */
export function without(whole: Span, taken: readonly Span[]): Span[] {
  const left: Span[] = [];
  let at = whole.from;
  for (const one of union(taken)) {
    if (one.to <= at || one.from >= whole.to) continue;
    if (one.from > at) left.push({ from: at, to: one.from });
    at = Math.max(at, one.to);
  }
  if (at < whole.to) left.push({ from: at, to: whole.to });
  return left;
}

/** Stretches without anything that are long beside what happened. */
function idle(busy: readonly Span[]): Span[] {
  const active = busy.reduce((sum, one) => sum + one.to - one.from, 0);
  const long = Math.max(30 * SECOND, active * 0.2);
  return busy.slice(1).flatMap((one, n) => {
    const from = busy[n]?.to ?? one.from;
    return one.from - from > long ? [{ from, to: one.from }] : [];
  });
}

/** The axis over everything that happened, `left` and `right` in pixels. `offset`: minutes that the reader's clock is ahead of UTC. */
export function timeScale(happened: readonly Span[], left: number, right: number, offset = 0): TimeScale {
  const busy = union(happened);
  const from = busy[0]?.from ?? 0;
  const to = Math.max(from + SECOND, busy.at(-1)?.to ?? 0);
  const gaps = idle(busy);
  const room = Math.max(1, right - left - gaps.length * FOLD);
  const kept = to - from - gaps.reduce((sum, one) => sum + one.to - one.from, 0);
  const perPixel = Math.max(kept, 1) / room;
  const x = (at: number): number => {
    let time = Math.min(at, to) - from;
    let pixels = left;
    for (const gap of gaps) {
      if (at <= gap.from) break;
      const inside = Math.min(at, gap.to) - gap.from;
      time -= inside;
      pixels += (inside / (gap.to - gap.from)) * FOLD;
    }
    return pixels + Math.max(0, time) / perPixel;
  };
  const step = STEPS.find((one) => one / perPixel >= TICK) ?? 7 * DAY;
  const folds = gaps.map((gap) => ({ ...gap, x: x(gap.from), w: FOLD }));
  return { x, folds, step, ticks: ticksOf(from, to, gaps, step, x, offset) };
}

function ticksOf(from: number, to: number, gaps: Span[], step: number, x: (at: number) => number, offset: number) {
  const found: { x: number; at: number }[] = [];
  const ahead = offset * MINUTE;
  const parts = without({ from, to }, gaps);
  for (const part of parts) {
    for (let at = Math.ceil((part.from + ahead) / step) * step - ahead; at <= part.to; at += step) {
      const place = x(at);
      const last = found.at(-1);
      if (!last || place - last.x >= TICK * 0.7) found.push({ x: place, at });
    }
    // A part that no round time falls into is named by its beginning.
    const has = found.some((one) => one.at >= part.from && one.at <= part.to);
    const last = found.at(-1);
    const place = x(part.from);
    if (!has && (!last || place - last.x >= TICK * 0.7)) found.push({ x: place, at: part.from });
  }
  return found;
}
