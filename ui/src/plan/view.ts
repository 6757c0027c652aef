// A version of a plan as it is shown: its lines, against another version where one wants to see the changes. Pure.

import { common, rows } from './diff';
import { linesOf, tokens, type Line, type Token } from './lines';

export interface Marked extends Token {
  fresh: boolean;
}

export interface Shown {
  key: string;
  line: Line;
  is: 'same' | 'new' | 'gone';
  tokens: Marked[];
}

/** The lines of a text; with `before`, what is gone stands struck in its place and fresh words are marked. */
export function shownLines(text: string, before: string | null): Shown[] {
  const now = new Map(linesOf(text).map((line) => [line.number, line]));
  if (before === null) {
    return [...now.values()].map((line) => ({ key: `n${line.number}`, line, is: 'same', tokens: plain(tokensOf(line)) }));
  }
  const old = new Map(linesOf(before).map((line) => [line.number, line]));
  const gone: Line[] = [];
  return rows(before, text).flatMap((row): Shown[] => {
    const line = (row.is === 'gone' ? old : now).get(row.line);
    if (line === undefined) return [];
    if (row.is === 'gone') {
      gone.push(line);
      return [{ key: `o${row.line}`, line, is: 'gone', tokens: plain(tokensOf(line)) }];
    }
    const replaced = row.is === 'new' ? gone.shift() : undefined;
    if (row.is === 'same') gone.length = 0;
    const marked = replaced === undefined ? plain(tokensOf(line)) : freshTokens(tokensOf(replaced), tokensOf(line));
    return [{ key: `n${row.line}`, line, is: row.is, tokens: marked }];
  });
}

function tokensOf(line: Line): Token[] {
  return line.kind === 'code' || line.kind === 'table' ? [{ as: 'text', text: line.text }] : tokens(line.text);
}

function plain(list: Token[]): Marked[] {
  return list.map((token) => ({ ...token, fresh: false }));
}

/** The tokens of a line, cut where fresh words begin and end. A line that is new for the most part is marked as a whole only. */
export function freshTokens(before: Token[], after: Token[]): Marked[] {
  const words = (list: Token[]) =>
    list.flatMap((token) => (token.text.match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? []).map((text) => ({ ...token, text })));
  const [old, now] = [words(before), words(after)];
  const kept = new Set(common(old.map((word) => word.text), now.map((word) => word.text)).map((pair) => pair.new));
  const marked: Marked[] = [];
  let fresh = 0;
  // A blank between two fresh words belongs to them.
  const isNew = (place: number) => place < now.length && !kept.has(place);
  now.forEach((word, place) => {
    const isFresh = isNew(place) || (/^\s+$/.test(word.text) && isNew(place - 1) && isNew(place + 1));
    if (isFresh) fresh += word.text.length;
    const last = marked[marked.length - 1];
    if (last !== undefined && last.as === word.as && last.fresh === isFresh) last.text += word.text;
    else marked.push({ ...word, fresh: isFresh });
  });
  const all = now.reduce((sum, word) => sum + word.text.length, 0);
  return fresh > all * 0.6 ? plain(after) : marked;
}
