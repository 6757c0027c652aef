// Pages that nobody looks at give their connections back: a browser has six to a server, for all its tabs together. One hidden
// page may keep its streams, for the title and notifications; which one, the tabs settle by a lock. Nothing is lost meanwhile:
// streams go on behind the last id.

const PATIENCE = 10_000;
const LOCK = 'countersign.streams';

type Listener = () => void;
const listeners = new Set<Listener>();
let isResting = false;
let release: (() => void) | null = null;
let timer: ReturnType<typeof setTimeout> | undefined;

export const rests = (): boolean => isResting;

/** Hears when a rest begins and ends. */
export function onRest(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function become(resting: boolean): void {
  if (isResting === resting) return;
  isResting = resting;
  for (const listener of listeners) listener();
}

/** True where this page is the one that keeps its streams. Without locks (no secure context) none does. */
async function keeps(): Promise<boolean> {
  const { locks } = navigator as { locks?: LockManager };
  if (!locks) return false;
  return new Promise((told) => {
    void locks.request(LOCK, { ifAvailable: true }, (lock) => {
      told(lock !== null);
      return lock === null ? undefined : new Promise<void>((done) => (release = done));
    });
  });
}

async function hidden(): Promise<void> {
  if (document.hidden && !(await keeps()) && document.hidden) become(true);
}

/** Another page took its place. A browser may keep it as it is, to go back to, and with it the connections that it holds. */
addEventListener('pagehide', () => {
  clearTimeout(timer);
  release?.();
  release = null;
  become(true);
});
addEventListener('pageshow', () => become(false));

document.addEventListener('visibilitychange', () => {
  clearTimeout(timer);
  if (document.hidden) {
    timer = setTimeout(() => void hidden(), PATIENCE);
    return;
  }
  release?.();
  release = null;
  become(false);
});
