// What the button of the composer does and says, by how the session and the connection stand. Pure.
import type { Session } from '../api/types';

export type Way = 'send' | 'queue' | 'when-back' | 'resume' | 'none';

/** A press of a key, as far as it matters to what Enter does. */
export interface Press { key: string; shiftKey: boolean; altKey: boolean; ctrlKey: boolean; metaKey: boolean }

/** Whether this key sends. Ctrl+Enter and ⌘+Enter always do; Enter alone by the setting, but never on an on-screen keyboard, which
    has no other way to break a line. */
export function sends(press: Press, entersSend: boolean, isTouch: boolean): boolean {
  if (press.key !== 'Enter' || press.shiftKey) return false;
  if (press.ctrlKey || press.metaKey) return true;
  return entersSend && !isTouch && !press.altKey;
}

export interface Doing { way: Way; label: string; hint: string; canInterrupt: boolean; why?: string }

export function doing(session: Session | undefined, isAway: boolean, mayAll: boolean): Doing {
  if (!session) return { way: 'none', label: 'Send', hint: '', canInterrupt: false };
  const canInterrupt = ['running', 'needs_you', 'stalled', 'starting'].includes(session.state);
  if (!mayAll) return { way: 'none', label: 'Send', hint: 'You can watch. Writing needs a token with full scope.', canInterrupt: false, why: 'Writing needs a token with full scope.' };
  if (session.trashed) return { way: 'none', label: 'Send', hint: 'This session is in the trash.', canInterrupt: false, why: 'This session is in the trash: restore it first.' };
  const now = online(session, canInterrupt);
  if (!isAway) return now;
  const hint = now.way === 'resume' ? 'The agent has ended. It resumes when the server is back' : 'It is sent when the server is back';
  return { way: 'when-back', label: 'Send when back', hint, canInterrupt };
}

function online(session: Session, canInterrupt: boolean): Doing {
  switch (session.state) {
    case 'running':
    case 'needs_you':
    case 'starting':
    case 'queued':
    case 'stalled':
    case 'ending':
    case 'paused':
      return { way: 'queue', label: 'Queue', hint: 'Add to the queue…', canInterrupt };
    case 'stopped':
    case 'failed':
    case 'not_signed_in':
    case 'unreachable':
      return { way: 'resume', label: 'Resume and send', hint: 'The agent has ended. Your message resumes it…', canInterrupt };
    case 'idle':
      return { way: 'send', label: 'Send', hint: session.asleep ? 'A message wakes the agent…' : 'Reply…', canInterrupt };
  }
}
