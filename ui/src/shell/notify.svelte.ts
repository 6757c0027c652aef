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

/** How each that is shown is taken back, by question. */
const shown = new Map<string, () => void>();
let known: Set<string> | null = null;

/** By the service worker where there is one: phones show none of a page's own. It hears the press there, and tells this page. */
async function show(id: string): Promise<void> {
  const approval = approvals.get(id);
  if (!approval) return;
  const gist = gistOf(approval);
  const title = `${approval.session_name} needs you`;
  const path = to.approval(id);
  const options = {
    body: approval.kind === 'tool' ? `${approval.tool}: ${gist.text}` : gist.text,
    tag: id,
    icon: '/icon-192.png',
    data: { path },
  };
  // Where it was answered while the browser was asked, it is not news any more.
  const keep = (close: () => void) => (known?.has(id) ? void shown.set(id, close) : close());
  const worker = await workerOf();
  if (worker) {
    await worker.showNotification(title, options);
    return keep(() => void takeBack(worker, id));
  }
  const note = new Notification(title, options);
  note.onclick = () => {
    globalThis.focus();
    go(path);
    note.close();
  };
  keep(() => note.close());
}

async function workerOf(): Promise<ServiceWorkerRegistration | null> {
  const { serviceWorker } = navigator as { serviceWorker?: ServiceWorkerContainer };
  const found = await serviceWorker?.getRegistration();
  return found?.active ? found : null;
}

async function takeBack(worker: ServiceWorkerRegistration, tag: string): Promise<void> {
  const notes = await worker.getNotifications({ tag }).catch(() => []);
  for (const note of notes) note.close();
}

/** One that the service worker shows was pressed. */
function pressed({ data }: MessageEvent): void {
  const path: unknown = data?.open;
  if (typeof path === 'string' && path.startsWith('/inbox/')) go(path);
}

/** Looks at what is open. Those of the first look are not news. */
export function watchNotes(): void {
  $effect(() => {
    if (!approvals.isLoaded) return;
    const open = new Set(approvals.open.map((one) => one.id));
    const before = known;
    known = open;
    for (const [id, close] of shown) {
      if (open.has(id)) continue;
      close();
      shown.delete(id);
    }
    if (!before || !prefs.notify || able() !== 'yes' || (!document.hidden && document.hasFocus())) return;
    // A browser that shows none after all is no fault of the page: the title counts as well.
    for (const id of open) if (!before.has(id)) void show(id).catch(() => {});
  });
  $effect(() => {
    const { serviceWorker } = navigator as { serviceWorker?: ServiceWorkerContainer };
    serviceWorker?.addEventListener('message', pressed);
    return () => serviceWorker?.removeEventListener('message', pressed);
  });
}
