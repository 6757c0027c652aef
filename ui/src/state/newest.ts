// Which of several answers about the same thing counts: the one that was asked for last. Answers overtake each other on the way, and
// whoever takes one asks here first. Should the server have looked in the other order, something happened in between: the stream tells
// of that, and it is asked again.

/** A question to the server, in the order of asking. */
export type Turn = number;

export class Newest {
  #turns = 0;
  #taken = new Map<string, Turn>();

  /** A question is about to be asked. */
  turn(): Turn {
    this.#turns += 1;
    return this.#turns;
  }

  /** Whether an answer about `id` may be taken; from then on none that was asked for earlier may. */
  takes(id: string, turn: Turn): boolean {
    if ((this.#taken.get(id) ?? 0) > turn) return false;
    this.#taken.set(id, turn);
    return true;
  }

  /** It is held no longer, and nothing is kept about it. */
  forget(id: string): void {
    this.#taken.delete(id);
  }
}
