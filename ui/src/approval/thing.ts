// What a call is about, as it is shown: the exact command, the exact change, the exact address. Pure.
// Nothing is shortened here; what is not understood is shown as JSON, never left out. Fields beside the thing are told by `facts`.

/** The input that the agent was sent: the one it asked with, unless whoever allowed the call edited it. */
export function sentInput(asked: { input?: unknown; edited_input?: unknown }): unknown {
  return asked.edited_input ?? asked.input;
}

/** The thing itself. `lines` says how long it is, for "212 lines unseen". */
export type Thing =
  | { kind: 'command'; text: string; background: boolean }
  | { kind: 'diff'; path: string; old: string; new: string; all: boolean }
  | { kind: 'file'; path: string; text: string }
  | { kind: 'path'; path: string; range: string }
  | { kind: 'search'; pattern: string; place: string }
  | { kind: 'url'; url: string; prompt: string }
  | { kind: 'words'; text: string }
  | { kind: 'json'; value: unknown };

type Fields = Record<string, unknown>;

export function fields(input: unknown): Fields {
  return typeof input === 'object' && input !== null && !Array.isArray(input) ? (input as Fields) : {};
}

export function text(from: unknown, name: string): string {
  const value = fields(from)[name];
  return typeof value === 'string' ? value : '';
}

/** The thing of a call, by its tool. */
export function thingOf(tool: string, input: unknown): Thing {
  const of = (name: string) => text(input, name);
  switch (tool) {
    case 'Bash':
      if (of('command') === '') break;
      return { kind: 'command', text: of('command'), background: fields(input)['run_in_background'] === true };
    case 'Edit':
      if (of('file_path') === '') break;
      return {
        kind: 'diff',
        path: of('file_path'),
        old: of('old_string'),
        new: of('new_string'),
        all: fields(input)['replace_all'] === true,
      };
    case 'MultiEdit':
      return multiEdit(input);
    case 'Write':
      if (of('file_path') === '') break;
      return { kind: 'file', path: of('file_path'), text: of('content') };
    case 'NotebookEdit':
      if (of('notebook_path') === '') break;
      return { kind: 'file', path: of('notebook_path'), text: of('new_source') };
    case 'Read':
      if (of('file_path') === '') break;
      return { kind: 'path', path: of('file_path'), range: rangeOf(input) };
    case 'Grep':
    case 'Glob':
      return { kind: 'search', pattern: of('pattern'), place: of('path') };
    case 'WebFetch':
      return { kind: 'url', url: of('url'), prompt: of('prompt') };
    case 'WebSearch':
      return { kind: 'words', text: of('query') };
    case 'Task':
    case 'Agent':
      return { kind: 'words', text: of('prompt') || of('description') };
  }
  return { kind: 'json', value: input };
}

function multiEdit(input: unknown): Thing {
  const edits = fields(input)['edits'];
  const path = text(input, 'file_path');
  const isWhole = Array.isArray(edits) && edits.every((edit) => typeof edit === 'object' && edit !== null && !Array.isArray(edit));
  if (path === '' || !isWhole) return { kind: 'json', value: input };
  const side = (name: string) => edits.map((edit) => text(edit, name)).join('\n');
  return { kind: 'diff', path, old: side('old_string'), new: side('new_string'), all: false };
}

function rangeOf(input: unknown): string {
  const of = (name: string) => fields(input)[name];
  const offset = of('offset');
  const limit = of('limit');
  const from = typeof offset === 'number' ? offset : 1;
  if (typeof limit === 'number') return `lines ${from} to ${from + limit - 1}`;
  return typeof offset === 'number' ? `from line ${offset}` : '';
}

/** How many lines it takes, as it is shown. */
export function linesOf(thing: Thing): number {
  const count = (words: string) => (words === '' ? 0 : words.replace(/\n$/, '').split('\n').length);
  switch (thing.kind) {
    case 'command':
    case 'words':
    case 'file':
      return Math.max(1, count(thing.text));
    case 'diff':
      return Math.max(1, count(thing.old) + count(thing.new));
    case 'json':
      return count(JSON.stringify(thing.value, null, 2) ?? '');
    case 'url':
      return 1 + count(thing.prompt);
    case 'path':
    case 'search':
      return 1;
  }
}

/** How much a change adds and takes away, in lines: what stands in `+3 −1`. */
export function changeOf(thing: Thing): { added: number; removed: number } | null {
  const lines = (words: string) => (words === '' ? [] : words.replace(/\n$/, '').split('\n'));
  if (thing.kind === 'file') return { added: lines(thing.text).length, removed: 0 };
  if (thing.kind !== 'diff') return null;
  const [before, after] = [lines(thing.old), lines(thing.new)];
  let top = 0;
  while (top < before.length && top < after.length && before[top] === after[top]) top += 1;
  let end = 0;
  const room = Math.min(before.length, after.length) - top;
  while (end < room && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1;
  return { added: after.length - top - end, removed: before.length - top - end };
}

/** A path as one reads it: from the folder of the session where it lies inside. */
export function shown(path: string, cwd: string): string {
  const root = cwd.replace(/\/+$/, '');
  if (root !== '' && path.startsWith(`${root}/`)) return path.slice(root.length + 1);
  return path;
}
