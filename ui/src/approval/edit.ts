// The input of a call as fields that can be changed, and back. Pure.
// Invariant: what has no field of its own is kept as it was; a change that is no change is not sent.

import { fields } from './thing';

export interface EditField {
  name: string;
  label: string;
  /** Text as it is, or JSON for everything that is no text. */
  as: 'text' | 'json';
  long: boolean;
  value: string;
}

const LABELS: Record<string, string> = {
  command: 'Command',
  description: 'Description',
  file_path: 'File',
  notebook_path: 'Notebook',
  old_string: 'Old text',
  new_string: 'New text',
  content: 'Content',
  url: 'Address',
  prompt: 'Prompt',
  query: 'Search',
  pattern: 'Pattern',
  path: 'Folder',
};

/** The fields of an input, the telling ones first. */
export function editFields(input: unknown): EditField[] {
  const order = Object.keys(LABELS);
  const place = (name: string) => {
    const found = order.indexOf(name);
    return found < 0 ? order.length : found;
  };
  const entries = Object.entries(fields(input)).sort(([one], [two]) => place(one) - place(two));
  return entries.map(([name, value]) => {
    const isText = typeof value === 'string';
    const shown = isText ? value : (JSON.stringify(value, null, 2) ?? '');
    const long = shown.length > 60 || shown.includes('\n') || name === 'command' || name === 'content';
    return { name, label: LABELS[name] ?? name, as: isText ? 'text' : 'json', long, value: shown };
  });
}

export type Edited = { input: Record<string, unknown> } | { problem: string; field: string } | null;

/** The input with what was changed; none if nothing was. */
export function edited(input: unknown, changed: Record<string, string>): Edited {
  const before = editFields(input);
  const next: Record<string, unknown> = { ...fields(input) };
  let differs = false;
  for (const field of before) {
    const value = changed[field.name];
    if (value === undefined || value === field.value) continue;
    differs = true;
    if (field.as === 'text') {
      next[field.name] = value;
      continue;
    }
    try {
      next[field.name] = JSON.parse(value);
    } catch {
      return { problem: `${field.label} is not valid JSON.`, field: field.name };
    }
  }
  return differs ? { input: next } : null;
}
