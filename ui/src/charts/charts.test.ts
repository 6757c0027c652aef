// Layouts of charts: what is seen, what is written, what lies on nothing else.
import { describe, expect, it } from 'vitest';
import { lanesLayout, packed, type Lane } from './lanes';
import { linePath } from './line';
import { thinned, ticks } from './scale';
import { stackLayout } from './stack';
import { timeScale, union, without } from './times';

const MINUTE = 60_000;

describe('an axis', () => {
  it('ends at a round number that is not below the largest value', () => {
    expect(ticks(15.4)).toEqual([0, 5, 10, 15, 20]);
    expect(ticks(0.031)).toEqual([0, 0.01, 0.02, 0.03, 0.04]);
    for (const max of [0.001, 0.7, 1, 3, 9.99, 10, 47, 999, 12345]) expect(ticks(max).at(-1)).toBeGreaterThanOrEqual(max);
  });
  it('counts in whole numbers where asked, and is there when there is nothing', () => {
    expect(ticks(3, 4, true)).toEqual([0, 1, 2, 3]);
    expect(ticks(0)).toEqual([0, 1]);
    expect(ticks(Number.NaN)).toEqual([0, 1]);
  });
  it('writes only the labels that have room, the last one always', () => {
    expect(thinned(4, 100, 20)).toEqual([true, true, true, true]);
    expect(thinned(5, 60, 20)).toEqual([true, false, true, false, true]);
  });
});

describe('columns', () => {
  const input = {
    labels: ['1', '2'],
    series: [
      { name: 'a', look: 'c1' as const, values: [10, 0] },
      { name: 'b', look: 'c2' as const, values: [5, 0.0001] },
    ],
    width: 300,
    height: 180,
    format: String,
  };
  const layout = stackLayout(input);
  it('stack their parts in the order of the series', () => {
    const [low, high] = layout.rects;
    expect(low?.y).toBeGreaterThan(high?.y ?? 0);
    expect((low?.y ?? 0) + (low?.h ?? 0)).toBeCloseTo(layout.bottom);
    expect((high?.y ?? 0) + (high?.h ?? 0)).toBeLessThan(low?.y ?? 0);
  });
  it('show whatever is not nothing', () => {
    expect(layout.rects).toHaveLength(3);
    for (const rect of layout.rects) expect(rect.h).toBeGreaterThan(0);
  });
  it('stay inside at every width', () => {
    for (const width of [60, 320, 1200]) {
      const wide = stackLayout({ ...input, labels: Array.from({ length: 90 }, (_, n) => `${n}`), width });
      for (const rect of wide.rects) expect(rect.x + rect.w).toBeLessThanOrEqual(Math.max(wide.right, width) + 2);
    }
  });
});

describe('a line', () => {
  it('has a gap where nothing is known', () => {
    const columns = [0, 10, 20].map((x) => ({ x, w: 10 }));
    const { path, points } = linePath([1, null, 0], columns, 0, 100);
    expect(path).toBe('M5.0 0.0M25.0 100.0');
    expect(points.map((one) => one.at)).toEqual([0, 2]);
  });
});

describe('time', () => {
  it('joins what touches and finds what is left', () => {
    const joined = union([
      { from: 5, to: 7 },
      { from: 0, to: 2 },
      { from: 2, to: 3 },
    ]);
    expect(joined).toEqual([
      { from: 0, to: 3 },
      { from: 5, to: 7 },
    ]);
    expect(without({ from: 0, to: 10 }, joined)).toEqual([
      { from: 3, to: 5 },
      { from: 7, to: 10 },
    ]);
  });
  it('folds a night between two busy minutes, and nothing that happened', () => {
    const night = [
      { from: 0, to: MINUTE },
      { from: 600 * MINUTE, to: 601 * MINUTE },
    ];
    const scale = timeScale(night, 100, 1100);
    expect(scale.folds).toHaveLength(1);
    expect(scale.x(MINUTE) - scale.x(0)).toBeCloseTo(scale.x(601 * MINUTE) - scale.x(600 * MINUTE), 3);
    expect(scale.x(0)).toBe(100);
    expect(scale.x(601 * MINUTE)).toBeCloseTo(1100);
    for (const tick of scale.ticks) expect(tick.at > MINUTE && tick.at < 600 * MINUTE).toBe(false);
  });
  it('always goes forward, also through a fold', () => {
    const scale = timeScale([{ from: 0, to: 5000 }, { from: 900_000, to: 909_000 }], 0, 500);
    let last = -1;
    for (let at = 0; at <= 909_000; at += 3000) {
      expect(scale.x(at)).toBeGreaterThan(last);
      last = scale.x(at);
    }
  });
  it('leaves room between two ticks', () => {
    const scale = timeScale([{ from: 0, to: 42 * MINUTE }], 118, 1128);
    const places = scale.ticks.map((one) => one.x);
    expect(places.length).toBeGreaterThan(3);
    places.slice(1).forEach((x, n) => expect(x - (places[n] ?? 0)).toBeGreaterThan(50));
  });
});

describe('lanes', () => {
  const bar = (from: number, to: number, label?: string) => ({ from, to, look: 'c1' as const, words: `${from}`, ...(label ? { label } : {}) });
  it('put bars that overlap below one another', () => {
    expect(packed([bar(0, 10), bar(5, 20), bar(10, 12), bar(11, 13)])).toEqual([0, 1, 0, 2]);
  });
  it('draw thousands of short bars as few', () => {
    const bars = Array.from({ length: 5000 }, (_, n) => bar(n * 100, n * 100 + 60));
    const [lane] = lanesLayout([{ name: 'Tools', bars }], 800, 100).lanes;
    expect(lane?.bars.length).toBeLessThan(700);
    expect(lane?.bars.reduce((sum, one) => sum + one.count, 0)).toBe(5000);
  });
  it('show the shortest bar, also at the very end', () => {
    const layout = lanesLayout([{ name: 'Tools', bars: [bar(0, MINUTE), bar(MINUTE, MINUTE)] }], 800, 100);
    for (const one of layout.lanes[0]?.bars ?? []) {
      expect(one.w).toBeGreaterThanOrEqual(2);
      expect(one.x + one.w).toBeLessThanOrEqual(800);
    }
  });
  it('write a label to the left where the right is taken, and not at all where nothing is free', () => {
    const lane: Lane = { name: 'Waiting', bars: [bar(0, 1000, 'first'), bar(2000, 3000, 'second'), bar(50_000, 60_000, 'at the end')] };
    const drawn = lanesLayout([{ name: 'Turns', bars: [bar(0, 60_000)] }, lane], 700, 100).lanes[1]?.bars ?? [];
    expect(drawn.map((one) => one.label?.anchor)).toEqual([undefined, 'start', 'end']);
    const full: Lane = { name: 'Waiting', bars: [bar(0, 2000), bar(2500, 60_000, 'on the bar')] };
    expect(lanesLayout([full], 700, 100).lanes[0]?.bars[1]?.label?.isIn).toBe(true);
  });
});
