// What is completed while a message is written: `/` at the very beginning names a command, `@` behind a space names a file.
// Pure. Keeps: only the word at the caret is ever replaced.

export interface Wanted { what: 'command' | 'file'; query: string; from: number; to: number }

/** What the word at the caret asks for. */
export function wantedAt(text: string, caret: number): Wanted | null {
  const before = text.slice(0, caret);
  const command = /^\/([\w:.-]*)$/.exec(before);
  if (command) return { what: 'command', query: command[1] ?? '', from: 0, to: endOfWord(text, caret) };
  const file = /(?:^|\s)@([^\s@]*)$/.exec(before);
  if (!file) return null;
  const query = file[1] ?? '';
  return { what: 'file', query, from: caret - query.length - 1, to: endOfWord(text, caret) };
}

function endOfWord(text: string, caret: number): number {
  const rest = /^\S*/.exec(text.slice(caret));
  return caret + (rest?.[0].length ?? 0);
}

/** The text with the word replaced, and where the caret is then. A folder goes on without a space. */
export function complete(text: string, wanted: Wanted, chosen: string): { text: string; caret: number } {
  const word = (wanted.what === 'command' ? '/' : '@') + chosen;
  const rest = text.slice(wanted.to);
  const space = chosen.endsWith('/') || rest.startsWith(' ') ? '' : ' ';
  const head = text.slice(0, wanted.from) + word + space;
  return { text: head + rest, caret: head.length };
}

export interface Command { name: string; description: string; hint: string }

/** The CLI's list, read leniently. */
export function commandsOf(items: readonly unknown[]): Command[] {
  const commands: Command[] = [];
  for (const item of items) {
    const one = item as { name?: unknown; description?: unknown; argumentHint?: unknown };
    if (typeof one.name !== 'string' || one.name === '') continue;
    const word = (value: unknown) => (typeof value === 'string' ? value : '');
    commands.push({ name: one.name, description: word(one.description), hint: word(one.argumentHint) });
  }
  return commands;
}

/** Those that fit, the ones that begin with it first. */
export function fitting(commands: readonly Command[], query: string, most = 50): Command[] {
  const wanted = query.toLowerCase();
  const begins = commands.filter((command) => command.name.toLowerCase().startsWith(wanted));
  const holds = commands.filter((command) => !begins.includes(command) && command.name.toLowerCase().includes(wanted));
  return [...begins, ...holds].slice(0, most);
}
