// What was written and not sent, per session, over reloads. Text only: `kept` has the pictures, while the page lives.
// Keeps: at most MOST drafts; a storage that refuses is no error, the draft is then only in memory.

const MOST = 50;
const KEY = 'drafts';
type Shelf = Pick<Storage, 'getItem' | 'setItem'>;

export class Drafts {
  #texts = new Map<string, string>();
  #shelf: Shelf | null;
  /** What is in memory is on the shelf as well. */
  #isKept = true;

  constructor(shelf: Shelf | null) {
    this.#shelf = shelf;
    this.#read();
  }

  #read(): void {
    try {
      const stored: unknown = JSON.parse(this.#shelf?.getItem(KEY) ?? 'null');
      if (!Array.isArray(stored)) return;
      this.#texts.clear();
      for (const pair of stored) {
        if (Array.isArray(pair) && typeof pair[0] === 'string' && typeof pair[1] === 'string') this.#texts.set(pair[0], pair[1]);
      }
    } catch {
      // What cannot be read is no draft.
    }
  }

  get(session: string): string {
    return this.#texts.get(session) ?? '';
  }

  /** Behind what is there already. Gives the whole. */
  add(session: string, text: string): string {
    const before = this.get(session);
    const whole = before ? `${before}\n${text}` : text;
    this.set(session, whole);
    return whole;
  }

  set(session: string, text: string): void {
    if (text === this.get(session)) return;
    // Another tab may have kept something since: it stays.
    if (this.#isKept) this.#read();
    this.#texts.delete(session);
    if (text) this.#texts.set(session, text);
    while (this.#texts.size > MOST) {
      const [oldest] = this.#texts.keys();
      if (oldest === undefined) break;
      this.#texts.delete(oldest);
    }
    try {
      this.#shelf?.setItem(KEY, JSON.stringify([...this.#texts]));
      this.#isKept = true;
    } catch {
      this.#isKept = false;
      // A full storage: the draft stays in memory.
    }
  }
}
