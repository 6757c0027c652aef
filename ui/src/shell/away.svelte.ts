// What happened since this browser last looked. Rules: said only after ten minutes away, only what is worth it, and once.
import { api, take } from '../api/client';
import type { DecisionView } from '../api/types';
import { approvals } from '../state/approvals.svelte';
import { groupOf } from '../state/groups';
import { prefs } from '../state/prefs.svelte';
import { sessions } from '../state/sessions.svelte';
import { meanwhile } from './words';

const LONG = 10 * 60_000;
const BEAT = 30_000;

const isByRule = (one: DecisionView): boolean => one.decided.by.startsWith('rule');

class WhileAway {
  words = $state('');

  /** After the lists are there, and whenever the page is shown again. */
  async look(): Promise<void> {
    const since = prefs.lastSeen;
    const now = Date.now();
    if (since > 0 && now - since > LONG) {
      const query = { since: since * 1000, most: 500 };
      const page = await take(api.GET('/api/v1/decisions', { params: { query } }));
      const over = [...sessions.byId.values()].filter((one) => groupOf(one) === 'done' && one.since / 1000 > since);
      this.words = meanwhile({
        ended: over.length,
        byRule: page.items.filter(isByRule).length,
        opened: approvals.open.filter((one) => one.asked / 1000 > since).length,
      });
    }
    prefs.lastSeen = now;
  }

  close(): void {
    this.words = '';
  }

  /** Notes every half minute that somebody may be looking. */
  watch(): () => void {
    const beat = setInterval(() => {
      if (!document.hidden) prefs.lastSeen = Date.now();
    }, BEAT);
    const shown = () => {
      if (!document.hidden) void this.look().catch(() => {});
    };
    document.addEventListener('visibilitychange', shown);
    return () => {
      clearInterval(beat);
      document.removeEventListener('visibilitychange', shown);
    };
  }
}

export const away = new WhileAway();
