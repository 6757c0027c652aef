// What an agent is told when a question that nobody answered may be asked again. Pure.
// It is a message like any other: the question itself is over, and only the agent can ask a new one.

import type { Approval } from '../api/types';
import { label, oneLine } from './words';

/** Longer things are cut: the agent knows what it asked. */
const LONGEST = 400;

export function againText(asked: Approval): string {
  const thing = oneLine(asked);
  const cut = thing.length > LONGEST ? `${thing.slice(0, LONGEST)}…` : thing;
  const what = asked.kind === 'plan' ? 'your plan' : cut === '' ? label(asked) : `${label(asked)}: ${cut}`;
  const again = asked.kind === 'plan' ? 'present it again' : 'ask again';
  return `Nobody was here to answer when you asked about this, so it was denied:\n\n${what}\n\nSomebody is here now. If you still need it, ${again}.`;
}
