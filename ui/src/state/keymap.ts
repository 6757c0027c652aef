// The keyboard of the page as a table: what each key does, by its default. The help shows it, and settings change it. Pure.

export interface KeyGroup {
  title: string;
  keys: { key: string; words: string }[];
}

const row = (key: string, words: string) => ({ key, words });

export const KEYMAP: KeyGroup[] = [
  {
    title: 'Anywhere',
    keys: [
      row('mod+k', 'Command palette'),
      row('?', 'Keyboard shortcuts'),
      row('/', 'Search all transcripts'),
      row('n', 'New session'),
      row('.', 'Next thing that needs you'),
      row('[', 'Hide or show the list'),
      row(']', 'Hide or show the panel'),
    ],
  },
  {
    title: 'Go to',
    keys: [row('g i', 'Inbox'), row('g s', 'Sessions'), row('g n', 'Insights'), row('g r', 'Rules')],
  },
  {
    title: 'In a list',
    keys: [
      row('j', 'Down'),
      row('k', 'Up'),
      row('J', 'Down, and select'),
      row('K', 'Up, and select'),
      row('x', 'Select'),
      row('X', 'Select all alike'),
      row('Enter', 'Open the session'),
    ],
  },
  {
    title: 'On a card that has the focus',
    keys: [
      row('a', 'Allow once'),
      row('s', 'Allow for this session'),
      row('r', 'Allow as a rule'),
      row('e', 'Edit the input'),
      row('d', 'Deny, with a reason'),
      row('A', 'Allow the selection'),
      row('S', 'Allow the selection for the session'),
      row('D', 'Deny the selection'),
    ],
  },
  {
    title: 'In a session',
    keys: [
      row('i', 'Focus the message field'),
      row('mod+Enter', 'Send'),
      row('mod+shift+Enter', 'Start in the background'),
      row('G', 'To the newest entry'),
      row('v p', 'Plan'),
      row('v c', 'Changes'),
      row('v t', 'Tasks'),
      row('v $', 'Cost'),
      row('v f', 'Raw frames'),
      row('v e', 'Earlier conversation'),
      row('Escape', 'Close, leave the field, interrupt'),
    ],
  },
  { title: 'Plans and questions', keys: [row('1', 'Option or way 1 to 9'), row('c', 'Comment on a line')] },
];

/** Keys that cannot be changed: they are the browser's or the platform's own habit. */
export const FIXED = new Set(['Escape', 'Enter', 'mod+Enter', 'mod+shift+Enter', '1']);

/** The default of whoever has this key already, beside `self`. Lists and cards may share keys; what is everywhere may not. */
export function takenBy(key: string, self: string, own: Record<string, string>): string | null {
  for (const group of KEYMAP) {
    for (const one of group.keys) {
      if (one.key !== self && (own[one.key] ?? one.key) === key) return one.words;
    }
  }
  return null;
}
