// What a session changed: as git tells it where the session has a worktree of its own, else as its calls tell it. Shared by the panel
// and the bar. Git is asked when it is looked at, and after turns.
import { api, take, words } from '../api/client';
import { parseUnified, type FileDiff } from '../feed/model/diff';
import { onHappened } from '../state/feed.svelte';
import { sessions } from '../state/sessions.svelte';
import type { Transcript } from '../state/transcript.svelte';
import { editsIn } from './edits';

export class Changed {
  readonly transcript: Transcript;
  trouble = $state('');
  isBusy = $state(false);
  #told = $state.raw<FileDiff[] | null>(null);
  #stop: () => void;

  /** There is a worktree, and git tells. */
  readonly isByGit = $derived.by(() => Boolean(sessions.get(this.transcript.session)?.branch));
  readonly files = $derived.by<FileDiff[] | null>(() => {
    if (this.isByGit) return this.#told;
    return editsIn(this.transcript.entries, sessions.get(this.transcript.session)?.cwd);
  });
  readonly added = $derived(this.files?.reduce((sum, file) => sum + file.added, 0) ?? 0);
  readonly removed = $derived(this.files?.reduce((sum, file) => sum + file.removed, 0) ?? 0);

  constructor(transcript: Transcript) {
    this.transcript = transcript;
    this.#stop = onHappened((happened) => {
      if (happened.event === 'turn' && happened.session === transcript.session) void this.load();
    });
  }

  close(): void {
    this.#stop();
  }

  async load(): Promise<void> {
    if (this.isBusy || !this.isByGit) return;
    this.isBusy = true;
    try {
      const path = { id: this.transcript.session };
      const text = await take(api.GET('/api/v1/sessions/{id}/diff', { params: { path }, parseAs: 'text' }));
      this.#told = parseUnified(text as string).filter((file) => file.path !== '');
      this.trouble = '';
    } catch (error) {
      this.trouble = words(error);
    } finally {
      this.isBusy = false;
    }
  }
}
