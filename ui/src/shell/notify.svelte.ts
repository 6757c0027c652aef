// Notifications of the browser, for questions that open while the page is not looked at. Only where somebody asked for them, and
// only where the browser allows it: in a secure context. Each is taken back when its question is answered.
import { approvals } from '../state/approvals.svelte';
import { go, to } from '../state/route.svelte';
import { prefs } from '../state/prefs.svelte';
import { gistOf } from './gist';

export type Able = 'yes' | 'ask' | 'denied' | 'insecure' | 'none';

/** Whether this browser would show one. */
export function able(): Able {
  if (!globalThis.isSecureContext) return 'insecure';
  if (!('Notification' in globalThis)) return 'none';
  if (Notification.permission === 'granted') return 'yes';
  return Notification.permission === 'denied' ? 'denied' : 'ask';
}

/** Asks the browser. True where they will be shown. */
export async function allow(): Promise<boolean> {
  if (able() !== 'ask') return able() === 'yes';
  return (await Notification.requestPermission()) === 'granted';
}

const shown = new Map<string, Notification>();
let known: Set<string> | null = null;

function show(id: string): void {
  const approval = approvals.get(id);
  if (!approval) return;
  const gist = gistOf(approval);
  const note = new Notification(`${approval.session_name} needs you`, {
    body: approval.kind === 'tool' ? `${approval.tool}: ${gist.text}` : gist.text,
    tag: id,
    icon: '/icon-192.png',
  });
  note.onclick = () => {
    globalThis.focus();
    go(to.approval(id));
    note.close();
  };
  shown.set(id, note);
}

/** Looks at what is open. Those of the first look are not news. */
export function watchNotes(): void {
  $effect(() => {
    if (!approvals.isLoaded) return;
    const open = new Set(approvals.open.map((one) => one.id));
    const before = known;
    known = open;
    for (const [id, note] of shown) {
      if (open.has(id)) continue;
      note.close();
      shown.delete(id);
    }
    if (!before || !prefs.notify || able() !== 'yes' || (!document.hidden && document.hasFocus())) return;
    for (const id of open) if (!before.has(id)) show(id);
  });
}
