// Sends what waits for the server once it is back, whichever page is shown. Rules: a letter goes out in the way the composer's button
// names then; it keeps its key and, once tried, its way, so that it is done once; letters go out in order, from one tab at a time.
import { untrack } from 'svelte';
import { api, Refused, take, Unreached, words } from '../api/client';
import type { MessageBody } from '../api/types';
import { connection } from '../state/connection.svelte';
import { me } from '../state/me.svelte';
import { blockOf } from './images';
import { letters } from './kept';
import { Letters, type Letter } from './letters';
import { doing } from './sending';

class Outbox {
  letters = $state.raw<readonly Letter[]>(letters.all());
  /** Why one was not taken, by key. It waits for a person then. */
  troubles = $state.raw<ReadonlyMap<string, string>>(new Map());
  #isBusy = false;

  of(session: string): Letter[] {
    return this.letters.filter((letter) => letter.session === session);
  }

  /** The next that can go out by itself. */
  get next(): Letter | undefined {
    return this.letters.find((letter) => letter.missing === 0 && !this.troubles.has(letter.key));
  }

  put(letter: Letter): void {
    letters.put(letter);
    this.look();
  }

  drop(key: string): void {
    letters.drop(key);
    this.#say(key, null);
    this.look();
  }

  /** One that was not taken is tried once more. */
  again(key: string): void {
    this.#say(key, null);
  }

  /** What is kept, also by other tabs. */
  look(): void {
    this.letters = letters.all();
  }

  async flush(): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    await alone(async () => {
      try {
        this.look();
        for (let letter = this.next; letter; letter = this.next) {
          await this.#try(letter);
          this.look();
        }
      } catch (error) {
        // Out of reach again, or the login has ended: both are heard of when they have changed.
        if (error instanceof Unreached) connection.down();
      } finally {
        this.#isBusy = false;
      }
    });
  }

  async #try(letter: Letter): Promise<void> {
    try {
      const ready = letter.way ? letter : await this.#ready(letter);
      if (ready) await deliver(ready);
      this.drop(letter.key);
    } catch (error) {
      if (error instanceof Unreached || (error instanceof Refused && error.code === 'not_signed_in')) throw error;
      this.#say(letter.key, words(error));
    }
  }

  /** With its way, by how the session stands now; none if it was taken back meanwhile. The way is kept before it is tried, for
      nobody may know whether it was heard. */
  async #ready(letter: Letter): Promise<Letter | null> {
    const session = await take(api.GET('/api/v1/sessions/{id}', { params: { path: { id: letter.session } } }));
    const does = doing(session, false, true);
    if (does.way === 'none') throw new Error(does.why);
    this.look();
    if (!this.letters.some(({ key }) => key === letter.key)) return null;
    const ready: Letter = { ...letter, way: does.way === 'resume' ? 'resume' : 'send' };
    letters.put(ready);
    return ready;
  }

  #say(key: string, trouble: string | null): void {
    const troubles = new Map(this.troubles);
    troubles.delete(key);
    if (trouble !== null) troubles.set(key, trouble);
    this.troubles = troubles;
  }
}

/** One tab at a time, where the browser can tell them apart; the keys do the rest. */
async function alone(act: () => Promise<void>): Promise<void> {
  const locks = (navigator as { locks?: LockManager }).locks;
  if (locks) await locks.request('countersign outbox', act);
  else await act();
}

export async function deliver({ key, session, text, pictures, way }: Letter): Promise<void> {
  const params = { path: { id: session }, header: { 'idempotency-key': key } };
  const blocks = pictures.map(blockOf);
  const body: MessageBody = blocks.length > 0 ? { text, blocks } : { text };
  if (way === 'resume') await take(api.POST('/api/v1/sessions/{id}/resume', { params, body: { message: body } }));
  else await take(api.POST('/api/v1/sessions/{id}/messages', { params, body }));
}

export const outbox = new Outbox();

addEventListener('storage', ({ key }) => {
  if (key === null || Letters.isName(key)) outbox.look();
});
$effect.root(() => {
  $effect(() => {
    if (connection.isLive && me.mayAll && outbox.next) untrack(() => void outbox.flush());
  });
});
