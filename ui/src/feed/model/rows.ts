// Entries → rows of the feed. Reads that follow each other are one row; sub-agents that one message started are one row, with what
// they did beneath. Keeps: every entry stands in exactly one row or is left out by name; a row is called after its first entry.

import type { Entry, EntryId } from '../../api/types';
import { summarise } from './tools';
import { counted } from '../../kit/ages';

export type Row =
  | { is: 'entry'; key: EntryId; entry: Entry }
  | { is: 'reads'; key: EntryId; entries: Entry[] }
  | { is: 'agents'; key: EntryId; entries: Entry[]; under: ReadonlyMap<EntryId, Entry[]> }
  | { is: 'day'; key: string; at: number };

/** What is not shown in the conversation: it stands in the raw frames, and in panels. */
export function isHidden(entry: Entry): boolean {
  const { body } = entry;
  switch (body.kind) {
    case 'hook':
      // Hooks that did nothing remarkable are noise.
      return body.is.state === 'done' && !body.is.decision && !body.is.reason;
    case 'limit':
      return body.is.status === 'allowed';
    case 'notice':
      return body.is.about === 'title';
    case 'thinking':
      return body.is.text.text === '' && !body.is.is_redacted && !body.is.is_partial;
    case 'result':
      return false;
    default:
      return false;
  }
}

/** That a turn was interrupted is said by its end, where that follows. */
function isSaidNext(entry: Entry, next: Entry | undefined): boolean {
  return entry.body.kind === 'notice' && entry.body.is.about === 'interrupted' && next?.body.kind === 'result';
}

/** Whether a call only looks, ran without a question to a person, and is done or on its way. */
function isRead(entry: Entry): boolean {
  if (entry.body.kind !== 'tool') return false;
  const tool = entry.body.is;
  if (tool.state === 'failed' || tool.state === 'refused' || tool.state === 'asking') return false;
  if (tool.approval && tool.approval.standing.state === 'open') return false;
  // What a person let run keeps its own line, and its signature.
  const by = tool.approval?.answer?.by;
  if (by && by !== 'rule' && by !== 'mode') return false;
  return tool.role === 'plain' && summarise(tool).look === 'read';
}

function isAgent(entry: Entry): boolean {
  return entry.body.kind === 'tool' && entry.body.is.role === 'agent';
}


export function rowsOf(entries: readonly Entry[]): Row[] {
  const known = new Set(entries.filter(isAgent).map((entry) => entry.id));
  const under = new Map<EntryId, Entry[]>();
  const top: Entry[] = [];
  for (const [at, entry] of entries.entries()) {
    if (isHidden(entry) || isSaidNext(entry, entries[at + 1])) continue;
    if (entry.parent && known.has(entry.parent)) listOf(under, entry.parent).push(entry);
    else top.push(entry);
  }
  return joined(top, under);
}

function listOf(map: Map<EntryId, Entry[]>, key: EntryId): Entry[] {
  const list = map.get(key) ?? [];
  map.set(key, list);
  return list;
}

function joined(top: readonly Entry[], under: ReadonlyMap<EntryId, Entry[]>): Row[] {
  const rows: Row[] = [];
  let day = '';
  for (const entry of top) {
    const today = new Date(entry.at / 1000).toDateString();
    if (day !== '' && today !== day) rows.push({ is: 'day', key: `day ${entry.id}`, at: entry.at });
    day = today;
    const last = rows.at(-1);
    if (isRead(entry)) {
      if (last?.is === 'reads' && sameSpeaker(last.entries[0], entry)) last.entries.push(entry);
      else rows.push({ is: 'reads', key: entry.id, entries: [entry] });
    } else if (isAgent(entry)) {
      if (last?.is === 'agents' && sameMessage(last.entries[0], entry)) last.entries.push(entry);
      else rows.push({ is: 'agents', key: entry.id, entries: [entry], under });
    } else rows.push({ is: 'entry', key: entry.id, entry });
  }
  return rows.map((row) => {
    const only = row.is === 'reads' && row.entries.length === 1 ? row.entries[0] : undefined;
    return only ? { is: 'entry', key: row.key, entry: only } : row;
  });
}

function sameSpeaker(first: Entry | undefined, second: Entry): boolean {
  return (first?.parent ?? null) === (second.parent ?? null) && (first?.speaker ?? null) === (second.speaker ?? null);
}

function sameMessage(first: Entry | undefined, second: Entry): boolean {
  if (first?.body.kind !== 'tool' || second.body.kind !== 'tool') return false;
  return first.body.is.message != null && first.body.is.message === second.body.is.message;
}

/** `Read 6 files, searched 3 times`. */
export function readsWords(entries: readonly Entry[]): string {
  const files = new Set<string>();
  let searches = 0;
  let lists = 0;
  for (const entry of entries) {
    if (entry.body.kind !== 'tool') continue;
    const { icon, arg } = summarise(entry.body.is);
    if (icon === 'file') files.add(arg || entry.id);
    else if (icon === 'folder') lists += 1;
    else searches += 1;
  }
  const parts = [
    files.size > 0 ? `read ${counted(files.size, 'file')}` : '',
    searches > 0 ? `searched ${searches === 1 ? 'once' : searches === 2 ? 'twice' : `${searches} times`}` : '',
    lists > 0 ? `listed ${counted(lists, 'folder')}` : '',
  ].filter(Boolean);
  const words = parts.join(', ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Entries a row stands for: for the count of what is new. */
export function entriesIn(row: Row): number {
  return row.is === 'day' ? 0 : row.is === 'entry' ? 1 : row.entries.length;
}
