// Coloured code: lines of pieces, each with one of five meanings. Pure; the worker makes them, components draw them.
// Keeps: the pieces of a line, put together, are that line.

import type { Part } from '../model/diff';

export type Meaning = '' | 'key' | 'str' | 'num' | 'fn' | 'com';
export type Tok = [text: string, meaning: Meaning];

/** What highlight.js gives: a tree of scopes and strings. */
export interface Scope { scope?: string; children: (Scope | string)[] }

const MEANINGS: [RegExp, Meaning][] = [
  [/^(comment|quote|doctag|meta comment)/, 'com'],
  [/^(string|regexp|char|addition|template-string|symbol|link)/, 'str'],
  [/^(number|literal|deletion)/, 'num'],
  [/^(title|section|name|attr|attribute|selector|function|built_in|bullet|code)/, 'fn'],
  [/^(keyword|type|tag|meta|operator|variable\.language|template-tag)/, 'key'],
];

function meaningOf(scope: string | undefined, around: Meaning): Meaning {
  if (!scope) return around;
  // What is filled into a string is code again.
  if (scope === 'subst') return '';
  return MEANINGS.find(([names]) => names.test(scope))?.[1] ?? around;
}

/** The tree as lines. */
export function linesOf(root: Scope): Tok[][] {
  const lines: Tok[][] = [[]];
  const add = (text: string, meaning: Meaning) => {
    text.split('\n').forEach((part, at) => {
      if (at > 0) lines.push([]);
      const line = lines.at(-1);
      const last = line?.at(-1);
      if (!part || !line) return;
      if (last?.[1] === meaning) last[0] += part;
      else line.push([part, meaning]);
    });
  };
  const walk = (node: Scope, around: Meaning) => {
    const meaning = meaningOf(node.scope, around);
    for (const child of node.children) {
      if (typeof child === 'string') add(child, meaning);
      else walk(child, meaning);
    }
  };
  walk(root, '');
  return lines;
}

export interface Piece { text: string; meaning: Meaning; changed: boolean }

/** Colours laid over the parts of a changed line. Where they do not say the same text, the parts win. */
export function overlay(parts: readonly Part[], tokens: readonly Tok[] | undefined): Piece[] {
  const plain = parts.map((part) => ({ text: part.text, meaning: '' as Meaning, changed: part.changed === true }));
  if (!tokens || tokens.map((token) => token[0]).join('') !== parts.map((part) => part.text).join('')) return plain;
  const pieces: Piece[] = [];
  let at = 0;
  let used = 0;
  for (const part of parts) {
    let left = part.text;
    while (left) {
      const [text = '', meaning = ''] = tokens[at] ?? [];
      const taken = left.slice(0, text.length - used);
      if (!taken) break;
      pieces.push({ text: taken, meaning, changed: part.changed === true });
      left = left.slice(taken.length);
      used += taken.length;
      if (used === text.length) {
        at += 1;
        used = 0;
      }
    }
  }
  return pieces;
}
