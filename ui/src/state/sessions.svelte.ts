// All sessions, one map by id. Fed by state/feed; nobody else writes. Rule: an answer that was overtaken by a newer one is not taken.
// Unread marks are this browser's own.
import { SvelteMap } from 'svelte/reactivity';
import { Refused, api, take } from '../api/client';
import type { Session } from '../api/types';
import { GROUPS, byRepository, groupOf, inOrder, type GroupName } from './groups';
import { Newest } from './newest';
import { isUnread, newsOf, readSeen, type Seen } from './unread';

const SEEN = 'countersign.seen';
const SINCE = 'countersign.since';
const PAGE = 200;
/** So many are held; older ones that are done are found by search. */
const MOST = 1000;

class Sessions {
  readonly byId = new SvelteMap<string, Session>();
  isLoaded = $state(false);
  /** There are more than are held. */
  isCut = $state(false);
  #newest = new Newest();
  #seen = new SvelteMap<string, Seen>(readSeen(stored()));
  #since = firstLook();

  /** Not put away, by group, in order. */
  readonly groups = $derived.by(() => {
    const shown = [...this.byId.values()].filter((one) => !one.archived && !one.trashed);
    return GROUPS.map(({ name, label }) => ({
      name,
      label,
      items: inOrder(
        name,
        shown.filter((one) => groupOf(one) === name),
      ),
    }));
  });

  /** The same, by repository. */
  readonly repositories = $derived.by(() => byRepository(this.groups.flatMap((group) => group.items)));

  get(id: string | null): Session | undefined {
    return id === null ? undefined : this.byId.get(id);
  }

  in(group: GroupName): Session[] {
    return this.groups.find((one) => one.name === group)?.items ?? [];
  }

  /** Everything anew. */
  async load(): Promise<void> {
    const found = new Map<string, Session>();
    const turn = this.#newest.turn();
    let after: string | null | undefined;
    do {
      const query = after ? { most: PAGE, after } : { most: PAGE };
      const page = await take(api.GET('/api/v1/sessions', { params: { query } }));
      for (const one of page.items) found.set(one.id, one);
      after = page.next;
    } while (after && found.size < MOST);
    for (const id of this.byId.keys()) if (!found.has(id) && this.#newest.takes(id, turn)) this.#drop(id);
    for (const [id, one] of found) if (this.#newest.takes(id, turn)) this.byId.set(id, one);
    this.isCut = Boolean(after);
    this.isLoaded = true;
  }

  /** One anew. */
  async refresh(id: string): Promise<Session | undefined> {
    const turn = this.#newest.turn();
    try {
      const one = await take(api.GET('/api/v1/sessions/{id}', { params: { path: { id } } }));
      if (this.#newest.takes(id, turn)) this.byId.set(id, one);
    } catch (error) {
      if (!(error instanceof Refused) || error.status !== 404) throw error;
      if (this.#newest.takes(id, turn)) this.#drop(id);
    }
    return this.byId.get(id);
  }

  #drop(id: string): void {
    this.byId.delete(id);
    this.#newest.forget(id);
  }

  /** It has something to read that this browser has not shown. */
  isUnread(session: Session): boolean {
    return isUnread(session, this.#seen.get(session.id), this.#since);
  }

  markSeen(session: Session): void {
    const seen = this.#seen.get(session.id);
    const what = newsOf(session);
    if (seen && session.last_activity <= seen.at && what === seen.what) return;
    this.#seen.set(session.id, { at: Math.max(session.last_activity, seen?.at ?? 0), what });
    storeSeen(this.#seen);
  }
}

/** The newest thousand marks are kept. */
function storeSeen(seen: Iterable<[string, Seen]>): void {
  const newest = [...seen].sort((a, b) => b[1].at - a[1].at).slice(0, MOST);
  const marks = newest.map(([id, { at, what }]) => [id, [at, what]]);
  try {
    localStorage.setItem(SEEN, JSON.stringify(Object.fromEntries(marks)));
  } catch {
    // Marks last as long as the page.
  }
}

/** When this browser looked for the first time, in microseconds. */
function firstLook(): number {
  const now = Date.now() * 1000;
  try {
    const stored = Number(localStorage.getItem(SINCE));
    if (stored > 0) return stored;
    localStorage.setItem(SINCE, String(now));
  } catch {
    // As above.
  }
  return now;
}

function stored(): string | null {
  try {
    return localStorage.getItem(SEEN);
  } catch {
    return null;
  }
}

export const sessions = new Sessions();
