// All questions the page knows, one map by id, fed by state/feed. Rules: an answer names the digest of what was shown; what is
// being sent is told from what the server has; a card never learns from the page that it was delivered, only from the server; of
// those that are over, the last few hundred are kept.
import { SvelteMap } from 'svelte/reactivity';
import { Refused, api, take, words } from '../api/client';
import type { Approval, Decide, Receipt } from '../api/types';

const PAGE = 200;
/** So many are held, open ones always. */
const MOST = 500;

/** An answer on its way, or one that did not arrive. */
export interface Sending {
  decide: Decide;
  at: number;
  /** Why it was not taken; the card is open again. */
  failed: string | null;
}

class Approvals {
  readonly byId = new SvelteMap<string, Approval>();
  /** The same by session and name on the wire: every call of a conversation asks for its own. */
  #byRequest = new SvelteMap<string, Approval>();
  readonly sending = new SvelteMap<string, Sending>();
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
    let after: string | null | undefined;
    do {
      const query = after ? { state: 'open', most: PAGE, after } : { state: 'open', most: PAGE };
      const page = await take(api.GET('/api/v1/approvals', { params: { query } }));
      for (const one of page.items) found.set(one.id, one);
      after = page.next;
    } while (after);
    const gone = this.open.filter((one) => !found.has(one.id));
    for (const one of found.values()) this.#put(one);
    await Promise.all(gone.map((one) => this.refresh(one.id)));
    this.isLoaded = true;
  }

  /** One anew. */
  async refresh(id: string): Promise<Approval | undefined> {
    try {
      const one = await take(api.GET('/api/v1/approvals/{id}', { params: { path: { id } } }));
      this.#put(one);
      if (one.life !== 'open') this.sending.delete(id);
      return one;
    } catch (error) {
      if (!(error instanceof Refused) || error.status !== 404) throw error;
      this.#drop(id);
      return undefined;
    }
  }

  #put(one: Approval): void {
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
  }

  /** Answers. What is refused stands in `sending` with its reason, and is thrown. */
  async decide(approval: Approval, decide: Decide): Promise<Receipt> {
    const { id, digest } = approval;
    this.sending.set(id, { decide, at: Date.now(), failed: null });
    try {
      const body = { ...decide, saw: digest };
      const receipt = await take(
        api.POST('/api/v1/approvals/{id}/decision', { params: { path: { id } }, body }),
      );
      void this.refresh(id).catch(() => {});
      return receipt;
    } catch (error) {
      this.sending.set(id, { decide, at: Date.now(), failed: words(error) });
      // Somebody else may have been first: then the card shows that, not an error.
      void this.refresh(id).catch(() => {});
      throw error;
    }
  }

  /** Answers this one and, alike, those whose digests are named. */
  async decideAlike(approval: Approval, decide: Decide, others: Approval[]): Promise<Receipt> {
    const all = [approval, ...others];
    for (const one of all) this.sending.set(one.id, { decide, at: Date.now(), failed: null });
    try {
      const body = { ...decide, saw: approval.digest, others: others.map((one) => one.digest) };
      const path = { id: approval.id };
      return await take(api.POST('/api/v1/approvals/{id}/decision/alike', { params: { path }, body }));
    } catch (error) {
      for (const one of all) this.sending.set(one.id, { decide, at: Date.now(), failed: words(error) });
      throw error;
    } finally {
      for (const one of all) void this.refresh(one.id).catch(() => {});
    }
  }

  /** Takes back what is said of a failed answer. */
  forget(id: string): void {
    this.sending.delete(id);
  }
}

const requestOf = (session: string, requestId: string): string => `${session} ${requestId}`;

export const approvals = new Approvals();
