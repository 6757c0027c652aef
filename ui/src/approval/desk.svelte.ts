// Answers on their way: sent, held while the host is out of reach, refused, or too late. One place for every card.
// Invariants: an answer keeps its key until the host has it, so it is given once; what failed is said and can be said again.

import { SvelteMap } from 'svelte/reactivity';
import { Refused, Unreached, api, newKey, take, words } from '../api/client';
import type { Approval, Receipt } from '../api/types';
import { announce } from '../state/announce.svelte';
import { approvals } from '../state/approvals.svelte';
import { connection } from '../state/connection.svelte';
import type { Sending } from './alike';
import type { Answer } from './answer';
import type { Local } from './face';

interface Held {
  asked: Approval;
  answer: Answer;
  key: string;
}

const IDLE: Local = { phase: 'idle' };

/** An answer that did not get through goes again after this, while the stream still lives. */
const AGAIN = 2_000;

class Desk {
  readonly locals = new SvelteMap<string, Local>();
  #held: Held[] = [];

  constructor() {
    $effect.root(() => {
      $effect(() => {
        if (connection.isLive) this.#release();
      });
    });
  }

  of(id: string): Local {
    return this.locals.get(id) ?? IDLE;
  }

  /** Gives an answer to what was shown. None: it waits for the connection, was refused, or came too late. */
  answer(asked: Approval, answer: Answer): Promise<Receipt | null> {
    const held = { asked, answer, key: newKey() };
    if (connection.isAway) {
      this.#hold(held);
      return Promise.resolve(null);
    }
    return this.#send(held);
  }

  /** What was said here about it is over. */
  forget(id: string): void {
    this.locals.delete(id);
  }

  async #send(held: Held): Promise<Receipt | null> {
    const { asked, answer, key } = held;
    this.locals.set(asked.id, { phase: 'sending', words: answer.words, since: Date.now() });
    try {
      const params = { path: { id: asked.id }, header: { 'idempotency-key': key } };
      const body = { ...answer.body, saw: asked.digest };
      const receipt = await take(api.POST('/api/v1/approvals/{id}/decision', { params, body }));
      announce(`${answer.words}: ${asked.session_name}`);
      // The card stays as it is until the host says what became of it.
      void this.#look(asked.id);
      return receipt;
    } catch (error) {
      this.#failed(held, error);
      void this.#look(asked.id);
      return null;
    }
  }

  /** One request for several that are alike. What the host left out is open again, and says so. It refuses all of them for one that
      somebody else was quicker with: then each goes by itself. */
  async together(all: Approval[], sending: Sending): Promise<void> {
    const since = Date.now();
    const answer = { body: sending.body, words: 'Allowed' };
    for (const asked of all) this.locals.set(asked.id, { phase: 'sending', words: 'Allowed', since });
    try {
      const params = { path: { id: sending.id }, header: { 'idempotency-key': newKey() } };
      const body = { ...sending.body, saw: sending.saw, others: sending.others, whole: sending.whole };
      const { did } = await take(api.POST('/api/v1/approvals/{id}/decision/alike', { params, body }));
      const decided = did.did === 'decided' ? did.approvals : sending.ids;
      const problem = 'This one needs its own answer.';
      for (const asked of all) {
        if (!decided.includes(asked.id)) this.locals.set(asked.id, { phase: 'failed', problem, hint: '' });
      }
    } catch (error) {
      if (error instanceof Refused && (error.code === 'conflict' || error.code === 'stale')) {
        await Promise.all(all.map((asked) => this.#send({ asked, answer, key: newKey() })));
        return;
      }
      for (const asked of all) this.#failed({ asked, answer, key: newKey() }, error);
    }
    for (const asked of all) void this.#look(asked.id);
  }

  async #look(id: string): Promise<void> {
    try {
      await approvals.refresh(id);
    } catch {
      // The stream tells it, now or when the connection is back.
    }
  }

  #failed(held: Held, error: unknown): void {
    const { id } = held.asked;
    if (error instanceof Unreached) {
      this.#hold(held);
    } else if (error instanceof Refused && error.code === 'conflict') {
      this.locals.set(id, { phase: 'late' });
    } else if (error instanceof Refused && error.code === 'stale') {
      const problem = 'It changed since you saw it. Look at it again; nothing was decided.';
      this.locals.set(id, { phase: 'failed', problem, hint: '' });
    } else {
      this.locals.set(id, { phase: 'failed', problem: words(error), hint: '' });
    }
  }

  #hold(held: Held): void {
    this.#held.push(held);
    this.locals.set(held.asked.id, { phase: 'held', words: held.answer.words, since: Date.now() });
    // The stream may not have noticed that the line is cut, and then nothing tells that it is back.
    setTimeout(() => {
      if (!connection.isAway) this.#release();
    }, AGAIN);
  }

  #release(): void {
    const held = this.#held;
    this.#held = [];
    for (const one of held) void this.#send(one);
  }
}

export const desk = new Desk();
