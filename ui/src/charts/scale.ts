// Numbers to places on a chart. Pure. Rule: an axis begins at 0 and ends at a round number that is not less than the largest value.

/** Round numbers from 0 up to at least `max`, about as many steps as asked for. `whole` allows no parts of one. */
export function ticks(max: number, about = 4, whole = false): number[] {
  if (!(max > 0)) return [0, 1];
  const raw = max / about;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = ([1, 2, 2.5, 5, 10].find((one) => one * power >= raw * 0.999) ?? 10) * power;
  const used = whole ? Math.max(1, Math.ceil(step)) : step;
  const count = Math.max(1, Math.ceil(max / used - 1e-9));
  return Array.from({ length: count + 1 }, (_, n) => round(n * used));
}

/** Without the dust of binary fractions. */
export const round = (value: number): number => Number(value.toPrecision(12));

/** Which of so many labels are written, so that each has room: every nth, counted from the last. */
export function thinned(count: number, room: number, each: number): boolean[] {
  const fit = Math.max(1, Math.floor(room / each));
  const nth = Math.max(1, Math.ceil(count / fit));
  return Array.from({ length: count }, (_, at) => (count - 1 - at) % nth === 0);
}

/** How a mark is coloured. Models take the first four in order; the rest are meanings of the design. */
export type Look = 'c1' | 'c2' | 'c3' | 'rest' | 'wait' | 'fail' | 'rule' | 'turn' | 'person';

/** Looks for series in their order; what comes after the third is one of many. */
export const LOOKS: readonly Look[] = ['c1', 'c2', 'c3', 'rest'];

export interface TableCell {
  text: string;
  href?: string;
}
/** What a chart shows, as words. */
export interface Table {
  head: string[];
  rows: (string | TableCell)[][];
  /** Said below it: what is left out. */
  note?: string;
}
