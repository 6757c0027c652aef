// What the figures of a period are, and how days and models become series. Pure. Rules: every day of the period has its place, also one
// on which nothing was spent; models keep the order of what they cost, and what comes after the third is one series.
import type { components } from '../api/schema';
import type { Spent } from '../api/types';
import { LOOKS, type Look } from '../charts/scale';
import type { Series } from '../charts/stack';

export type Insights = components['schemas']['Insights'];
export type WaitedFor = components['schemas']['WaitedFor'];

export type PeriodName = '1' | '7' | '14' | '90';
export const PERIODS: { value: PeriodName; label: string }[] = [
  { value: '1', label: 'Today' },
  { value: '7', label: '7 days' },
  { value: '14', label: '14 days' },
  { value: '90', label: '90 days' },
];

const DAY = 86_400_000;
const SHORT = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });

/** The day of a moment in UTC, as the server counts: `2026-01-31`. */
export const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** The days of a period that ends now, oldest first. */
export function daysOf(period: PeriodName, now: number): string[] {
  const count = Number(period);
  return Array.from({ length: count }, (_, n) => dayOf(now - (count - 1 - n) * DAY));
}

/** When a period begins: its first day, from midnight in UTC. Milliseconds. */
export const beginOf = (period: PeriodName, now: number): number => Date.parse(`${daysOf(period, now)[0]}T00:00:00Z`);

export const shortDay = (day: string): string => SHORT.format(Date.parse(`${day}T00:00:00Z`));

/** Days as columns: each alone, or where there are many, weeks that end today. */
export function columnsOf(days: readonly string[]): { label: string; title: string; days: string[] }[] {
  if (days.length <= 31) {
    return days.map((day) => ({ label: shortDay(day), title: shortDay(day), days: [day] }));
  }
  const weeks: string[][] = [];
  for (let end = days.length; end > 0; end -= 7) weeks.unshift(days.slice(Math.max(0, end - 7), end));
  return weeks.map((week) => {
    const from = shortDay(week[0] ?? '');
    return { label: from, title: `${from} to ${shortDay(week.at(-1) ?? '')}`, days: week };
  });
}

