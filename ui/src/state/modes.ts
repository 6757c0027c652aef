// The modes in the words of the page, with what each means. One list, for the dialog, the composer and the session's bar.
import type { Mode, ModeName } from '../api/types';
import { clockTime } from '../kit/ages';

export interface ModeWords {
  name: ModeName;
  label: string;
  hint: string;
  /** Why it cannot be chosen. */
  why?: string;
}

export const MODES: ModeWords[] = [
  { name: 'plan', label: 'Plan', hint: 'Reads and thinks. Changes nothing.' },
  { name: 'ask', label: 'Ask each time', hint: 'Asks before each act no rule covers.' },
  { name: 'edits', label: 'Accept edits', hint: 'Writes files here. Commands ask.' },
  { name: 'hands-off', label: 'Hands-off until…', hint: 'Asks nothing till a time you set.' },
  { name: 'rules-only', label: 'Only what rules allow', hint: 'The rest is denied. Nobody is asked.' },
  { name: 'auto', label: 'Let Claude judge', hint: 'Decides by itself.', why: 'Not offered: every call is decided by a rule or a person.' },
];

/** Those that can be chosen: one that is not available is not shown. */
export const OFFERED: ModeWords[] = MODES.filter((one) => one.why === undefined);

export const modeLabel = (name: ModeName): string => MODES.find((one) => one.name === name)?.label ?? name;

/** `Hands-off until 16:30`, once the time is known. */
export function modeWords(mode: Mode): string {
  return mode.mode === 'hands-off' ? `Hands-off until ${clockTime(mode.until / 1000)}` : modeLabel(mode.mode);
}

/** Spans that are offered for a time without questions. */
export const SPANS = [
  { minutes: 15, label: '15 minutes' },
  { minutes: 60, label: '1 hour' },
  { minutes: 240, label: '4 hours' },
];
