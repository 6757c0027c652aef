// The part of a transcript that is held: pages put together with what the stream changes. Pure: every step gives a new window.
// Keeps: entries sorted by name, at most HELD of them; an entry that a page told already is not changed by older events.
// What was dropped below can be read again: `before=` a boundary gives the page in front of it.

import type { Change, Changes, Cursor, Entry, EntryId, TranscriptPage } from '../../api/types';
import { compareIds, isBehind } from './ids';

/** Entries held at most, and entries of one page. */
export const HELD = 600;
export const PAGE = 100;

interface Held { readonly entry: Entry; readonly asOf: Cursor }

export interface Window {
  readonly held: readonly Held[];
  /** There is more above. */
  readonly more: boolean;
  /** The first entry below what is held, or a name in front of it; null if the newest entry is held. */
  readonly next: EntryId | null;
  /** Where pages below end, nearest last: `before=` one of them gives the page in front of it. */
  readonly below: readonly EntryId[];
  /** Entries behind the furthest boundary. */
  readonly unheld: number;
  /** The newest entry that is known, held or not. */
  readonly newest: EntryId | null;
  /** The record up to which events have been taken. */
  readonly cursor: Cursor;
  /** How many entries have begun since it was opened. */
  readonly added: number;
}

export const EMPTY: Window = { held: [], more: false, next: null, below: [], unheld: 0, newest: null, cursor: '0-0', added: 0 };

/** Whether the newest entry is held: only then may the view be pinned to the end. */
export function isAtNewest(window: Window): boolean {
  return window.next === null;
}

/** The newest page: everything else is forgotten. */
export function openAt(page: TranscriptPage): Window {
  return { ...EMPTY, held: heldOf(page), more: page.more, newest: page.items.at(-1)?.id ?? null, cursor: page.cursor };
}

/** A page in the middle of a session that is open already: the stream goes on where it is. */
export function openAround(window: Window, page: TranscriptPage): Window {
  const last = page.items.at(-1)?.id;
  const isEnd = !last || !window.newest || compareIds(last, window.newest) >= 0;
  return { ...window, held: heldOf(page), more: page.more, next: isEnd ? null : behind(last), below: [], unheld: 0 };
}

function heldOf(page: TranscriptPage): Held[] {
  return page.items.map((entry) => ({ entry, asOf: page.cursor }));
}

/** A name behind that one and in front of all entries of later records. */
function behind(id: EntryId): EntryId {
  return `${id.replace(/\..*$/, '')}.65535`;
}

/** What to ask for to go up; none if nothing is above. */
export function askAbove(window: Window): EntryId | null {
  return window.more ? (window.held[0]?.entry.id ?? null) : null;
}

/** An older page goes on top. Beyond HELD the newest go, as pages that can be read again. */
export function takeAbove(window: Window, page: TranscriptPage): Window {
  const first = window.held[0]?.entry.id;
  const above = heldOf(page).filter((item) => !first || compareIds(item.entry.id, first) < 0);
  const held = [...above, ...window.held];
  let { next, unheld } = window;
  const below = [...window.below];
  while (held.length > HELD) {
    const dropped = held.splice(held.length - PAGE);
    if (next === null) unheld = dropped.length;
    else below.push(next);
    next = dropped[0]?.entry.id ?? next;
  }
  return { ...window, held, more: page.more, next, below, unheld };
}

/** What to ask for to go down: the page before this entry; null asks for the newest page. */
export function askBelow(window: Window): EntryId | null {
  return window.below.at(-1) ?? null;
}

