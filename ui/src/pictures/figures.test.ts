// Days, models and sums: each day has its place, each dollar one series.
import { describe, expect, it } from 'vitest';
import type { Spent } from '../api/types';
import { cacheShare, columnsOf, costSeries, daysOf, modelName, stepLabel, suggestion, sumsOf, tokenSeries, unitFor, type WaitedFor } from './figures';

const NOW = Date.parse('2026-03-14T12:00:00Z');

function spent(day: string, model: string, cost: number, more: Partial<Spent> = {}): Spent {
  return {
    day,
    model,
    cost_usd: cost,
    turns: 1,
    input_tokens: 10,
    output_tokens: 20,
    cache_read_tokens: 80,
    cache_creation_tokens: 10,
    ...more,
  };
}

describe('days', () => {
  it('are all there, also over the end of a month', () => {
    const days = daysOf('14', NOW);
    expect(days).toHaveLength(14);
    expect([days[0], days.at(-1)]).toEqual(['2026-03-01', '2026-03-14']);
  });
  it('become weeks where there are many, each day in one', () => {
    const days = daysOf('90', NOW);
    const weeks = columnsOf(days);
    expect(weeks).toHaveLength(13);
    expect(weeks.flatMap((one) => one.days)).toEqual(days);
    expect(columnsOf(daysOf('14', NOW)).map((one) => one.days.length)).toEqual(Array(14).fill(1));
  });
});

describe('models', () => {
  it('have the names that people use', () => {
    expect(modelName('claude-sonnet-4-5-20250929')).toBe('Sonnet 4.5');
    expect(modelName('claude-opus-4-20250514')).toBe('Opus 4');
    expect(modelName('claude-3-5-haiku-20241022')).toBe('Haiku 3.5');
    expect(modelName('claude-haiku-4-5')).toBe('Haiku 4.5');
    expect(modelName('gpt-of-somebody')).toBe('gpt-of-somebody');
  });
  it('come dearest first, and the many small ones as one', () => {
    const all = ['a', 'b', 'c', 'd', 'e'].map((model, n) => spent('2026-03-14', model, n + 1));
    const series = costSeries(all, columnsOf(daysOf('7', NOW)));
    expect(series.map((one) => one.name)).toEqual(['e', 'd', 'c', 'Others']);
    const sum = series.reduce((so, one) => so + one.values.reduce((a, b) => a + b, 0), 0);
    expect(sum).toBeCloseTo(15);
    expect(series.at(-1)?.values.at(-1)).toBeCloseTo(3);
  });
  it('that cost nothing are not in the picture', () => {
    expect(costSeries([spent('2026-03-14', 'free', 0)], columnsOf(daysOf('7', NOW)))).toEqual([]);
  });
});

describe('tokens', () => {
  it('from the cache are a share of what was sent', () => {
    expect(cacheShare([spent('2026-03-14', 'a', 1)])).toBeCloseTo(0.8);
    expect(cacheShare([])).toBeNull();
    const { share } = tokenSeries([spent('2026-03-14', 'a', 1)], columnsOf(daysOf('7', NOW)));
    expect(share).toEqual([null, null, null, null, null, null, 0.8]);
  });
});

describe('sums', () => {
  it('are held against the period before', () => {
    const days = daysOf('7', NOW);
    const all = [spent('2026-03-02', 'a', 2), spent('2026-03-10', 'a', 3)];
    expect(sumsOf(all, days)).toMatchObject({ cost: 3, turns: 1, change: 0.5 });
    expect(sumsOf(all.slice(1), days).change).toBeNull();
  });
});

describe('a suggested rule', () => {
  const waited = (more: Partial<WaitedFor>): WaitedFor => ({
    what: 'Bash(make:*)',
    kind: 'tool',
    tool: 'Bash',
    is_rule: true,
    asked: 4,
    allowed: 4,
    denied: 0,
    waited: 1,
    longest: 1,
    ...more,
  });
  it('needs a yes every time, and a rule', () => {
    expect(suggestion([waited({ denied: 1, allowed: 3 }), waited({ what: 'Edit(a)' })])?.what).toBe('Edit(a)');
    expect(suggestion([waited({ is_rule: false }), waited({ asked: 2, allowed: 2 }), waited({ kind: 'plan' })])).toBeNull();
  });
});

describe('units', () => {
  it('are those in which a person would count', () => {
    expect([30e6, 600e6, 9_000e6].map((most) => unitFor(most).name)).toEqual(['s', 'm', 'h']);
  });
});

describe('steps of speed', () => {
  it('say up to when', () => {
    expect([10_000_000, 30_000_000, 300_000_000, null].map(stepLabel)).toEqual(['< 10 s', '30 s', '5 m', 'more']);
  });
});
