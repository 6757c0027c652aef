// Keys that work everywhere, and the title of the tab. Bound once, by Shell.
import { approvals } from '../state/approvals.svelte';
import { go, route, to } from '../state/route.svelte';
import { onKey } from '../state/keys.svelte';
import { prefs } from '../state/prefs.svelte';
import { sessions } from '../state/sessions.svelte';
import { overlays } from './overlays.svelte';
import { screen } from './screen.svelte';
import { titleOf } from './words';

/** The next thing that needs you: of another session than the one that is open, where there is one. */
function next(): void {
  const open = approvals.open;
  const here = route.id;
  const one = open.find((approval) => approval.session !== here) ?? open[0];
  if (one) go(to.approval(one.id));
}

/** To the page of search, or into its field where it is there: what was looked for stays. */
function search(): void {
  const field = document.querySelector<HTMLInputElement>('main input[type=search]');
  if (route.page === 'search' && field) field.select();
  else go(to.search());
}

export function bindGlobals(): () => void {
  const undo = [
    onKey('always', 'mod+k', () => overlays.open('palette'), 'Command palette'),
    onKey('page', '?', () => overlays.open('keys'), 'Keyboard shortcuts'),
    onKey('page', '/', search, 'Search all transcripts'),
    onKey('page', 'g i', () => go(to.inbox()), 'Inbox'),
    onKey('page', 'g s', () => go(to.sessions()), 'Sessions'),
    onKey('page', 'g n', () => go(to.insights()), 'Insights'),
    onKey('page', 'g r', () => go(to.rules()), 'Rules'),
    onKey('page', 'n', () => go(to.fresh()), 'New session'),
    onKey('page', '.', next, 'Next thing that needs you'),
    onKey('page', '[', () => void (prefs.isSideHidden = !prefs.isSideHidden), 'Hide or show the list'),
    onKey('page', ']', togglePanel, 'Hide or show the panel'),
  ];
  let isHidden = $state(document.hidden);
  const looked = () => (isHidden = document.hidden);
  document.addEventListener('visibilitychange', looked);
  undo.push(() => document.removeEventListener('visibilitychange', looked));
  const ended = $effect.root(() => {
    // By their values: a host is busy all day, and the browser is told only what is new.
    const open = $derived(approvals.open.length);
    const title = $derived(titleOf(open, sessions.get(route.id)?.name));
    $effect(() => {
      document.title = title;
    });
    $effect(() => badge(open));
    $effect(() => {
      const session = sessions.get(route.id);
      if (session && !isHidden) sessions.markSeen(session);
    });
  });
  return () => {
    ended();
    undo.forEach((one) => one());
  };
}

export function togglePanel(): void {
  if (screen.isWide) prefs.isPanelHidden = !prefs.isPanelHidden;
  else screen.isDrawerOpen = !screen.isDrawerOpen;
}

/** The number on the icon of an installed page, where there is such a thing. */
function badge(open: number): void {
  const able = navigator as Navigator & { setAppBadge?: (n: number) => Promise<void>; clearAppBadge?: () => Promise<void> };
  const done = open > 0 ? able.setAppBadge?.(open) : able.clearAppBadge?.();
  void done?.catch(() => {});
}