/** `claude-sonnet-4-5-20250929` as people say it: `Sonnet 4.5`. */
export function modelName(model: string): string {
  const found = /^(?:[a-z]+\.)*(?:anthropic[./])?claude-(?:(\d+)(?:-(\d{1,2}))?-)?([a-z]+)(?:-(\d{1,2}))?(?:-(\d{1,2}))?(?=$|[-@[:])/.exec(model);
  if (!found) return model === '' || model === 'others' ? 'Others' : model;
  const [, oldMajor, oldMinor, family = '', major, minor] = found;
  const version = [major ?? oldMajor, major ? minor : oldMinor].filter((part) => part !== undefined).join('.');
  const name = family.charAt(0).toUpperCase() + family.slice(1);
  return version ? `${name} ${version}` : name;
}

/** What was spent in each column, by model, dearest model first. */
export function costSeries(spent: readonly Spent[], columns: readonly { days: string[] }[]): Series[] {
  const byModel = new Map<string, { sum: number; byDay: Map<string, number> }>();
  for (const one of spent) {
    const name = modelName(one.model);
    const kept = byModel.get(name) ?? { sum: 0, byDay: new Map<string, number>() };
    kept.sum += one.cost_usd;
    kept.byDay.set(one.day, (kept.byDay.get(one.day) ?? 0) + one.cost_usd);
    byModel.set(name, kept);
  }
  const order = [...byModel].filter(([, kept]) => kept.sum > 0).sort((a, b) => b[1].sum - a[1].sum);
  const valuesOf = (some: typeof order) =>
    columns.map((column) => total(some, (one) => total(column.days, (day) => one[1].byDay.get(day) ?? 0)));
  const named = order.length > 4 ? order.slice(0, 3) : order.slice(0, 4);
  const rest = order.slice(named.length);
  const series = named.map((one, n) => ({ name: one[0], look: lookOf(n), values: valuesOf([one]) }));
  if (rest.length > 0) series.push({ name: 'Others', look: 'rest', values: valuesOf(rest) });
  return series;
}

const lookOf = (n: number): Look => LOOKS[Math.min(n, LOOKS.length - 1)] ?? 'rest';

function total<T>(some: readonly T[], value: (one: T) => number): number {
  return some.reduce((sum, one) => sum + value(one), 0);
}

export interface TokenColumns {
  series: Series[];
  /** How much of what was sent came from the cache, 0 to 1; null where nothing was sent. */
  share: (number | null)[];
}

/** Tokens of each column by where they went, and the share of the cache. */
export function tokenSeries(spent: readonly Spent[], columns: readonly { days: string[] }[]): TokenColumns {
  const inColumn = columns.map((column) => spent.filter((one) => column.days.includes(one.day)));
  const values = (of: (one: Spent) => number) => inColumn.map((some) => total(some, of));
  return {
    series: [
      { name: 'From cache', look: 'c3', values: values((one) => one.cache_read_tokens) },
      { name: 'Into cache', look: 'c2', values: values((one) => one.cache_creation_tokens) },
      { name: 'Sent', look: 'c1', values: values((one) => one.input_tokens) },
      { name: 'Written', look: 'rest', values: values((one) => one.output_tokens) },
    ],
    share: inColumn.map(cacheShare),
  };
}

/** How much of what was sent came from the cache. */
export function cacheShare(spent: readonly Spent[]): number | null {
  const read = total(spent, (one) => one.cache_read_tokens);
  const sent = read + total(spent, (one) => one.input_tokens + one.cache_creation_tokens);
  return sent > 0 ? read / sent : null;
}

export interface Sums {
  cost: number;
  turns: number;
  cache: number | null;
  /** Against the period before, as a share; null where there was none. */
  change: number | null;
}

/** The sums of a period, held against the one before it. `spent` reaches back over both. */
export function sumsOf(spent: readonly Spent[], days: readonly string[]): Sums {
  const first = days[0] ?? '';
  const now = spent.filter((one) => one.day >= first);
  const before = total(spent, (one) => (one.day < first ? one.cost_usd : 0));
  const cost = total(now, (one) => one.cost_usd);
  return {
    cost,
    turns: total(now, (one) => one.turns),
    cache: cacheShare(now),
    change: before > 0.005 ? (cost - before) / before : null,
  };
}

export const percent = (share: number): string => `${Math.round(share * 100)} %`;

/** The rule that would have saved most: asked often, and always answered with yes. */
export function suggestion(waits: readonly WaitedFor[]): WaitedFor | null {
  const fit = waits.filter((one) => one.is_rule && one.kind === 'tool' && one.asked >= 3 && one.allowed === one.asked);
  return fit[0] ?? null;
}

/** What a wait was for, in words where it is no rule. */
export function waitedFor(one: Pick<WaitedFor, 'kind' | 'what'>): { text: string; isCode: boolean } {
  switch (one.kind) {
    case 'plan':
      return { text: 'Plan reviews', isCode: false };
    case 'questions':
      return { text: 'Questions of the agent', isCode: false };
    case 'elicitation':
      return { text: `Forms of ${one.what}`, isCode: false };
    case 'dialog':
      return { text: 'Dialogs', isCode: false };
    default:
      return { text: one.what, isCode: true };
  }
}

/** The unit in which spans up to `most` microseconds are counted. */
export function unitFor(most: number): { micros: number; name: string } {
  if (most >= 7_200e6) return { micros: 3_600e6, name: 'h' };
  return most >= 120e6 ? { micros: 60e6, name: 'm' } : { micros: 1e6, name: 's' };
}

/** Below which wait a step of speed is, for its column: `< 10 s`, `30 s`, …, `more`. */
export function stepLabel(within: number | null | undefined, n: number): string {
  if (within === null || within === undefined) return 'more';
  const seconds = within / 1_000_000;
  const text = seconds < 60 ? `${seconds} s` : `${seconds / 60} m`;
  return n === 0 ? `< ${text}` : text;
}
