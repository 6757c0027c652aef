// What a terminal printed → lines of spans. Colours become numbers 0–15, which the tokens of the theme give meaning.
// Cursor movements, titles and links are dropped; a carriage return begins its line again, as in a terminal.

import { withMarks } from './marks';

export interface Style { fg?: number; bg?: number; bold?: true; dim?: true; italic?: true; underline?: true; strike?: true; inverse?: true }
export interface Span extends Style { text: string; mark?: true }
export type Line = Span[];

// CSI sequences, OSC strings up to their end, and two-letter escapes.
// eslint-disable-next-line no-control-regex -- escapes are what is looked for
const ESCAPE = /\u001b\[([0-9;:?<=>!]*)[ -/]*([@-~])|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\|$)|\u001b[PX^_][^\u001b]*(?:\u001b\\|$)|\u001b[ -/]*[0-~]?|\u009b[0-9;]*[@-~]/g;

/** The lines, without an empty last one. */
export function parseAnsi(text: string): Line[] {
  const lines: Line[] = [];
  let style: Style = {};
  for (const raw of text.replace(/\r?\n$/, '').split('\n')) {
    const line: Line = [];
    style = parseLine(raw.replace(/\r+$/, ''), style, line);
    lines.push(line);
  }
  return lines;
}

function parseLine(raw: string, before: Style, line: Line): Style {
  let style = before;
  let from = 0;
  const push = (text: string) => {
    for (const part of text.split(/(\r)/)) {
      if (part === '\r') line.length = 0;
      else if (part.includes('\b')) backspaced(line, part, style);
      else if (part) add(line, part, style);
    }
  };
  for (const found of raw.matchAll(ESCAPE)) {
    if (found.index > from) push(raw.slice(from, found.index));
    from = found.index + found[0].length;
    if (found[2] === 'm') style = sgr(style, found[1] ?? '');
    // A cleared line begins again; other movements mean nothing here.
    if (found[2] === 'K' && found[1] === '2') line.length = 0;
  }
  if (from < raw.length) push(raw.slice(from));
  return style;
}

function add(line: Line, text: string, style: Style): void {
  for (const piece of withMarks(text)) line.push({ ...style, ...piece });
}

function backspaced(line: Line, text: string, style: Style): void {
  let kept = '';
  for (const letter of text) kept = letter === '\b' ? kept.slice(0, -1) : kept + letter;
  add(line, kept, style);
}

function sgr(before: Style, codes: string): Style {
  const list = (codes === '' ? '0' : codes).split(/[;:]/).map((code) => Number(code || '0'));
  let style: Style = { ...before };
  for (let at = 0; at < list.length; at += 1) {
    const code = list[at] ?? 0;
    if (code === 38 || code === 48) {
      const [colour, used] = extended(list, at);
      at += used;
      if (colour !== null) style = code === 38 ? { ...style, fg: colour } : { ...style, bg: colour };
    } else style = simple(style, code);
  }
  return style;
}

function simple(style: Style, code: number): Style {
  if (code >= 30 && code <= 37) return { ...style, fg: code - 30 };
  if (code >= 90 && code <= 97) return { ...style, fg: code - 82 };
  if (code >= 40 && code <= 47) return { ...style, bg: code - 40 };
  if (code >= 100 && code <= 107) return { ...style, bg: code - 92 };
  switch (code) {
    case 0: return {};
    case 1: return { ...style, bold: true };
    case 2: return { ...style, dim: true };
    case 3: return { ...style, italic: true };
    case 4: return { ...style, underline: true };
    case 7: return { ...style, inverse: true };
    case 9: return { ...style, strike: true };
    case 22: return without(style, 'bold', 'dim');
    case 23: return without(style, 'italic');
    case 24: return without(style, 'underline');
    case 27: return without(style, 'inverse');
    case 29: return without(style, 'strike');
    case 39: return without(style, 'fg');
    case 49: return without(style, 'bg');
    default: return style;
  }
}

function without(style: Style, ...keys: (keyof Style)[]): Style {
  const left = { ...style };
  for (const key of keys) delete left[key];
  return left;
}

/** 256 colours and true colour, as the nearest of sixteen: the theme decides how they look. */
function extended(list: number[], at: number): [number | null, number] {
  if (list[at + 1] === 5) return [of256(list[at + 2] ?? 0), 2];
  if (list[at + 1] === 2) return [nearest(list[at + 2] ?? 0, list[at + 3] ?? 0, list[at + 4] ?? 0), 4];
  return [null, 0];
}

function of256(code: number): number {
  if (code < 16) return code;
  if (code >= 232) return code < 238 ? 8 : code < 250 ? 7 : 15;
  const cube = code - 16;
  const level = (n: number) => (n === 0 ? 0 : 55 + n * 40);
  return nearest(level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6));
}

function nearest(red: number, green: number, blue: number): number {
  const most = Math.max(red, green, blue);
  const least = Math.min(red, green, blue);
  if (most - least < 32) return most < 64 ? 8 : most < 200 ? 7 : 15;
  const half = (most + least) / 2;
  const bits = (red > half ? 1 : 0) | (green > half ? 2 : 0) | (blue > half ? 4 : 0);
  return most > 200 && least > 80 ? bits + 8 : bits;
}

/** The classes of a span. */
export function classesOf(span: Span): string {
  const names: string[] = [];
  const [fg, bg] = span.inverse ? [span.bg ?? -1, span.fg ?? -1] : [span.fg, span.bg];
  if (fg !== undefined && fg >= 0) names.push(`a${fg}`);
  if (bg !== undefined && bg >= 0) names.push(`b${bg}`);
  if (span.inverse) names.push('inv');
  for (const name of ['bold', 'dim', 'italic', 'underline', 'strike', 'mark'] as const) if (span[name]) names.push(name);
  return names.join(' ');
}

/** The words alone, for copying and counting. */
export function plain(text: string): string {
  return text.replace(ESCAPE, '');
}
