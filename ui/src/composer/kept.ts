// The drafts of this browser.
import { Drafts } from './drafts';

function shelf(): Storage | null {
  try {
    return localStorage;
  } catch {
    return null;
  }
}

export const drafts = new Drafts(shelf());
