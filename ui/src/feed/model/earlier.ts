// Sessions that go on from an earlier conversation, and the way to it.
import { screen } from '../../shell/screen.svelte';
import { prefs } from '../../state/prefs.svelte';
import type { Session } from '../../api/types';

/** Whether it was forked from another session or begun in a terminal. */
export const goesOn = (session: Session | undefined): boolean => session?.origin === 'fork' || session?.origin === 'import';

/** Shows it beside the session. */
export function showEarlier(): void {
  prefs.panel = 'earlier';
  if (screen.isWide) prefs.isPanelHidden = false;
  else screen.isDrawerOpen = true;
}
