// Entries of several pages as one list. Pure. Invariant: sorted by where they began, each name once, the later page wins.
import type { Entry } from '../api/types';
import { compareIds } from '../feed/model/ids';

export function merge(entries: readonly Entry[], more: readonly Entry[]): Entry[] {
  const all = new Map([...entries, ...more].map((entry) => [entry.id, entry]));
  return [...all.values()].sort((a, b) => compareIds(a.id, b.id));
}
