// How sessions stand, in the page's six glyphs and four groups. Pure.
import type { Session } from '../api/types';

export type Glyphs = 'needs' | 'run' | 'idle' | 'stall' | 'fail' | 'done';
export type GroupName = 'needs' | 'running' | 'idle' | 'done';

export const GROUPS: { name: GroupName; label: string }[] = [
  { name: 'needs', label: 'Needs you' },
  { name: 'running', label: 'Running' },
  { name: 'idle', label: 'Idle' },
  { name: 'done', label: 'Done' },
];

export function glyphOf(session: Session): Glyphs {
  switch (session.state) {
    case 'needs_you':
      return 'needs';
    case 'queued':
    case 'starting':
    case 'running':
    case 'ending':
      return 'run';
    case 'idle':
      return 'idle';
    case 'stalled':
    case 'paused':
      return 'stall';
    case 'stopped':
      return 'done';
    case 'failed':
    case 'not_signed_in':
    case 'unreachable':
      return 'fail';
  }
}

/** A word for the glyph, for those who do not see it. */
export function stateWords(session: Session): string {
  switch (session.state) {
    case 'needs_you':
      return 'Needs you';
    case 'queued':
      return 'Queued';
    case 'starting':
      return 'Starting';
    case 'running':
      return 'Running';
    case 'ending':
      return 'Ending';
    case 'idle':
      return session.asleep ? 'Asleep' : 'Idle';
    case 'stalled':
      return 'Silent';
    case 'paused':
      return 'Paused';
    case 'stopped':
      return 'Done';
    case 'failed':
      return 'Failed';
    case 'not_signed_in':
      return 'Not signed in';
    case 'unreachable':
      return 'Not responding';
  }
}

export function groupOf(session: Session): GroupName {
  switch (session.state) {
    case 'needs_you':
    case 'not_signed_in':
      return 'needs';
    case 'idle':
      return 'idle';
    case 'stopped':
    case 'failed':
    case 'unreachable':
      return 'done';
    default:
      return 'running';
  }
}

/** The moment a row is sorted and aged by: since when it waits, or when it last did something. */
export const momentOf = (session: Session): number =>
  groupOf(session) === 'needs' ? session.since : session.last_activity;

/** Those that need you: longest wait first. All others: newest first. */
export function inOrder(group: GroupName, sessions: Session[]): Session[] {
  const sign = group === 'needs' ? 1 : -1;
  const by = (a: Session, b: Session) =>
    sign * (momentOf(a) - momentOf(b)) || (a.id < b.id ? -1 : 1);
  return [...sessions].sort(by);
}

/** The last part of a folder. */
export function folderName(path: string): string {
  const parts = path.split(/[\\/]/).filter(Boolean);
  return parts.at(-1) ?? path;
}

/** The folder that a session belongs to: that of its repository, also where it works in a worktree of it. */
export const homeOf = (session: Pick<Session, 'cwd' | 'repository'>): string => session.repository ?? session.cwd;

/** What people call the repository of a session; its folder outside of one. */
export const repositoryName = (session: Pick<Session, 'cwd' | 'repository'>): string => folderName(homeOf(session));

export interface Repository {
  name: string;
  label: string;
  items: Session[];
}

/** Sessions by repository, in the order in which they come: a repository stands where its first session does. Two of the same name
    are told apart by the folder above. */
export function byRepository(sessions: Session[]): Repository[] {
  const found = new Map<string, Repository>();
  for (const session of sessions) {
    const home = homeOf(session);
    const group = found.get(home) ?? { name: home, label: folderName(home), items: [] };
    group.items.push(session);
    found.set(home, group);
  }
  const all = [...found.values()];
  const isTwice = (label: string) => all.filter((one) => folderName(one.name) === label).length > 1;
  for (const one of all) if (isTwice(folderName(one.name))) one.label = one.name.split(/[\\/]/).filter(Boolean).slice(-2).join('/');
  return all;
}
