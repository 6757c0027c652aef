// A plan as numbered lines that look like what they are: headings, steps, code. Pure; tokens, never markup.
// Invariant: the numbers are those of the text's own lines, since that is what a comment names to the agent.

export type LineKind = 'h1' | 'h2' | 'h3' | 'item' | 'text' | 'quote' | 'code' | 'rule' | 'table';

export interface Line {
  /** From 1, in the text as it stands. */
  number: number;
  kind: LineKind;
  /** How far in an item stands. */
  depth: number;
  /** What stands in front of an item: `1.`, `–`, a box. */
  marker: string;
  ticked: boolean | null;
  /** Without the signs that make it what it is. */
  text: string;
}

/** The lines that hold something. Empty ones only part others, and keep their numbers. */
export function linesOf(plan: string): Line[] {
  const lines: Line[] = [];
  let fence: string | null = null;
  plan.split('\n').forEach((raw, place) => {
    const number = place + 1;
    const text = raw.replace(/\r$/, '');
    const opens = /^\s*(`{3,}|~{3,})/.exec(text);
    if (fence !== null) {
      if (opens?.[1] !== undefined && opens[1].startsWith(fence)) fence = null;
      else lines.push(plain(number, 'code', text));
      return;
    }
    if (opens?.[1] !== undefined) {
      fence = opens[1];
      return;
    }
    if (text.trim() !== '') lines.push(lineOf(number, text));
  });
  return lines;
}

function plain(number: number, kind: LineKind, text: string): Line {
  return { number, kind, depth: 0, marker: '', ticked: null, text };
}

function lineOf(number: number, raw: string): Line {
  const heading = /^(#{1,6})\s+(.*?)\s*#*$/.exec(raw);
  if (heading !== null) {
    const level = heading[1]?.length ?? 1;
    return plain(number, level === 1 ? 'h1' : level === 2 ? 'h2' : 'h3', heading[2] ?? '');
  }
  if (/^\s*([-*_])(\s*\1){2,}\s*$/.test(raw)) return plain(number, 'rule', '');
  const item = /^(\s*)([-*+]|\d{1,4}[.)])\s+(.*)$/.exec(raw);
  if (item !== null) return itemOf(number, item[1] ?? '', item[2] ?? '', item[3] ?? '');
  const quote = /^\s*>\s?(.*)$/.exec(raw);
  if (quote !== null) return plain(number, 'quote', quote[1] ?? '');
  if (/^\s*\|.*\|\s*$/.test(raw)) return plain(number, 'table', raw.trim());
  const indent = /^(\s*)/.exec(raw)?.[1]?.length ?? 0;
  return { ...plain(number, 'text', raw.trim()), depth: Math.min(4, Math.floor(indent / 2)) };
}

function itemOf(number: number, indent: string, sign: string, text: string): Line {
  const depth = Math.min(4, Math.floor(indent.replace(/\t/g, '    ').length / 2));
  const marker = /\d/.test(sign) ? sign : '–';
  const box = /^\[([ xX])\]\s+(.*)$/.exec(text);
  if (box === null) return { number, kind: 'item', depth, marker, ticked: null, text };
  return { number, kind: 'item', depth, marker: '', ticked: box[1] !== ' ', text: box[2] ?? '' };
}

export type Token = { as: 'text' | 'code' | 'strong' | 'em'; text: string };

/** Code, strong and slanted words inside of a line; everything else is text. */
export function tokens(text: string): Token[] {
  const found: Token[] = [];
  const signs = /(`+)(.+?)\1|\*\*(.+?)\*\*|__(.+?)__|\*([^*\s][^*]*)\*|\[([^\]]+)\]\([^)\s]+\)/g;
  let from = 0;
  const push = (as: Token['as'], words: string) => {
    if (words !== '') found.push({ as, text: words });
  };
  for (const hit of text.matchAll(signs)) {
    push('text', text.slice(from, hit.index));
    if (hit[2] !== undefined) push('code', hit[2]);
    else if (hit[3] !== undefined) push('strong', hit[3]);
    else if (hit[4] !== undefined) push('strong', hit[4]);
    else if (hit[5] !== undefined) push('em', hit[5]);
    // The address of a link stands in the text: nothing in a plan is clicked by accident.
    else push('text', hit[0]);
    from = hit.index + hit[0].length;
  }
  push('text', text.slice(from));
  return found;
}
