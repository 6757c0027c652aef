// Ends a turn. A turn that has run for more than a minute asks once more, so that no work is lost to a stray key.
import { api, take, words } from '../api/client';
import type { Session } from '../api/types';
import { announce } from '../state/announce.svelte';

const LONG = 60_000;
const ARMED = 5_000;

/** Whether a key alone may end it. */
export function needsTwice(session: Session | undefined, now: number): boolean {
  return session !== undefined && now - session.since / 1000 > LONG;
}

export class Interrupt {
  readonly session: string;
  isArmed = $state(false);
  isBusy = $state(false);
  trouble = $state('');
  #timer = 0;

  constructor(session: string) {
    this.session = session;
  }

  /** A key was pressed: ends the turn, or asks for the key once more. */
  ask(session: Session | undefined): void {
    if (this.isArmed || !needsTwice(session, Date.now())) return void this.now();
    this.isArmed = true;
    announce('Press Escape again to interrupt');
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => (this.isArmed = false), ARMED);
  }

  async now(): Promise<void> {
    this.isArmed = false;
    if (this.isBusy) return;
    this.isBusy = true;
    this.trouble = '';
    try {
      await take(api.POST('/api/v1/sessions/{id}/interrupt', { params: { path: { id: this.session } } }));
      announce('Interrupted');
    } catch (error) {
      this.trouble = words(error);
    } finally {
      this.isBusy = false;
    }
  }
}
