// The transcript of one session: newest page first, older ones on demand, then what changes. Rules: feed/model/window holds what is
// held and how much; deltas are joined to one change a frame; a rewound journal or a refusal begins anew.
import { api, take, words } from '../api/client';
import type { Told } from '../api/sse';
import { follow, type Followed, type StreamState } from '../api/stream';
import type { Changes, Entry, EntryId, Totals, TranscriptPage } from '../api/types';
import * as held from '../feed/model/window';

/** Records to look ahead for a page below, where no boundary is known. */
const AHEAD = 512;
const TRIES = 12;

export class Transcript {
  readonly session: string;
  /** Oldest first. A new list after each change; entries that did not change are the same objects. */
  entries = $state.raw<readonly Entry[]>([]);
  hasOlder = $state(false);
  /** The newest ones are not held: the reader is far above. */
  hasNewer = $state(false);
  /** Entries that have begun since it was opened. */
  added = $state(0);
  status = $state<'loading' | 'ready' | 'failed'>('loading');
  why = $state('');
  totals = $state.raw<Totals | null>(null);
  link = $state<StreamState>('connecting');
  isLoadingOlder = $state(false);
  isLoadingNewer = $state(false);
  /** Another machine has the session. */
  movedTo = $state<string | null>(null);

  #window: held.Window = held.EMPTY;
  #stream: Followed | null = null;
  #waiting: Changes[] = [];
  #frame: number | null = null;
  #isClosed = false;
  /** Which opening counts: the last one. Several may be on their way, and each would follow. */
  #opening = 0;

  constructor(session: string) {
    this.session = session;
  }

  /** Reads the newest page and follows. Also goes back to the newest from far above. */
  async open(): Promise<void> {
    const mine = (this.#opening += 1);
    const isOver = () => this.#isClosed || mine !== this.#opening;
    this.#stop();
    this.status = this.entries.length > 0 ? 'ready' : 'loading';
    try {
      const page = await this.#page(null);
      if (isOver()) return;
      this.#show(held.openAt(page));
      this.status = 'ready';
      this.#follow(page.cursor);
    } catch (error) {
      if (isOver()) return;
      this.status = 'failed';
      this.why = words(error);
    }
  }

  /** The page above the first entry that is held. */
  async older(): Promise<void> {
    const before = held.askAbove(this.#window);
    if (before === null || this.isLoadingOlder) return;
    this.isLoadingOlder = true;
    try {
      const page = await this.#page(before);
      if (!this.#isClosed) this.#show(held.takeAbove(this.#window, page));
    } catch {
      // The connection broke: scrolling asks again.
    } finally {
      this.isLoadingOlder = false;
    }
  }

  /** The page below the last entry that is held, where the newest are not. */
  async newer(): Promise<void> {
    if (held.isAtNewest(this.#window) || this.isLoadingNewer) return;
    this.isLoadingNewer = true;
    try {
      const asked = held.askBelow(this.#window);
      const page = await this.#page(asked);
      const next = held.takeBelow(this.#window, page, asked) ?? (await this.#ahead());
      if (this.#isClosed) return;
      if (next) this.#show(next);
      else await this.open();
    } catch {
      // The connection broke: scrolling asks again.
    } finally {
      this.isLoadingNewer = false;
    }
  }

  /** Makes sure that this entry is held, for a deep link. False where there is none of that name. */
  async reach(id: EntryId): Promise<boolean> {
    if (this.get(id)) return true;
    for (const records of [AHEAD, AHEAD / 8, 0]) {
      const before = ahead(id, records);
      const page = before && (await this.#page(before).catch(() => null));
      if (this.#isClosed || !page) return false;
      if (!page.items.some((entry) => entry.id === id)) continue;
      this.#show(held.openAround(this.#window, page));
      return true;
    }
    return false;
  }

  get(id: EntryId): Entry | undefined {
    return this.entries.find((entry) => entry.id === id);
  }

  close(): void {
    this.#isClosed = true;
    this.#stop();
  }

  /** A page below where no boundary is known: looks some records ahead, further if nothing began there, nearer if there is a gap. */
  async #ahead(): Promise<held.Window | null> {
    const last = this.entries.at(-1)?.id ?? '';
    let records = AHEAD;
    for (let tried = 0; tried < TRIES && records >= 1; tried += 1) {
      const before = ahead(last, records);
      if (!before) return null;
      const next = held.takeBelow(this.#window, await this.#page(before), before);
      if (next && next.held.at(-1)?.entry.id !== last) return next;
      records = next ? records * 4 : Math.floor(records / 4);
    }
    return null;
  }

  #show(window: held.Window): void {
    this.#window = window;
    this.entries = held.entriesOf(window);
    this.hasOlder = window.more;
    this.hasNewer = !held.isAtNewest(window);
    this.added = window.added;
  }

  #page(before: EntryId | null): Promise<TranscriptPage> {
    const most = held.PAGE;
    const query = before === null ? { most } : { most, before };
    const path = { id: this.session };
    const answer = api.GET('/api/v1/sessions/{id}/transcript', { params: { path, query } });
    return take(answer) as Promise<TranscriptPage>;
  }

  #follow(after: string): void {
    const id = encodeURIComponent(this.session);
    const mine = this.#opening;
    this.#stream = follow(`/api/v1/sessions/${id}/transcript/stream`, {
      after,
      onEvent: (told) => this.#told(told),
      onState: (state) => {
        this.link = state;
        // It cannot go on from there: the journal is another one.
        if (state === 'refused') setTimeout(() => !this.#isClosed && mine === this.#opening && void this.open(), 1000);
      },
    });
  }

  #told(told: Told): void {
    switch (told.event) {
      case 'entries':
        this.#waiting.push(JSON.parse(told.data) as Changes);
        this.#schedule();
        break;
      case 'totals':
        this.totals = JSON.parse(told.data) as Totals;
        break;
      case 'rewound':
        void this.open();
        break;
      case 'moved':
        this.movedTo = (JSON.parse(told.data) as { holder: string }).holder;
        break;
    }
  }

  /** Once a frame; a hidden page has no frames, so it goes by a timer there. */
  #schedule(): void {
    if (this.#frame !== null) return;
    const run = () => {
      this.#frame = null;
      const changes = this.#waiting;
      this.#waiting = [];
      this.#show(held.takeAll(this.#window, changes));
    };
    this.#frame = document.hidden ? window.setTimeout(run, 250) : requestAnimationFrame(run);
  }

  #stop(): void {
    this.#stream?.close();
    this.#stream = null;
    this.#waiting = [];
    if (this.#frame !== null) {
      cancelAnimationFrame(this.#frame);
      clearTimeout(this.#frame);
      this.#frame = null;
    }
  }
}

/** A name so many records behind that one; entries of the record itself are in front of it. */
function ahead(id: EntryId, records: number): EntryId | null {
  const [, generation, seq] = /^(\d+)-(\d+)/.exec(id) ?? [];
  if (!generation || !seq) return null;
  return records === 0 ? `${generation}-${seq}.65535` : `${generation}-${Number(seq) + records}`;
}
