// What stands on the marks of a conversation: starts, ends, limits, modes. Pure words.
import type { Bodies } from '../../api/types';
import { clockTime, counted, span } from '../../kit/ages';
import { folderName } from '../../state/groups';

const MODES: Record<string, string> = {
  plan: 'Plan',
  default: 'Ask each time',
  ask: 'Ask each time',
  acceptEdits: 'Accept edits',
  edits: 'Accept edits',
  'hands-off': 'Hands-off',
  bypassPermissions: 'Hands-off',
  dontAsk: 'Only what rules allow',
  'rules-only': 'Only what rules allow',
  auto: 'Let Claude judge',
};

export const modeName = (mode: string): string => MODES[mode] ?? mode;

export function modeWords(mode: Bodies['mode'], me: string): string {
  const by = mode.by ? ` by ${mode.by === me ? 'You' : mode.by}` : '';
  return `Mode: ${modeName(mode.to)}${by}`;
}

export function startWords(started: Bodies['started']): string {
  const where = folderName(started.cwd);
  return started.is_resumed ? `The agent took the conversation up again in ${where}` : `The agent began in ${where}`;
}

/** How an agent ended, and what it left behind. */
export function endWords(ended: Bodies['ended']): { words: string; isBad: boolean } {
  const left = ended.killed?.length ?? 0;
  const { words, isBad } = howEnded(ended);
  if (left === 0) return { words, isBad };
  return { words: `${words} ${counted(left, 'process', 'processes')} it left behind ${left === 1 ? 'was' : 'were'} ended, too.`, isBad };
}

function howEnded(ended: Bodies['ended']): { words: string; isBad: boolean } {
  if (ended.error) return { words: `The agent could not be started: ${ended.error}`, isBad: true };
  if (ended.why || ended.step) return { words: `The agent was ended${ended.why ? `: ${ended.why}` : ''}.`, isBad: false };
  if (ended.signal != null) {
    const memory = ended.signal === 9 ? ', probably out of memory' : '';
    return { words: `The agent was ended by signal ${ended.signal}${memory}. The conversation is safe.`, isBad: true };
  }
  if (ended.code === 137) return { words: 'The agent ended with code 137, probably out of memory. The conversation is safe.', isBad: true };
  if (ended.code) return { words: `The agent ended with code ${ended.code}. The conversation is safe.`, isBad: true };
  return { words: 'The agent ended.', isBad: false };
}

export function limitWords(limit: Bodies['limit']): string {
  const until = limit.resets_at != null ? ` It starts over at ${clockTime(limit.resets_at * 1000)}.` : '';
  if (limit.status === 'rejected') return `The usage limit is reached.${until}`;
  const used = limit.used != null ? `${Math.round(limit.used <= 1 ? limit.used * 100 : limit.used)} % of the usage limit is used.` : 'The usage limit is near.';
  return used + until;
}

/** No host was there for a time. */
export function awayWords(at: number, until: number | null | undefined): string {
  const time = until == null ? '' : ` for ${span((until - at) / 1000)}`;
  return `Countersign was not there${time}. Questions waited.`;
}
