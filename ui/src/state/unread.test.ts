// Unread marks: for what was not read, and for nothing else.
import { describe, expect, it } from 'vitest';
import type { Session } from '../api/types';
import { isUnread, newsOf, readSeen } from './unread';

const one = (state: string, more: Partial<Session> = {}) =>
  ({ id: 's', state, last_line: 'Done.', last_activity: 100, cost_usd: 1, open_approvals: 0, ...more }) as unknown as Session;
const seenAs = (session: Session) => ({ at: session.last_activity, what: newsOf(session) });

describe('a session that was read', () => {
  const seen = seenAs(one('idle'));
  it('stays read when it falls asleep, wakes, or works on', () => {
    for (const later of [one('idle', { last_activity: 200 }), one('running', { last_activity: 200 }), one('stopped', { last_activity: 200 })])
      expect(isUnread(later, seen, 0)).toBe(false);
  });
  it('is unread when it said, asked or came to something', () => {
    for (const news of [{ last_line: 'Another.' }, { cost_usd: 1.2 }]) expect(isUnread(one('idle', { last_activity: 200, ...news }), seen, 0)).toBe(true);
    expect(isUnread(one('needs_you', { last_activity: 200, open_approvals: 1 }), seen, 0)).toBe(true);
    expect(isUnread(one('failed', { last_activity: 200 }), seen, 0)).toBe(true);
  });
});

describe('a session that was never opened here', () => {
  it('is unread once it has ended its work or needs somebody', () => {
    expect(isUnread(one('idle'), undefined, 50)).toBe(true);
    expect(isUnread(one('stopped'), undefined, 50)).toBe(true);
    expect(isUnread(one('needs_you'), undefined, 50)).toBe(true);
  });
  it('is not unread while it works, with nothing said, or from before this browser looked', () => {
    expect(isUnread(one('running'), undefined, 50)).toBe(false);
    expect(isUnread(one('idle', { last_line: null }), undefined, 50)).toBe(false);
    expect(isUnread(one('idle'), undefined, 100)).toBe(false);
  });
});

it('marks of earlier versions count by their time', () => {
  const marks = new Map(readSeen('{"s":100,"t":[5,"x"],"u":"no"}'));
  expect([...marks.keys()]).toEqual(['s', 't']);
  expect(isUnread(one('idle', { last_activity: 101 }), marks.get('s'), 0)).toBe(true);
  expect(isUnread(one('idle'), marks.get('s'), 0)).toBe(false);
  expect(readSeen('no JSON')).toEqual([]);
});
