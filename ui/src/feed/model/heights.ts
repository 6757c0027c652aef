// Heights of rows, measured once and kept per row and width, and what follows from them: which rows are near the screen.
// Pure but for its own memory. Keeps: the sum of all heights is the height of the list, also for rows never seen.

/** What a row is taken for before it was seen. */
const GUESS = 44;
/** Heights kept at most; the oldest go. */
const KEPT = 4000;

export interface Range { from: number; to: number; above: number; below: number }

export class Heights {
  #kept = new Map<string, number>();
  #width = 0;
  #sum = 0;
  #seen = 0;

  /** Another width: nothing measured holds any longer. */
  width(width: number): boolean {
    if (width === this.#width) return false;
    const isOther = this.#width !== 0;
    this.#width = width;
    if (isOther) {
      this.#kept.clear();
      this.#sum = this.#seen = 0;
    }
    return isOther;
  }

  /** Notes a height; whether it is another one than before. */
  set(key: string, height: number): boolean {
    const before = this.#kept.get(key);
    if (before !== undefined && Math.abs(before - height) < 0.5) return false;
    if (before === undefined) this.#seen += 1;
    this.#sum += height - (before ?? 0);
    this.#kept.delete(key);
    this.#kept.set(key, height);
    if (this.#kept.size > KEPT) {
      const [oldest] = this.#kept.keys();
      if (oldest !== undefined) this.#kept.delete(oldest);
    }
    return true;
  }

  of(key: string): number {
    return this.#kept.get(key) ?? (this.#seen > 8 ? this.#sum / this.#seen : GUESS);
  }

  has(key: string): boolean {
    return this.#kept.has(key);
  }

  /** Where that row begins. */
  top(keys: readonly string[], at: number): number {
    let sum = 0;
    for (let index = 0; index < at && index < keys.length; index += 1) sum += this.of(keys[index] ?? '');
    return sum;
  }

  /** The rows between `from` and `to` pixels, and the heights of what lies above and below them. */
  range(keys: readonly string[], from: number, to: number): Range {
    let at = 0;
    let above = 0;
    while (at < keys.length) {
      const height = this.of(keys[at] ?? '');
      if (above + height > from) break;
      above += height;
      at += 1;
    }
    let end = at;
    let bottom = above;
    while (end < keys.length && bottom < to) {
      bottom += this.of(keys[end] ?? '');
      end += 1;
    }
    let below = 0;
    for (let index = end; index < keys.length; index += 1) below += this.of(keys[index] ?? '');
    return { from: at, to: end, above, below };
  }
}