/** A page below goes under what is held; beyond HELD the oldest go. None if entries between would be missing. */
export function takeBelow(window: Window, page: TranscriptPage, asked: EntryId | null): Window | null {
  const last = window.held.at(-1)?.entry.id;
  const first = page.items[0]?.id;
  if (last && first && page.more && compareIds(first, last) > 0 && !follows(window, first)) return null;
  const under = heldOf(page).filter((item) => !last || compareIds(item.entry.id, last) > 0);
  const held = [...window.held, ...under];
  const cut = Math.max(0, held.length - HELD);
  const isNewest = asked === null;
  return {
    ...window,
    held: held.slice(cut),
    more: window.more || cut > 0,
    next: isNewest ? null : asked,
    below: window.below.at(-1) === asked ? window.below.slice(0, -1) : window.below,
    unheld: isNewest ? 0 : window.unheld,
    newest: isNewest ? (page.items.at(-1)?.id ?? window.newest) : window.newest,
  };
}

/** Whether nothing lies between what is held and that entry. */
function follows(window: Window, first: EntryId): boolean {
  return window.next !== null && compareIds(first, window.next) <= 0;
}

/** What records changed, one or those of a whole frame. Beyond HELD the oldest go, unless the reader is up there. */
export function takeAll(window: Window, all: readonly Changes[]): Window {
  const { unheld, newest, added } = window;
  const draft: Draft = { held: [...window.held], below: [...window.below], unheld, newest, added };
  let { cursor } = window;
  for (const changes of all) {
    if (!isBehind(changes.cursor, cursor)) continue;
    cursor = changes.cursor;
    for (const change of changes.entries) takeOne(draft, change, cursor, isAtNewest(window));
  }
  const cut = isAtNewest(window) ? Math.max(0, draft.held.length - HELD) : 0;
  const held = cut > 0 ? draft.held.slice(cut) : draft.held;
  return { ...draft, held, next: window.next, more: window.more || cut > 0, cursor };
}

export function take(window: Window, changes: Changes): Window {
  return takeAll(window, [changes]);
}

interface Draft { held: Held[]; below: EntryId[]; unheld: number; newest: EntryId | null; added: number }

function takeOne(draft: Draft, change: Change, cursor: Cursor, wasAtNewest: boolean): void {
  const id = 'put' in change ? change.put.id : change.grow.id;
  const at = placeOf(draft.held, id);
  const known = draft.held[at];
  if (known?.entry.id === id) {
    if (!isBehind(cursor, known.asOf)) return;
    const entry = 'put' in change ? change.put : grown(known.entry, change.grow);
    // The same record may change an entry twice, so what holds is the record before it.
    draft.held[at] = { entry, asOf: known.asOf };
    return;
  }
  if (!('put' in change)) return;
  if (draft.newest !== null && compareIds(id, draft.newest) <= 0) {
    // It began before what is known as newest: a late end of something that is not held, or a gap to fill in place.
    const first = draft.held[0]?.entry.id;
    if (wasAtNewest && first && compareIds(id, first) > 0) draft.held.splice(at, 0, { entry: change.put, asOf: before(cursor) });
    return;
  }
  draft.newest = id;
  draft.added += 1;
  if (wasAtNewest) {
    draft.held.push({ entry: change.put, asOf: before(cursor) });
    return;
  }
  if (draft.unheld >= PAGE) {
    draft.below.unshift(id);
    draft.unheld = 0;
  }
  draft.unheld += 1;
}

/** A cursor in front of this one, so that further changes of the same record are taken. */
function before(cursor: Cursor): Cursor {
  const [generation = '0', seq = '0'] = cursor.split('-');
  return `${generation}-${Math.max(0, Number(seq) - 1)}`;
}

function grown(entry: Entry, grow: { last: Cursor; text: string; length: number }): Entry {
  const { body } = entry;
  if (body.kind !== 'text' && body.kind !== 'thinking' && body.kind !== 'stderr') return { ...entry, last: grow.last };
  const text = { ...body.is.text, text: body.is.text.text + grow.text, length: grow.length };
  return { ...entry, last: grow.last, body: { ...body, is: { ...body.is, text } } as Entry['body'] };
}

/** Where that name stands, or would stand. */
function placeOf(held: readonly Held[], id: EntryId): number {
  let low = 0;
  let high = held.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compareIds(held[middle]?.entry.id ?? '', id) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function entriesOf(window: Window): Entry[] {
  return window.held.map((item) => item.entry);
}
