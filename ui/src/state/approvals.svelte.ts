// All questions the page knows, one map by id, fed by state/feed. Rules: what is held is what the server said, never what this page
// has sent (that is approval/desk's); an answer that was overtaken by a newer one is not taken; of those that are over, the last few
// hundred are kept.
import { SvelteMap } from 'svelte/reactivity';
import { Refused, api, take } from '../api/client';
import type { Approval } from '../api/types';
import { Newest, type Turn } from './newest';

const PAGE = 200;
/** So many are held, open ones always. */
const MOST = 500;

class Approvals {
  readonly byId = new SvelteMap<string, Approval>();
  /** The same by session and name on the wire: every call of a conversation asks for its own. */
  #byRequest = new SvelteMap<string, Approval>();
  #newest = new Newest();
  isLoaded = $state(false);

  /** Those that wait for a person, longest wait first. */
  readonly open = $derived.by(() => {
    const open = [...this.byId.values()].filter((one) => one.life === 'open');
    return open.sort((a, b) => a.asked - b.asked || (a.id < b.id ? -1 : 1));
  });

  get(id: string | null): Approval | undefined {
    return id === null ? undefined : this.byId.get(id);
  }

  /** The open ones of one session, longest wait first. */
  of(session: string): Approval[] {
    return this.open.filter((one) => one.session === session);
  }

  /** The one behind a call of the transcript, by the name it has on the wire. */
  byRequest(session: string, requestId: string): Approval | undefined {
    return this.#byRequest.get(requestOf(session, requestId));
  }

  /** All open ones anew. Those that are open here and no longer there are asked for one by one. */
  async load(): Promise<void> {
    const found = new Map<string, Approval>();
    const turn = this.#newest.turn();
    let after: string | null | undefined;
    do {
      const query = after ? { state: 'open', most: PAGE, after } : { state: 'open', most: PAGE };
      const page = await take(api.GET('/api/v1/approvals', { params: { query } }));
      for (const one of page.items) found.set(one.id, one);
      after = page.next;
    } while (after);
    const gone = this.open.filter((one) => !found.has(one.id));
    for (const one of found.values()) this.#put(one, turn);
    await Promise.all(gone.map((one) => this.refresh(one.id)));
    this.isLoaded = true;
  }

  /** One anew. */
  async refresh(id: string): Promise<Approval | undefined> {
    const turn = this.#newest.turn();
    try {
      const one = await take(api.GET('/api/v1/approvals/{id}', { params: { path: { id } } }));
      this.#put(one, turn);
    } catch (error) {
      if (!(error instanceof Refused) || error.status !== 404) throw error;
      if (this.#newest.takes(id, turn)) this.#drop(id);
    }
    return this.byId.get(id);
  }

  #put(one: Approval, turn: Turn): void {
    if (!this.#newest.takes(one.id, turn)) return;
    this.byId.set(one.id, one);
    this.#byRequest.set(requestOf(one.session, one.request_id), one);
    if (this.byId.size <= MOST) return;
    for (const [id, old] of this.byId) {
      if (old.life === 'open') continue;
      this.#drop(id);
      if (this.byId.size <= MOST) return;
    }
  }

  #drop(id: string): void {
    const one = this.byId.get(id);
    if (one) this.#byRequest.delete(requestOf(one.session, one.request_id));
    this.byId.delete(id);
    this.#newest.forget(id);
  }
}

const requestOf = (session: string, requestId: string): string => `${session} ${requestId}`;

export const approvals = new Approvals();
