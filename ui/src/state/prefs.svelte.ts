// What this browser remembers: theme, sending, widths, keys, notifications. Kept in local storage; a value that cannot be read is the default.

export type Theme = 'system' | 'light' | 'dark';

export interface Prefs {
  theme: Theme;
  sideWidth: number;
  panelWidth: number;
  isSideHidden: boolean;
  isPanelHidden: boolean;
  /** The panel that was open last. */
  panel: string;
  /** Keys of one's own, by the default key. */
  keys: Record<string, string>;
  notify: boolean;
  /** Enter sends a message, and Shift+Enter breaks the line; else Enter breaks it. */
  entersSend: boolean;
  /** When this browser last looked, in milliseconds: for what happened meanwhile. */
  lastSeen: number;
  hasSkippedTour: boolean;
  /** The list shows sessions by repository, not by how they stand. */
  isByRepository: boolean;
}

const STORE = 'countersign.prefs';
export const WIDTHS = { least: 240, most: 420 };

export const DEFAULTS: Prefs = {
  theme: 'system',
  sideWidth: 292,
  panelWidth: 336,
  isSideHidden: false,
  isPanelHidden: false,
  panel: 'overview',
  keys: {},
  notify: false,
  entersSend: true,
  lastSeen: 0,
  hasSkippedTour: false,
  isByRepository: false,
};

/** Settings from what was stored, each part only where it has the kind of its default. */
export function readPrefs(text: string | null): Prefs {
  let stored: unknown = null;
  try {
    stored = JSON.parse(text ?? 'null');
  } catch {
    return { ...DEFAULTS };
  }
  if (typeof stored !== 'object' || stored === null) return { ...DEFAULTS };
  const known = Object.entries(DEFAULTS).map(([name, fallback]) => {
    const value = (stored as Record<string, unknown>)[name];
    const fits = typeof value === typeof fallback && value !== null;
    return [name, fits ? value : fallback];
  });
  return Object.fromEntries(known) as Prefs;
}

function load(): Prefs {
  try {
    return readPrefs(localStorage.getItem(STORE));
  } catch {
    return { ...DEFAULTS };
  }
}

/** The settings. Assign to a part of it; it is stored by itself. */
export const prefs = $state<Prefs>(load());

/** Stores the settings whenever they change, and keeps those of other tabs. Called once, by main. */
export function keepPrefs(): void {
  $effect.root(() => {
    $effect(() => {
      const text = JSON.stringify(prefs);
      try {
        localStorage.setItem(STORE, text);
      } catch {
        // Storage is full or forbidden: the settings last as long as the page.
      }
    });
    $effect(() => {
      const root = document.documentElement;
      if (prefs.theme === 'system') delete root.dataset['theme'];
      else root.dataset['theme'] = prefs.theme;
      root.style.setProperty('--w-side', `${prefs.sideWidth}px`);
      root.style.setProperty('--w-panel', `${prefs.panelWidth}px`);
    });
  });
  addEventListener('storage', (event) => {
    if (event.key === STORE && event.newValue !== JSON.stringify(prefs)) {
      Object.assign(prefs, readPrefs(event.newValue));
    }
  });
}

export const clampWidth = (width: number): number =>
  Math.round(Math.min(WIDTHS.most, Math.max(WIDTHS.least, width)));
