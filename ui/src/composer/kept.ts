// What this browser keeps of what was written and not sent: drafts and letters over reloads, pictures while the page lives.
import { Drafts } from './drafts';
import type { Picture } from './images';
import { Letters } from './letters';

function shelf(): Storage | null {
  try {
    return localStorage;
  } catch {
    return null;
  }
}

export const drafts = new Drafts(shelf());
export const letters = new Letters(shelf());
/** Pictures beside a draft, by session. */
export const pictures = new Map<string, readonly Picture[]>();
