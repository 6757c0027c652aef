// Keys as words: what was pressed, and how it is shown. Pure.

export interface Pressed {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
  shiftKey: boolean;
}

/** `a`, `A`, `?`, `Escape`, `mod+k`, `mod+shift+Enter`. Letters carry their own shift; `mod` is Ctrl, or ⌘ on a Mac. */
export function chordOf(pressed: Pressed): string {
  const { key } = pressed;
  const isLetter = key.length === 1;
  const mod = pressed.ctrlKey || pressed.metaKey;
  const parts: string[] = [];
  if (mod) parts.push('mod');
  if (pressed.altKey) parts.push('alt');
  if (pressed.shiftKey && (mod || !isLetter)) parts.push('shift');
  parts.push(mod && isLetter ? key.toLowerCase() : key);
  return parts.join('+');
}

const NAMES: Record<string, string> = {
  Enter: '↵',
  Escape: 'Esc',
  ArrowUp: '↑',
  ArrowDown: '↓',
  ArrowLeft: '←',
  ArrowRight: '→',
  ' ': 'Space',
  shift: '⇧',
  alt: 'Alt',
};

/** The parts of a chord or sequence, as they are shown: `g i` → `G`, `I`; `mod+k` → `Ctrl`, `K`. */
export function shownKeys(chord: string, isMac: boolean): string[] {
  return chord.split(' ').flatMap((one) =>
    (one === '+' ? ['+'] : one.split('+')).flatMap((part) => {
      if (part === 'mod') return [isMac ? '⌘' : 'Ctrl'];
      if (/^[A-Z]$/.test(part)) return ['⇧', part];
      return [NAMES[part] ?? (part.length === 1 ? part.toUpperCase() : part)];
    }),
  );
}
