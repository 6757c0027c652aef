// Markdown → a small tree of our own, rendered by components. Nothing in it is ever HTML: tags are shown as the text they are.
// Links lead to http, https and mailto only. While text still comes, the block that is open stays text.

import { Lexer, type Token, type Tokens } from 'marked';

export type Inline =
  | { is: 'text'; text: string }
  | { is: 'code'; text: string }
  | { is: 'strong' | 'em' | 'del'; of: Inline[] }
  | { is: 'link'; href: string; of: Inline[] }
  | { is: 'break' };

export type Block =
  | { is: 'p'; of: Inline[] }
  | { is: 'h'; level: number; of: Inline[] }
  | { is: 'code'; lang: string; text: string }
  | { is: 'quote'; of: Block[] }
  | { is: 'list'; ordered: boolean; start: number; items: { tick?: boolean; of: Block[] }[] }
  | { is: 'table'; head: Inline[][]; align: ('left' | 'center' | 'right' | null)[]; rows: Inline[][][] }
  | { is: 'rule' }
  | { is: 'raw'; text: string };

const OPTIONS = { gfm: true, breaks: false };

/** The whole text as blocks. With `breaks` a line ends where it was ended, as people mean it. */
export function blocksOf(text: string, breaks = false): Block[] {
  try {
    return new Lexer({ ...OPTIONS, breaks }).lex(text).flatMap(blockOf);
  } catch {
    return text ? [{ is: 'raw', text }] : [];
  }
}

/** A text that still comes: its finished blocks, and the open one as text. */
export function splitOpen(text: string): { done: string; open: string } {
  const cut = endOfFinished(text);
  return { done: text.slice(0, cut), open: text.slice(cut) };
}

/** Where the last blank line outside of a fence ends. */
function endOfFinished(text: string): number {
  let fence: string | null = null;
  let cut = 0;
  let at = 0;
  while (at < text.length) {
    const end = text.indexOf('\n', at);
    if (end < 0) break;
    const line = text.slice(at, end);
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (mark && fence === null) fence = mark;
    else if (fence !== null && mark?.startsWith(fence) && line.trim() === mark) {
      fence = null;
      cut = end + 1;
    } else if (fence === null && line.trim() === '') cut = end + 1;
    at = end + 1;
  }
  return cut;
}

/** An open block as it is shown: a fence that has begun is code already. */
export function openBlock(text: string): Block | null {
  const fenced = /^ {0,3}(`{3,}|~{3,})([^\n`]*)\n([\s\S]*)$/.exec(text);
  if (fenced) return { is: 'code', lang: langOf(fenced[2] ?? ''), text: (fenced[3] ?? '').replace(/\n$/, '') };
  return text.trim() ? { is: 'raw', text: text.trimEnd() } : null;
}

function blockOf(token: Token): Block[] {
  switch (token.type) {
    case 'space':
    case 'def':
      return [];
    case 'paragraph':
      return [{ is: 'p', of: inline((token as Tokens.Paragraph).tokens) }];
    case 'text': {
      const { tokens, text } = token as Tokens.Text;
      return [{ is: 'p', of: tokens ? inline(tokens) : [{ is: 'text', text: unescape(text) }] }];
    }
    case 'heading': {
      const { depth, tokens } = token as Tokens.Heading;
      return [{ is: 'h', level: depth, of: inline(tokens) }];
    }
    case 'code': {
      const { lang, text } = token as Tokens.Code;
      return [{ is: 'code', lang: langOf(lang ?? ''), text }];
    }
    case 'blockquote':
      return [{ is: 'quote', of: (token as Tokens.Blockquote).tokens.flatMap(blockOf) }];
    case 'list':
      return [listOf(token as Tokens.List)];
    case 'table':
      return [tableOf(token as Tokens.Table)];
    case 'hr':
      return [{ is: 'rule' }];
    default:
      return token.raw.trim() ? [{ is: 'raw', text: token.raw.trimEnd() }] : [];
  }
}

function listOf(token: Tokens.List): Block {
  const items = token.items.map((item) => {
    // The box of a task is its tick already.
    const of = item.tokens.filter((one) => one.type !== 'checkbox').flatMap(blockOf);
    return item.task ? { tick: item.checked === true, of } : { of };
  });
  return { is: 'list', ordered: token.ordered, start: typeof token.start === 'number' ? token.start : 1, items };
}

function tableOf(token: Tokens.Table): Block {
  return {
    is: 'table',
    head: token.header.map((cell) => inline(cell.tokens)),
    align: token.align,
    rows: token.rows.map((row) => row.map((cell) => inline(cell.tokens))),
  };
}

function inline(tokens: Token[] | undefined): Inline[] {
  return (tokens ?? []).flatMap(inlineOf);
}

function inlineOf(token: Token): Inline[] {
  switch (token.type) {
    case 'strong':
    case 'em':
    case 'del':
      return [{ is: token.type, of: inline((token as Tokens.Strong).tokens) }];
    case 'codespan':
      return [{ is: 'code', text: unescape((token as Tokens.Codespan).text) }];
    case 'br':
      return [{ is: 'break' }];
    case 'checkbox':
      return [];
    case 'link': {
      const { href, tokens } = token as Tokens.Link;
      const of = inline(tokens);
      const safe = safeHref(href);
      return safe ? [{ is: 'link', href: safe, of }] : of;
    }
    case 'image': {
      // Pictures of elsewhere are not loaded: their address is a link.
      const { href, text } = token as Tokens.Image;
      const safe = safeHref(href);
      const of: Inline[] = [{ is: 'text', text: text || href }];
      return safe ? [{ is: 'link', href: safe, of }] : of;
    }
    case 'text': {
      const { tokens, text } = token as Tokens.Text;
      return tokens ? inline(tokens) : [{ is: 'text', text: unescape(text) }];
    }
    case 'escape':
      return [{ is: 'text', text: (token as Tokens.Escape).text }];
    default:
      return [{ is: 'text', text: token.raw }];
  }
}

/** The address if it may be a link. */
export function safeHref(href: string): string | null {
  const clean = [...href].filter((letter) => letter > ' ' && letter !== '\u007f').join('');
  return /^(https?:\/\/|mailto:)/i.test(clean) ? clean : null;
}

function langOf(info: string): string {
  return (/^\s*([\w+#.-]+)/.exec(info)?.[1] ?? '').toLowerCase();
}

/** Entities are letters here: nothing is HTML. */
function unescape(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => ({ amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" })[name] ?? '');
}
