// The state of one review: the plan, its versions, drafts of comments, and what is chosen. Drafts are kept by the host as they
// are written, so that another device has them too. Invariants: a draft is never dropped because a save failed; a comment that is
// being written counts as one, whatever is pressed beside it.

import { api, take, words } from '../api/client';
import type { Approval, Comment, PlanVersion, PlanWay } from '../api/types';
import { drafts as kept } from '../composer/kept';
import { approvals } from '../state/approvals.svelte';
import { saidBefore, withDraft, type Said } from './comments';
import { counts } from './diff';
import type { Picture } from '../composer/images';
import type { Choice, FreshMode } from './ways';
import { shownLines } from './view';

const SAVE_AFTER = 400;

export class Review {
  readonly id: string;
  versions = $state.raw<PlanVersion[]>([]);
  drafts = $state.raw<Comment[]>([]);
  /** Approvals of plans of this session that were answered: their comments are shown at their lines. */
  answered = $state.raw<Approval[]>([]);
  isLoaded = $state(false);
  problem = $state<string | null>(null);
  saving = $state<string | null>(null);
  /** The version that is looked at; null: the one that is asked about. */
  looked = $state<number | null>(null);
  hasChanges = $state(false);
  picked = $state<PlanWay | null>(null);
  rules = $state.raw<string[]>([]);
  compact = $state(false);
  mode = $state<FreshMode>('edits');
  pictures = $state.raw<Picture[]>([]);
  feedback = $state('');
  edited = $state<string | null>(null);
  isEditing = $state(false);
  /** The line that a comment is being written on. */
  writing = $state<number | null>(null);
  /** What is being written there, until it is kept or left. */
  words = $state('');
  #timer = 0;

  constructor(id: string) {
    this.id = id;
    this.feedback = kept.get(`plan ${id}`);
    this.edited = kept.get(`plan text ${id}`) || null;
  }

  /** What was said about the whole plan and changed in it stays in this browser until it is sent. */
  remember(): void {
    kept.set(`plan ${this.id}`, this.feedback);
    kept.set(`plan text ${this.id}`, this.edited ?? '');
  }

  /** It was sent. */
  forget(): void {
    this.feedback = '';
    this.edited = null;
    this.writing = null;
    this.remember();
  }

  readonly asked = $derived.by(() => approvals.get(this.id));
  readonly card = $derived(this.asked?.plan ?? null);
  /** The version that is asked about. */
  readonly version = $derived.by(() => {
    const of = (one: PlanVersion) => one.approval === this.id || (one.asked_again ?? []).includes(this.id);
    return this.versions.find(of) ?? null;
  });
  readonly shown = $derived.by(() => this.versions.find((one) => one.number === this.looked) ?? this.version);
  readonly text = $derived.by(() => this.shown?.text ?? this.card?.text ?? null);
  readonly isCurrent = $derived.by(() => this.shown === this.version);
  readonly before = $derived.by(() => {
    const { shown } = this;
    if (shown === null) return null;
    return this.versions.filter((one) => one.number < shown.number).at(-1) ?? null;
  });
  readonly changed = $derived.by(() => (this.before === null || this.text === null ? null : counts(this.before.text, this.text)));
  readonly lines = $derived.by(() => {
    if (this.text === null) return [];
    return shownLines(this.text, this.hasChanges ? (this.before?.text ?? null) : null);
  });
  readonly said = $derived.by((): Said[] => {
    return this.shown === null ? [] : saidBefore(this.versions, this.shown, this.answered);
  });
  /** The drafts, and what is being written. */
  readonly comments = $derived.by(() => {
    if (this.writing === null || this.words.trim() === '') return this.drafts;
    return withDraft(this.drafts, this.writing, this.words);
  });
  /** What is chosen by a person, or what follows from a first comment; the most careful yes otherwise. */
  readonly way = $derived.by((): PlanWay => {
    if (this.picked !== null) return this.picked;
    const says = this.comments.length > 0 || this.feedback.trim() !== '' || this.edited !== null || this.pictures.length > 0;
    return says ? 'keep-planning' : 'manual';
  });
  readonly choice = $derived.by(
    (): Choice => ({
      way: this.way,
      rules: this.rules,
      compact: this.compact,
      comments: this.comments,
      feedback: this.feedback,
      edited: this.edited,
      mode: this.mode,
      pictures: this.pictures,
    }),
  );

  async load(): Promise<void> {
    try {
      const asked = this.asked ?? (await approvals.refresh(this.id));
      if (asked === undefined) {
        this.problem = 'There is no such plan.';
        return;
      }
      const path = { id: this.id };
      const [versions, drafts, plans] = await Promise.all([
        take(api.GET('/api/v1/plans/{id}/versions', { params: { path } })),
        take(api.GET('/api/v1/plans/{id}/comments', { params: { path } })),
        take(api.GET('/api/v1/approvals', { params: { query: { session: asked.session, most: 200 } } })),
      ]);
      this.versions = versions;
      if (this.drafts.length === 0) this.drafts = drafts.comments;
      this.answered = plans.items.filter((one) => one.kind === 'plan' && one.decided != null);
      this.hasChanges = this.before !== null;
      this.problem = null;
    } catch (error) {
      this.problem = words(error);
    } finally {
      this.isLoaded = true;
    }
  }

  draftAt(line: number): string | null {
    return this.drafts.find((draft) => draft.line === line)?.text ?? null;
  }

  /** A comment is begun, or gone on with. What was being written elsewhere is kept. */
  write(line: number): void {
    if (this.writing === line) return;
    this.settle();
    this.words = this.draftAt(line) ?? '';
    this.writing = line;
  }

  /** Keeps what is being written: the reader looks at something else. Emptied words are left, not taken for a wish to remove them. */
  settle(): void {
    if (this.writing !== null && this.words.trim() !== '') this.keep(this.writing, this.words);
    this.writing = null;
  }

  /** Keeps a comment; empty words take it away. Saved a moment later. */
  keep(line: number, text: string): void {
    this.drafts = withDraft(this.drafts, line, text);
    this.writing = null;
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => void this.save(), SAVE_AFTER);
  }

  async save(): Promise<void> {
    try {
      await take(api.PUT('/api/v1/plans/{id}/comments', { params: { path: { id: this.id } }, body: this.drafts }));
      this.saving = null;
    } catch (error) {
      this.saving = `The comments are not kept yet: ${words(error)}`;
    }
  }

  /** A rule goes along, or does not. */
  grant(rule: string, on: boolean): void {
    const others = this.rules.filter((one) => one !== rule);
    this.rules = on ? [...others, rule] : others;
  }

  /** The text as it was changed; the same text is no change. */
  edit(text: string): void {
    this.edited = text === this.card?.text ? null : text;
  }
}
