// The parts of a command that a sentence of the host names, so that they can be underlined. Pure.

export interface Part {
  text: string;
  marked: boolean;
}

/** A text in parts. Bidirectional control signs are made visible: they could make a command look like another one. */
export function marked(text: string, marks: string[]): Part[] {
  const words = marks.filter((mark) => mark !== '').sort((one, two) => two.length - one.length);
  const plain = (part: string, isMarked: boolean): Part => ({ text: visible(part), marked: isMarked });
  if (words.length === 0) return [plain(text, false)];
  const found = new RegExp(words.map(escaped).join('|'), 'g');
  const parts: Part[] = [];
  let from = 0;
  for (const hit of text.matchAll(found)) {
    // Only whole words: `/` in `a/b` is not the root.
    const [left, right] = [text[hit.index - 1] ?? ' ', text[hit.index + hit[0].length] ?? ' '];
    if (!/[\s;|&()'"]/.test(left) || !/[\s;|&()'"]/.test(right)) continue;
    if (hit.index > from) parts.push(plain(text.slice(from, hit.index), false));
    parts.push(plain(hit[0], true));
    from = hit.index + hit[0].length;
  }
  if (from < text.length) parts.push(plain(text.slice(from), false));
  return parts;
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

const HIDDEN = /[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]/g;

/** Signs that turn the direction of text, as marks that can be seen. */
export function visible(text: string): string {
  return text.replace(HIDDEN, (sign) => `⟨U+${sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`);
}
