// Characters that are not seen, or that turn text around, shown as marks.
// Keeps: what a person reads is in the order in which a machine reads it.

const NAMES: Record<string, string> = {
  '\u061c': 'ALM', '\u200e': 'LRM', '\u200f': 'RLM', '\u202a': 'LRE', '\u202b': 'RLE', '\u202c': 'PDF', '\u202d': 'LRO',
  '\u202e': 'RLO', '\u2066': 'LRI', '\u2067': 'RLI', '\u2068': 'FSI', '\u2069': 'PDI', '\u200b': 'ZWSP', '\ufeff': 'BOM',
};
// eslint-disable-next-line no-control-regex -- control characters are what is looked for
const HIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;
const QUICK = new RegExp(HIDDEN.source);

export interface Piece { text: string; mark?: true }

/** The text in pieces: as it is, or the name of a character that is not seen. */
export function withMarks(text: string): Piece[] {
  if (!QUICK.test(text)) return text ? [{ text }] : [];
  const pieces: Piece[] = [];
  let from = 0;
  for (const found of text.matchAll(HIDDEN)) {
    if (found.index > from) pieces.push({ text: text.slice(from, found.index) });
    pieces.push({ text: nameOf(found[0]), mark: true });
    from = found.index + found[0].length;
  }
  if (from < text.length) pieces.push({ text: text.slice(from) });
  return pieces;
}

function nameOf(hidden: string): string {
  const code = hidden.codePointAt(0) ?? 0;
  return NAMES[hidden] ?? (code < 0x20 ? `^${String.fromCharCode(code + 64)}` : `U+${code.toString(16).toUpperCase().padStart(4, '0')}`);
}
