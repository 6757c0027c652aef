// Which sessions have something to read that this browser has not shown. Pure. A session is unread for what it said, asked or came to;
// falling asleep, waking and working on are no news.
import type { Session } from '../api/types';
import { groupOf } from './groups';

/** What was shown of a session. `what` is null in marks of earlier versions of the page. */
export interface Seen {
  at: number;
  what: string | null;
}

/** Changes exactly when there is something new to read. */
export function newsOf(session: Session): string {
  const quiet = ['queued', 'starting', 'running', 'ending', 'idle', 'stopped'];
  const stands = quiet.includes(session.state) ? '' : `${session.state} ${session.open_approvals ?? 0}`;
  return [stands, (session.cost_usd ?? 0).toFixed(6), session.last_line ?? ''].join('|');
}

/** `since`: when this browser looked for the first time. What was done before that is nobody's news. */
export function isUnread(session: Session, seen: Seen | undefined, since: number): boolean {
  const group = groupOf(session);
  if (seen === undefined) {
    // One that was never opened here and works is new, not unread.
    return group === 'needs' || (group !== 'running' && Boolean(session.last_line) && session.last_activity > since);
  }
  if (session.last_activity <= seen.at) return false;
  return seen.what === null || seen.what !== newsOf(session);
}

/** Reads marks as they were stored, those of earlier versions too. */
export function readSeen(text: string | null): [string, Seen][] {
  let stored: unknown;
  try {
    stored = JSON.parse(text ?? '{}');
  } catch {
    return [];
  }
  if (typeof stored !== 'object' || stored === null) return [];
  return Object.entries(stored).flatMap(([id, mark]): [string, Seen][] => {
    if (typeof mark === 'number') return [[id, { at: mark, what: null }]];
    if (!Array.isArray(mark) || typeof mark[0] !== 'number') return [];
    return [[id, { at: mark[0], what: typeof mark[1] === 'string' ? mark[1] : null }]];
  });
}
