// Changes of a file as lines to show: numbers, sign, words that changed. From a patch of the tool, from two texts, or from `git diff`.
// Keeps: a line is added, removed or context; beyond FOLD lines hunks come folded.

import { diffWordsWithSpace, structuredPatch } from 'diff';

export const FOLD = 400;
/** Lines longer than this are not compared word by word. */
const LONG = 2000;

export interface Part { text: string; changed?: true }
export interface DiffLine { sign: ' ' | '+' | '-'; old?: number; new?: number; parts: Part[] }
export interface Hunk { head: string; lines: DiffLine[] }
export interface FileDiff { path: string; from?: string; hunks: Hunk[]; added: number; removed: number; note?: string }

interface RawHunk { oldStart: number; newStart: number; lines: string[]; head?: string }

/** The change from one text to another, as if it were a file that begins at line `start`, afterwards at `newStart`. */
export function diffTexts(path: string, before: string, after: string, start = 1, newStart = start): FileDiff {
  const patch = structuredPatch('a', 'b', before, after, '', '', { context: 3 });
  const hunks = patch.hunks.map((hunk) => ({
    oldStart: hunk.oldStart + start - 1, newStart: hunk.newStart + newStart - 1, lines: hunk.lines,
  }));
  return fileOf(path, hunks);
}

/** A change as it stands in its file: parts of it, each with the number of its first line. */
export function placed(path: string, parts: { line: number; new_line: number; before: string; after: string }[]): FileDiff {
  const ended = (text: string) => (text === '' ? '' : `${text}\n`);
  const all = parts.map((part) => diffTexts(path, ended(part.before), ended(part.after), part.line, part.new_line));
  return {
    path,
    hunks: all.flatMap((one) => one.hunks),
    added: all.reduce((sum, one) => sum + one.added, 0),
    removed: all.reduce((sum, one) => sum + one.removed, 0),
  };
}

/** A whole file that is new. */
export function created(path: string, content: string): FileDiff {
  const lines = content.replace(/\n$/, '').split('\n').map((line) => `+${line}`);
  return fileOf(path, content === '' ? [] : [{ oldStart: 0, newStart: 1, lines }]);
}

/** The tool's own patch, where its result has one. */
export function ofPatch(path: string, patch: unknown): FileDiff | null {
  if (!Array.isArray(patch) || patch.length === 0) return null;
  const hunks: RawHunk[] = [];
  for (const one of patch as unknown[]) {
    const hunk = one as { oldStart?: unknown; newStart?: unknown; lines?: unknown };
    if (typeof hunk.oldStart !== 'number' || typeof hunk.newStart !== 'number' || !Array.isArray(hunk.lines)) return null;
    hunks.push({ oldStart: hunk.oldStart, newStart: hunk.newStart, lines: hunk.lines.filter((line) => typeof line === 'string') });
  }
  return fileOf(path, hunks);
}

function fileOf(path: string, raw: RawHunk[]): FileDiff {
  let added = 0;
  let removed = 0;
  const hunks = raw.map((hunk) => {
    const lines = numbered(hunk);
    for (const line of lines) {
      if (line.sign === '+') added += 1;
      if (line.sign === '-') removed += 1;
    }
    markWords(lines);
    return { head: hunk.head ?? '', lines };
  });
  return { path, hunks, added, removed };
}

function numbered(hunk: RawHunk): DiffLine[] {
  let { oldStart: old, newStart: now } = hunk;
  const lines: DiffLine[] = [];
  for (const line of hunk.lines) {
    const sign = line[0];
    const parts = [{ text: line.slice(1) }];
    if (sign === '+') lines.push({ sign, new: now++, parts });
    else if (sign === '-') lines.push({ sign, old: old++, parts });
    else if (sign !== '\\') lines.push({ sign: ' ', old: old++, new: now++, parts });
  }
  return lines;
}

/** Marks the words that differ, where as many lines came as went. */
function markWords(lines: DiffLine[]): void {
  for (let at = 0; at < lines.length; at += 1) {
    if (lines[at]?.sign !== '-') continue;
    let gone = at;
    while (lines[gone]?.sign === '-') gone += 1;
    let come = gone;
    while (lines[come]?.sign === '+') come += 1;
    const pairs = Math.min(gone - at, come - gone);
    for (let pair = 0; pair < pairs; pair += 1) markPair(lines[at + pair], lines[gone + pair]);
    at = come - 1;
  }
}

function markPair(old: DiffLine | undefined, now: DiffLine | undefined): void {
  const before = old?.parts[0]?.text ?? '';
  const after = now?.parts[0]?.text ?? '';
  if (!old || !now || before.length > LONG || after.length > LONG) return;
  const pieces = diffWordsWithSpace(before, after);
  const same = pieces.reduce((sum, piece) => (piece.added || piece.removed ? sum : sum + piece.value.trim().length), 0);
  // Two lines with nothing in common: to mark everything says nothing.
  if (same * 3 < Math.min(before.trim().length, after.trim().length)) return;
  old.parts = pieces.filter((piece) => !piece.added).map((piece) => part(piece.value, piece.removed));
  now.parts = pieces.filter((piece) => !piece.removed).map((piece) => part(piece.value, piece.added));
}

function part(text: string, changed: boolean): Part {
  return changed ? { text, changed: true } : { text };
}

/** What `git diff` printed, file by file. */
export function parseUnified(text: string): FileDiff[] {
  const files: FileDiff[] = [];
  let head: { path: string; from?: string; note?: string } | null = null;
  let hunks: RawHunk[] = [];
  const close = () => {
    if (head) files.push({ ...fileOf(head.path, hunks), ...head });
    hunks = [];
  };
  for (const line of text.replace(/\n$/, '').split('\n')) {
    const begin = /^diff --git (?:"?a\/(.*?)"?) (?:"?b\/(.*?)"?)$/.exec(line);
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@ ?(.*)$/.exec(line);
    const open = hunks.at(-1);
    if (begin) {
      close();
      head = { path: begin[2] ?? '' };
    } else if (hunk && head) {
      hunks.push({ oldStart: Number(hunk[1]), newStart: Number(hunk[2]), head: hunk[3] ?? '', lines: [] });
    } else if (open) open.lines.push(line);
    else if (head) noteOf(head, line);
  }
  close();
  return files;
}

function noteOf(head: { path: string; from?: string; note?: string }, line: string): void {
  if (line.startsWith('new file')) head.note = 'new';
  else if (line.startsWith('deleted file')) head.note = 'deleted';
  else if (line.startsWith('Binary files')) head.note = 'binary';
  else if (line.startsWith('rename from ')) head.from = line.slice(12);
}

export function linesOf(diff: FileDiff): number {
  return diff.hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0);
}
