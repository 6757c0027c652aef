// Where a conversation says a plan more than once: written to its file, offered, offered again, sent to a fresh conversation. Pure.
// Keeps: the newest version that was offered stays open; nothing is left out, what repeats it comes folded.

import type { Entry, EntryId } from '../../api/types';
import { fields, text as word } from '../../approval/thing';
import { inputOf } from './tools';

/** The plan that a call offers; none where it is no such call. */
export function planOf(entry: Entry): string {
  if (entry.body.kind !== 'tool' || entry.body.is.name !== 'ExitPlanMode') return '';
  const tool = entry.body.is;
  return word(inputOf(tool), 'plan') || word(fields(tool.result?.structured?.json), 'plan');
}

/** Entries that say what the newest offer of the plan says, or said before it. */
export function repeatsOf(entries: readonly Entry[]): ReadonlySet<EntryId> {
  const offers = entries.filter((entry) => planOf(entry).trim() !== '');
  if (offers.length === 0) return NONE;
  const plans = new Set(offers.map((entry) => planOf(entry).trim()));
  const files = new Set(offers.map(fileOf).filter(Boolean));
  const found = new Set(offers.slice(0, -1).map((entry) => entry.id));
  for (const entry of entries) {
    const { body } = entry;
    if (body.kind === 'prompt' && [...plans].some((plan) => body.is.text.text.includes(plan))) found.add(entry.id);
    if (body.kind !== 'tool') continue;
    const input = inputOf(body.is);
    const isPlan = plans.has(word(input, 'content').trim()) || files.has(word(input, 'file_path'));
    if (isPlan && ['Write', 'Edit', 'MultiEdit'].includes(body.is.name)) found.add(entry.id);
  }
  return found;
}

const NONE: ReadonlySet<EntryId> = new Set();

function fileOf(entry: Entry): string {
  if (entry.body.kind !== 'tool') return '';
  const tool = entry.body.is;
  return word(inputOf(tool), 'planFilePath') || word(fields(tool.result?.structured?.json), 'filePath');
}
