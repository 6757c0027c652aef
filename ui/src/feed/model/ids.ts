// Names of entries and records: `generation-seq` with `.n` behind it for further entries of one record.
// Keeps the order in which they began. A name that cannot be read sorts first, and is never an error.

const NAME = /^(\d+)-(\d+)(?:\.(\d+))?$/;

/** Below zero if `a` began before `b`. */
export function compareIds(a: string, b: string): number {
  if (a === b) return 0;
  const left = NAME.exec(a);
  const right = NAME.exec(b);
  if (!left || !right) return left ? 1 : right ? -1 : a < b ? -1 : 1;
  for (const part of [1, 2, 3]) {
    const difference = Number(left[part] ?? 0) - Number(right[part] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Whether that record lies behind the other one. */
export function isBehind(cursor: string, than: string): boolean {
  return compareIds(cursor, than) > 0;
}
