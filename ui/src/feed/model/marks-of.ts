// What stands on the marks of a conversation: starts, ends, limits, modes. Pure words.
import type { Bodies, Session } from '../../api/types';
import { clockTime, counted, span } from '../../kit/ages';
import { folderName, repositoryName } from '../../state/groups';

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

/** Where the agent began: a worktree is called by its repository and branch, not by its folder. */
export function startWords(started: Bodies['started'], session?: Pick<Session, 'cwd' | 'repository' | 'branch'> | null): string {
  const isHere = session != null && session.cwd === started.cwd;
  const where = isHere && session.branch ? `${repositoryName(session)}, worktree ${session.branch}` : folderName(started.cwd);
  return started.is_resumed ? `Resumed in ${where}` : `Started in ${where}`;
}

/** How an agent ended, and what it left behind. */
export function endWords(ended: Bodies['ended'], mayStop = true): { words: string; isBad: boolean } {
  const left = ended.killed?.length ?? 0;
  const { words, isBad } = howEnded(ended, mayStop);
  if (left === 0) return { words, isBad };
  return { words: `${words} ${counted(left, 'process', 'processes')} it left running ${left === 1 ? 'was' : 'were'} stopped too.`, isBad };
}

/** Why a host ended an agent, by the word of the journal. */
const WHY: Record<string, string> = {
  'it was idle': 'The agent went to sleep. Your next message wakes it.',
  'another agent takes its place': 'The agent was stopped to start a new one.',
  'its keeper ended it': 'The agent was stopped.',
};

function stopped(why: string | null | undefined, mayStop: boolean): string {
  if (why === 'a person ended it') return mayStop ? 'You stopped the agent.' : 'Someone stopped the agent.';
  return WHY[why ?? ''] ?? (why ? `The agent was stopped: ${why}.` : 'The agent was stopped.');
}

function howEnded(ended: Bodies['ended'], mayStop: boolean): { words: string; isBad: boolean } {
  if (ended.error) return { words: `The agent could not be started: ${ended.error}`, isBad: true };
  if (ended.why || ended.step) return { words: stopped(ended.why, mayStop), isBad: false };
  if (ended.signal != null) {
    const memory = ended.signal === 9 ? ', probably out of memory' : '';
    return { words: `The agent was killed by signal ${ended.signal}${memory}. The conversation is safe.`, isBad: true };
  }
  if (ended.code === 137) return { words: 'The agent ended with code 137, probably out of memory. The conversation is safe.', isBad: true };
  if (ended.code) return { words: `The agent ended with code ${ended.code}. The conversation is safe.`, isBad: true };
  return { words: 'The agent ended.', isBad: false };
}

export function limitWords(limit: Bodies['limit']): string {
  const until = limit.resets_at != null ? ` It resets at ${clockTime(limit.resets_at * 1000)}.` : '';
  if (limit.status === 'rejected') return `The usage limit is reached.${until}`;
  const used = limit.used != null ? `${Math.round(limit.used <= 1 ? limit.used * 100 : limit.used)} % of the usage limit is used.` : 'You are close to the usage limit.';
  return used + until;
}

/** No host was there for a time. */
export function awayWords(at: number, until: number | null | undefined): string {
  const time = until == null ? '' : ` for ${span((until - at) / 1000)}`;
  return `Countersign was not running${time}. Questions waited.`;
}

/** What a status of the API means, in the words of a person. */
const STATUS: Record<number, string> = {
  401: 'The API refused the key',
  403: 'The API refused access',
  429: 'The API is limiting requests',
  529: 'The API is overloaded',
};

/** `The API refused the key (401, invalid x-api-key). Retry 4 of 10 in 2.0 s.` */
export function retryWords(retry: Bodies['retry'], wait: number): string {
  if (retry.is_over) return `Retried ${retry.attempt === 1 ? 'once' : `${retry.attempt} times`}`;
  const facts = [retry.status, retry.error?.replaceAll('_', ' ')].filter((one) => one != null && one !== '').join(', ');
  const what = STATUS[retry.status ?? 0] ?? (retry.status != null && retry.status >= 500 ? 'The API failed' : 'The API did not answer');
  const when = wait >= 50 ? ` in ${span(wait)}` : '';
  return `${what}${facts ? ` (${facts})` : ''}. Retry ${retry.attempt} of ${retry.most}${when}.`;
}
