// The difference of two texts by lines, and what two lists have in common. Pure.
// Bounded: texts that differ in too many lines are told as all gone and all new.

export interface Same {
  old: number;
  new: number;
}

/** More cells than this are not looked at: some 2000 changed lines on either side. */
const MOST_CELLS = 4_000_000;

/** Pairs of equal places of two lists, in order: the longest common part. */
export function common<T>(before: T[], after: T[]): Same[] {
  const pairs: Same[] = [];
  let top = 0;
  const least = Math.min(before.length, after.length);
  while (top < least && before[top] === after[top]) {
    pairs.push({ old: top, new: top });
    top += 1;
  }
  let end = 0;
  while (end < least - top && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1;
  const rows = before.length - top - end;
  const columns = after.length - top - end;
  if (rows > 0 && columns > 0 && rows * columns <= MOST_CELLS) {
    const inner = longest(before.slice(top, top + rows), after.slice(top, top + columns));
    pairs.push(...inner.map((pair) => ({ old: pair.old + top, new: pair.new + top })));
  }
  for (let back = end; back > 0; back -= 1) {
    pairs.push({ old: before.length - back, new: after.length - back });
  }
  return pairs;
}

function longest<T>(before: T[], after: T[]): Same[] {
  const width = after.length + 1;
  const table = new Uint32Array((before.length + 1) * width);
  const cell = (row: number, column: number) => table[row * width + column] ?? 0;
  for (let row = before.length - 1; row >= 0; row -= 1) {
    for (let column = after.length - 1; column >= 0; column -= 1) {
      table[row * width + column] =
        before[row] === after[column]
          ? cell(row + 1, column + 1) + 1
          : Math.max(cell(row + 1, column), cell(row, column + 1));
    }
  }
  const pairs: Same[] = [];
  let [row, column] = [0, 0];
  while (row < before.length && column < after.length) {
    if (before[row] === after[column]) {
      pairs.push({ old: row, new: column });
      row += 1;
      column += 1;
    } else if (cell(row + 1, column) >= cell(row, column + 1)) row += 1;
    else column += 1;
  }
  return pairs;
}

export interface Row {
  is: 'same' | 'gone' | 'new';
  /** From 1, in the text it stands in: the old one for what is gone. */
  line: number;
  text: string;
}

/** Two texts as one list: what is gone stands in front of what came in its place. */
export function rows(before: string, after: string): Row[] {
  const [old, now] = [before.split('\n'), after.split('\n')];
  const list: Row[] = [];
  let [left, right] = [0, 0];
  const upTo = (oldEnd: number, newEnd: number) => {
    for (; left < oldEnd; left += 1) list.push({ is: 'gone', line: left + 1, text: old[left] ?? '' });
    for (; right < newEnd; right += 1) list.push({ is: 'new', line: right + 1, text: now[right] ?? '' });
  };
  for (const pair of common(old, now)) {
    upTo(pair.old, pair.new);
    list.push({ is: 'same', line: pair.new + 1, text: now[pair.new] ?? '' });
    left = pair.old + 1;
    right = pair.new + 1;
  }
  upTo(old.length, now.length);
  return list;
}

/** How many lines that hold something came and went. */
export function counts(before: string, after: string): { added: number; removed: number } {
  const telling = rows(before, after).filter((row) => row.text.trim() !== '');
  const of = (is: Row['is']) => telling.filter((row) => row.is === is).length;
  return { added: of('new'), removed: of('gone') };
}
