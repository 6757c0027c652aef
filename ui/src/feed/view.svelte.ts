// What the parts of one feed share: the session, what is folded, what is shown whole, who the reader is.
// Keeps: what was opened by hand stays so while its row is off the screen.
import { getContext, setContext } from 'svelte';
import { SvelteMap } from 'svelte/reactivity';
import { me } from '../state/me.svelte';
import { sessions } from '../state/sessions.svelte';

/** A long text that is shown whole, over the page. */
export interface Whole {
  title: string;
  /** What is at hand. */
  text: string;
  /** The record that has all of it, where something is missing, and how to find it there. */
  record?: { cursor: string; pick: (line: unknown) => string | null } | null;
  /** Terminal colours are meant. */
  isTerminal?: boolean;
}

export class FeedView {
  readonly session: string;
  readonly folds = new SvelteMap<string, boolean>();
  /** Entries that say a plan again: they come folded. */
  repeats = $state.raw<ReadonlySet<string>>(new Set());
  whole = $state.raw<Whole | null>(null);
  /** The message before which files shall stand again. */
  rewinding = $state<string | null>(null);
  /** The entry that was asked for by its address. */
  marked = $state<string | null>(null);

  constructor(session: string) {
    this.session = session;
  }

  get folder(): string | undefined {
    return sessions.get(this.session)?.cwd;
  }

  get me(): string {
    return me.who?.name ?? '';
  }

  isOpen(key: string, byItself: boolean): boolean {
    return this.folds.get(key) ?? byItself;
  }

  toggle(key: string, byItself: boolean): void {
    this.folds.set(key, !this.isOpen(key, byItself));
  }
}

const KEY = Symbol('feed');
export const setView = (view: FeedView): FeedView => setContext(KEY, view);
export const getView = (): FeedView => getContext(KEY);
