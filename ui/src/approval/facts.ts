// What stands below the thing of a call: what is unusual about it in words, and every other field by its name. Pure.
// Invariant: a field of the input that the thing does not show is told here, whatever its name and its kind; only nulls are not.

import { fields, thingOf } from './thing';
import { exactly } from './times';

export interface Fact {
  /** The field, where its value is told as it came; none for a sentence. */
  name: string | null;
  text: string;
  /** It reaches further than such a call does by itself. */
  isUnusual: boolean;
}

/** Texts that the thing of a tool shows whole. */
const SHOWN: Record<string, string[]> = {
  Bash: ['command'],
  Edit: ['file_path', 'old_string', 'new_string'],
  MultiEdit: ['file_path'],
  Write: ['file_path', 'content'],
  NotebookEdit: ['notebook_path', 'new_source'],
  Read: ['file_path'],
  Grep: ['pattern', 'path'],
  Glob: ['pattern', 'path'],
  WebFetch: ['url', 'prompt'],
  WebSearch: ['query'],
  Task: ['prompt'],
  Agent: ['prompt'],
};

const EVERYWHERE = 'replaces every match of the old text';

export function factsOf(tool: string, input: unknown): Fact[] {
  const thing = thingOf(tool, input);
  if (thing.kind === 'json') return [];
  const told = new Told(fields(input));
  for (const name of SHOWN[tool] ?? []) told.text(name, () => null);
  switch (tool) {
    case 'Bash':
      told.text('description', (words) => words);
      told.flag('run_in_background', 'runs in the background');
      told.flag('dangerouslyDisableSandbox', 'runs outside the sandbox', true);
      told.number('timeout', (millis) => `ends after ${exactly(millis)} at the latest`);
      break;
    case 'Edit':
      told.flag('replace_all', EVERYWHERE);
      break;
    case 'MultiEdit':
      told.edits();
      break;
    case 'NotebookEdit':
      told.cell();
      break;
    case 'Read':
      told.number('offset', () => null);
      told.number('limit', () => null);
      break;
    case 'Task':
    case 'Agent':
      // Without a prompt the description is the thing.
      told.text('description', (words) => (thing.kind === 'words' && thing.text === words ? null : words));
  }
  return told.all();
}

/** Fields that were told, and what was said of them. A value of another kind than is known is not told by a sentence. */
class Told {
  #of: Record<string, unknown>;
  #told = new Set<string>();
  #facts: Fact[] = [];

  constructor(of: Record<string, unknown>) {
    this.#of = of;
  }

  text(name: string, words: (text: string) => string | null): void {
    const value = this.#of[name];
    if (typeof value === 'string') this.#say(name, words(value));
  }

  number(name: string, words: (number: number) => string | null): void {
    const value = this.#of[name];
    if (typeof value === 'number') this.#say(name, words(value));
  }

  flag(name: string, words: string, isUnusual = false): void {
    const value = this.#of[name];
    if (typeof value === 'boolean') this.#say(name, value ? words : null, isUnusual);
  }

  /** Each edit of several: the thing shows their texts. */
  edits(): void {
    const edits = this.#of['edits'];
    if (!Array.isArray(edits)) return;
    this.#told.add('edits');
    edits.forEach((edit: unknown, at) => {
      const one = new Told(fields(edit));
      for (const name of ['old_string', 'new_string']) one.text(name, () => null);
      one.flag('replace_all', `edit ${at + 1} of ${edits.length} ${EVERYWHERE}`);
      const facts = one.all().map((fact) => (fact.name === null ? fact : { ...fact, name: `edits[${at}].${fact.name}` }));
      this.#facts.push(...facts);
    });
  }

  /** What becomes of a cell of a notebook. */
  cell(): void {
    const mode = this.#of['edit_mode'] ?? 'replace';
    const words = { replace: 'replaces the cell', insert: 'inserts a cell', delete: 'deletes the cell' };
    if (mode === 'replace' || mode === 'insert' || mode === 'delete') this.#say('edit_mode', words[mode], mode === 'delete');
    this.text('cell_id', (id) => (mode === 'insert' ? `behind the cell ${id}` : `cell ${id}`));
    this.text('cell_type', (type) => `as ${type}`);
  }

  all(): Fact[] {
    const others = Object.entries(this.#of).flatMap(([name, value]): Fact[] => {
      if (this.#told.has(name) || value === null || value === undefined) return [];
      return [{ name, text: JSON.stringify(value), isUnusual: false }];
    });
    return [...this.#facts, ...others];
  }

  #say(name: string, text: string | null, isUnusual = false): void {
    this.#told.add(name);
    if (text !== null && text !== '') this.#facts.push({ name: null, text, isUnusual });
  }
}
