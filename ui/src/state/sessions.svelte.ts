// All sessions, one map by id. Fed by state/feed; nobody else writes. Rule: an answer that was overtaken by a newer one is not taken.
// Unread marks are this browser's own.
import { SvelteMap } from 'svelte/reactivity';
import { Refused, api, take } from '../api/client';
import type { Session } from '../api/types';
import { GROUPS, groupOf, inOrder, type GroupName } from './groups';
import { Newest } from './newest';

const SEEN = 'countersign.seen';
const PAGE = 200;
/** So many are held; older ones that are done are found by search. */
const MOST = 1000;

class Sessions {
  readonly byId = new SvelteMap<string, Session>();
  isLoaded = $state(false);
  /** There are more than are held. */
  isCut = $state(false);
  #newest = new Newest();
  #seen = new SvelteMap<string, number>(readSeen());

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

  /** Something happened since this browser last showed it. A session that was never opened here is new, not unread, while it runs. */
  isUnread(session: Session): boolean {
    const seen = this.#seen.get(session.id);
    return seen === undefined ? groupOf(session) === 'needs' : session.last_activity > seen;
  }

  markSeen(session: Session): void {
    const seen = this.#seen.get(session.id) ?? 0;
    if (session.last_activity <= seen) return;
    this.#seen.set(session.id, session.last_activity);
    storeSeen(this.#seen);
  }
}

function readSeen(): [string, number][] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(SEEN) ?? '{}');
    if (typeof stored !== 'object' || stored === null) return [];
    return Object.entries(stored).filter((pair): pair is [string, number] => typeof pair[1] === 'number');
  } catch {
    return [];
  }
}

/** The newest thousand marks are kept. */
function storeSeen(seen: Iterable<[string, number]>): void {
  const newest = [...seen].sort((a, b) => b[1] - a[1]).slice(0, MOST);
  try {
    localStorage.setItem(SEEN, JSON.stringify(Object.fromEntries(newest)));
  } catch {
    // Marks last as long as the page.
  }
}

export const sessions = new Sessions();
