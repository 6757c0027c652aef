// What is done with a path when a way is chosen, and the items that offer it. Keeps: nothing is opened but what the host itself allows.
import { api, take } from '../api/client';
import type { MenuItem } from '../kit/Menu.svelte';
import { about } from '../state/about.svelte';
import { me } from '../state/me.svelte';
import { toast } from '../state/toasts.svelte';
import { waysOf, type PlaceWay } from './model/places';

const ICONS = { editor: 'edit', terminal: 'term', copy: 'copy' } as const;

/** Items of a menu for a whole path of a session; `tried` is told what goes wrong. */
export function placeItems(session: string, whole: string, folder: string | undefined, tried: (act: Promise<void>) => void): MenuItem[] {
  return waysOf(whole, folder, about.is?.opens, me.mayAll).map((way) => ({
    label: way.label,
    hint: way.hint,
    icon: ICONS[way.does],
    act: () => tried(act(session, whole, way)),
  }));
}

async function act(session: string, whole: string, way: PlaceWay): Promise<void> {
  if (way.does === 'copy') {
    await navigator.clipboard.writeText(whole);
    toast('Path copied');
    return;
  }
  await take(api.POST('/api/v1/sessions/{id}/open', { params: { path: { id: session } }, body: { path: whole, with: way.does } }));
  toast(way.does === 'editor' ? 'Opened in your editor' : 'Terminal opened');
}
