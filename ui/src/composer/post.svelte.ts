// Sends what was written: as a message, as a message that resumes an agent, or later, when the server is back.
// Rules: what was not taken stays, with the reason; what waits for the connection goes out in order and once.
import { api, take, Unreached, words } from '../api/client';
import type { MessageBody } from '../api/types';
import { connection } from '../state/connection.svelte';
import { blockOf, type Picture } from './images';
import type { Way } from './sending';

export interface Letter { key: number; text: string; pictures: Picture[]; way: Way }

export class Post {
  readonly session: string;
  isBusy = $state(false);
  /** Why the last one was not taken. */
  trouble = $state('');
  /** Those that wait for the connection. */
  later = $state.raw<readonly Letter[]>([]);
  #count = 0;

  constructor(session: string) {
    this.session = session;
  }

  /** True if it is on its way, or kept for later. */
  async send(text: string, pictures: Picture[], way: Way): Promise<boolean> {
    const letter = { key: (this.#count += 1), text, pictures, way };
    this.trouble = '';
    if (way === 'when-back') {
      this.later = [...this.later, letter];
      return true;
    }
    this.isBusy = true;
    try {
      await this.#deliver(letter);
      return true;
    } catch (error) {
      if (error instanceof Unreached) {
        this.later = [...this.later, { ...letter, way: 'when-back' }];
        connection.down();
        return true;
      }
      this.trouble = words(error);
      return false;
    } finally {
      this.isBusy = false;
    }
  }

  /** The connection is back. */
  async flush(): Promise<void> {
    if (this.isBusy) return;
    this.isBusy = true;
    try {
      for (let letter = this.later[0]; letter; letter = this.later[0]) {
        await this.#deliver({ ...letter, way: 'send' });
        this.later = this.later.slice(1);
      }
    } catch (error) {
      if (!(error instanceof Unreached)) this.trouble = words(error);
    } finally {
      this.isBusy = false;
    }
  }

  drop(key: number): void {
    this.later = this.later.filter((letter) => letter.key !== key);
  }

  async #deliver({ text, pictures, way }: Letter): Promise<void> {
    const params = { path: { id: this.session } };
    const blocks = pictures.map(blockOf);
    const body: MessageBody = blocks.length > 0 ? { text, blocks } : { text };
    if (way === 'resume') await take(api.POST('/api/v1/sessions/{id}/resume', { params, body: { message: body } }));
    else await take(api.POST('/api/v1/sessions/{id}/messages', { params, body }));
  }
}
