// The change that a call of an editing tool makes, as a diff: by its own patch where it has run, else by its input. Keeps: made once
// for a call, since panels ask for all of them whenever a word is added to the conversation; a call that changes is another object.
import type { Tool } from '../../api/types';
import { fields, text as word } from '../../approval/thing';
import { created, diffTexts, ofPatch, type FileDiff } from '../model/diff';
import { inputOf } from '../model/tools';
import { within } from '../model/words';

const known = new WeakMap<Tool, { folder: string | undefined; change: FileDiff | null }>();

export function changeOf(tool: Tool, folder?: string): FileDiff | null {
  const before = known.get(tool);
  if (before && before.folder === folder) return before.change;
  const change = madeOf(tool, folder);
  known.set(tool, { folder, change });
  return change;
}

function madeOf(tool: Tool, folder?: string): FileDiff | null {
  const input = inputOf(tool);
  const path = within(word(input, 'file_path') || word(input, 'notebook_path'), folder);
  const structured = fields(tool.result?.structured?.json);
  const patch = tool.state === 'ran' ? ofPatch(path, structured['structuredPatch']) : null;
  if (patch) return patch;
  switch (tool.name) {
    case 'Write':
      return created(path, word(input, 'content'));
    case 'Edit':
      return diffTexts(path, word(input, 'old_string'), word(input, 'new_string'));
    case 'NotebookEdit':
      return diffTexts(path, word(input, 'old_source'), word(input, 'new_source'));
    case 'MultiEdit':
      return several(path, input['edits']);
    default:
      return null;
  }
}

/** Several edits of one file, each a hunk of its own: their lines in the file are not known before they run. */
function several(path: string, edits: unknown): FileDiff {
  const files = (Array.isArray(edits) ? edits : []).map((edit) =>
    diffTexts(path, word(edit, 'old_string'), word(edit, 'new_string')),
  );
  return {
    path,
    hunks: files.flatMap((file) => file.hunks),
    added: files.reduce((sum, file) => sum + file.added, 0),
    removed: files.reduce((sum, file) => sum + file.removed, 0),
  };
}

/** Whether the input was too long to be held: then the diff is a part. */
export function isCut(tool: Tool): boolean {
  return tool.state === 'ran' ? Boolean(tool.result?.structured?.whole) : Boolean(tool.input?.whole);
}
