// Sends what was written: as a message, as a message that resumes an agent, or later, when the server is back.
// Rules: what was not taken stays, with the reason; what waits for the connection is the outbox's, under the key it was tried with.
import { newKey, Unreached, words } from '../api/client';
import { connection } from '../state/connection.svelte';
import type { Picture } from './images';
import type { Letter } from './letters';
import { deliver, outbox } from './outbox.svelte';
import type { Way } from './sending';

export class Post {
  readonly session: string;
  isBusy = $state(false);
  /** Why the last one was not taken. */
  trouble = $state('');

  constructor(session: string) {
    this.session = session;
  }

  /** True if it is on its way, or kept for later. */
  async send(text: string, pictures: Picture[], way: Way): Promise<boolean> {
    // Two of one moment keep their order.
    const at = Math.max(Date.now(), (outbox.letters.at(-1)?.at ?? 0) + 1);
    const letter: Letter = { key: newKey(), session: this.session, at, text, pictures, way: wayOf(way), missing: 0 };
    this.trouble = '';
    if (letter.way === null) {
      outbox.put(letter);
      return true;
    }
    this.isBusy = true;
    try {
      await deliver(letter);
      return true;
    } catch (error) {
      if (error instanceof Unreached) {
        outbox.put(letter);
        connection.down();
        return true;
      }
      this.trouble = words(error);
      return false;
    } finally {
      this.isBusy = false;
    }
  }
}

/** How it goes out; what waits is decided when the server is back. */
function wayOf(way: Way): Letter['way'] {
  if (way === 'when-back') return null;
  return way === 'resume' ? 'resume' : 'send';
}
