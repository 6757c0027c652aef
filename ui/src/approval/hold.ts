// The second gesture: pressing twice within a time. Pure; the moment comes in.

/** How long a pointer holds, in milliseconds. */
export const HOLD = 900;

/** How long the first press counts. */
export const WITHIN = 5_000;

/** Faster than this it is one finger that trembles, or a key that repeats. */
const LEAST = 150;

export interface Twice {
  press(now: number): 'armed' | 'done';
  isArmed(now: number): boolean;
}

export function twice(): Twice {
  let first: number | null = null;
  const isArmed = (now: number) => first !== null && now - first <= WITHIN;
  return {
    isArmed,
    press(now) {
      if (first !== null && isArmed(now)) {
        if (now - first < LEAST) return 'armed';
        first = null;
        return 'done';
      }
      first = now;
      return 'armed';
    },
  };
}
