// Columns side by side, each of parts on top of one another, laid out in pixels. Pure. Rules: parts keep the order of the series;
// a part that is not nothing is seen, and two parts have a line of ground between them.
import { thinned, ticks, type Look } from './scale';

export interface Series {
  name: string;
  look: Look;
  values: number[];
}
export interface StackInput {
  labels: string[];
  series: Series[];
  width: number;
  height: number;
  /** The words of a value on the axis. */
  format: (value: number) => string;
  /** Counts: no parts of one on the axis. */
  whole?: boolean;
  /** Writes each sum above its column. */
  tops?: boolean;
  /** Room at the right, for a second axis. */
  edge?: number;
}
export interface Rect {
  key: string;
  x: number;
  y: number;
  w: number;
  h: number;
  look: Look;
}
export interface StackLayout {
  left: number;
  right: number;
  bottom: number;
  grid: { y: number; text: string }[];
  rects: Rect[];
  /** The ground of each column, to point at. */
  columns: { x: number; w: number; at: number }[];
  labels: { x: number; text: string }[];
  tops: { x: number; y: number; text: string }[];
}

const AXIS = 22;
const HEAD = 12;
const LETTER = 6.4;

export function stackLayout(input: StackInput): StackLayout {
  const { labels, series, width, height } = input;
  const sums = labels.map((_, at) => series.reduce((sum, one) => sum + (one.values[at] ?? 0), 0));
  const marks = ticks(Math.max(0, ...sums), 4, input.whole ?? false);
  const texts = marks.map(input.format);
  const left = Math.ceil(Math.max(...texts.map((text) => text.length)) * LETTER) + 10;
  const right = Math.max(left + 1, width - (input.edge ?? 4));
  const bottom = height - AXIS;
  const top = HEAD + (input.tops ? 6 : 0);
  const most = marks.at(-1) ?? 1;
  const y = (value: number) => bottom - (value / most) * (bottom - top);
  const each = (right - left) / Math.max(1, labels.length);
  const w = Math.max(2, Math.min(56, each * (each < 10 ? 0.8 : 0.64)));
  const centre = (at: number) => left + each * (at + 0.5);
  const longest = Math.max(...labels.map((text) => text.length), 1);
  const written = thinned(labels.length, right - left, longest * LETTER + 8);
  return {
    left,
    right,
    bottom,
    grid: marks.map((value, n) => ({ y: y(value), text: texts[n] ?? '' })),
    rects: labels.flatMap((_, at) => column(series, at, centre(at) - w / 2, w, bottom, (bottom - top) / most)),
    columns: labels.map((_, at) => ({ x: left + each * at, w: each, at })),
    labels: labels.flatMap((text, at) => (written[at] ? [{ x: centre(at), text }] : [])),
    tops: input.tops
      ? sums.flatMap((sum, at) => (sum > 0 ? [{ x: centre(at), y: y(sum) - 5, text: input.format(sum) }] : []))
      : [],
  };
}

function column(series: Series[], at: number, x: number, w: number, bottom: number, scale: number): Rect[] {
  const rects: Rect[] = [];
  let foot = bottom;
  for (const one of series) {
    const value = one.values[at] ?? 0;
    if (!(value > 0)) continue;
    const tall = Math.max(1.5, value * scale);
    // The line of ground between two parts comes off the upper one, unless it is all there is of it.
    const gap = rects.length > 0 && tall > 3 ? 1 : 0;
    rects.push({ key: `${at}.${one.name}`, x, y: foot - tall, w, h: tall - gap, look: one.look });
    foot -= tall;
  }
  return rects;
}
