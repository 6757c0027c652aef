// What all sessions have cost today, by this machine's day. Read again when a turn has ended, at most every few seconds.
import { api, take } from '../api/client';
import { onHappened } from '../state/feed.svelte';

const PAUSE = 5000;

class Today {
  cost = $state<number | null>(null);
  #waiting: ReturnType<typeof setTimeout> | null = null;

  constructor() {
    onHappened((happened) => {
      if (happened.event === 'turn' || happened.event === 'caught-up') this.soon();
    });
  }

  private soon(): void {
    this.#waiting ??= setTimeout(
      () => {
        this.#waiting = null;
        void this.load().catch(() => {});
      },
      this.cost === null ? 0 : PAUSE,
    );
  }

  private async load(): Promise<void> {
    const midnight = new Date();
    midnight.setHours(0, 0, 0, 0);
    const since = midnight.getTime() * 1000;
    const usage = await take(api.GET('/api/v1/usage', { params: { query: { since } } }));
    this.cost = usage.cost_usd;
  }
}

export const today = new Today();
