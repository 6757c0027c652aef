// The messages of one session that wait. Rules: what is shown is what the host has; a change is shown at once and taken back if refused.
import { api, take, words } from '../api/client';
import type { Queued } from '../api/types';
import { onHappened } from '../state/feed.svelte';

export class Queue {
  readonly session: string;
  items = $state.raw<readonly Queued[]>([]);
  /** What went wrong with an item, by id; '' for the queue itself. */
  troubles = $state.raw<ReadonlyMap<string, string>>(new Map());
  #stop: () => void;

  constructor(session: string) {
    this.session = session;
    this.#stop = onHappened((happened) => {
      const isOurs = 'session' in happened && happened.session === session;
      if (happened.event === 'gap' || (isOurs && (happened.event === 'queue' || happened.event === 'turn'))) void this.load();
    });
    void this.load();
  }

  close(): void {
    this.#stop();
  }

  async load(): Promise<void> {
    try {
      this.items = (await take(api.GET('/api/v1/sessions/{id}/queue', { params: { path: { id: this.session } } }))) as Queued[];
    } catch {
      // The connection broke: the next event asks again.
    }
  }

  remove(message: string): Promise<boolean> {
    this.items = this.items.filter((item) => item.id !== message);
    return this.#do(message, api.DELETE('/api/v1/sessions/{id}/queue/{message}', { params: { path: { id: this.session, message } } }));
  }

  /** False if it was not taken: it has gone out, or nobody answered. */
  edit(message: string, text: string): Promise<boolean> {
    this.items = this.items.map((item) => (item.id === message ? { ...item, text } : item));
    return this.#do(message, api.PATCH('/api/v1/sessions/{id}/queue/{message}', { params: { path: { id: this.session, message } }, body: { text } }));
  }

  /** In front of that one; behind all others without it. */
  move(message: string, before: string | null): Promise<boolean> {
    this.items = moved(this.items, message, before);
    return this.#do(message, api.POST('/api/v1/sessions/{id}/queue/{message}/move', { params: { path: { id: this.session, message } }, body: { before } }));
  }

  sendNow(message: string): Promise<boolean> {
    return this.#do(message, api.POST('/api/v1/sessions/{id}/queue/{message}/send-now', { params: { path: { id: this.session, message } } }));
  }

  release(): Promise<boolean> {
    return this.#do('', api.POST('/api/v1/sessions/{id}/queue/release', { params: { path: { id: this.session } } }));
  }

  async #do(id: string, answer: Parameters<typeof take>[0]): Promise<boolean> {
    const troubles = new Map(this.troubles);
    troubles.delete(id);
    try {
      await take(answer);
    } catch (error) {
      troubles.set(id, words(error));
    }
    this.troubles = troubles;
    await this.load();
    return !troubles.has(id);
  }
}

/** An item while its words are changed. */
export interface Edit { id: string; was: string; text: string }

/** Words that would be lost with the editor: changed, and not yet given to the queue. */
export function unsaved(edit: Edit | null): string | null {
  return edit && edit.text.trim() && edit.text !== edit.was ? edit.text : null;
}

/** The list with one item at another place. */
export function moved(items: readonly Queued[], id: string, before: string | null): Queued[] {
  const item = items.find((one) => one.id === id);
  const others = items.filter((one) => one.id !== id);
  if (!item || id === before) return [...items];
  const at = before === null ? others.length : others.findIndex((one) => one.id === before);
  return at < 0 ? [...items] : [...others.slice(0, at), item, ...others.slice(at)];
}
