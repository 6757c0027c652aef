// Messages that wait for the server, of every session, over reloads and shared by tabs. Rules: each is kept under a name of its own,
// so that tabs take nothing from each other; a storage that refuses is no error, the letter is then only in memory.
import type { Picture } from './images';

export interface Letter {
  /** Names the write: whoever sends it again with the same key does nothing twice. */
  key: string;
  session: string;
  at: number;
  text: string;
  pictures: Picture[];
  /** How it goes out, once that was tried: the key stands for one way. */
  way: 'send' | 'resume' | null;
  /** So many pictures were too large to keep, and another page or nobody has them. It does not go out without them. */
  missing: number;
}

const NAME = 'letter ';
type Shelf = Pick<Storage, 'getItem' | 'setItem' | 'removeItem' | 'key' | 'length'>;

export class Letters {
  #shelf: Shelf | null;
  /** What the shelf took without its pictures, and they are here. */
  #pictures = new Map<string, Picture[]>();
  /** What the shelf did not take. */
  #unkept = new Map<string, Letter>();

  constructor(shelf: Shelf | null) {
    this.#shelf = shelf;
  }

  static isName(name: string): boolean {
    return name.startsWith(NAME);
  }

  /** The oldest first. */
  all(): Letter[] {
    const found = [...this.#unkept.values()];
    for (let at = 0; at < (this.#shelf?.length ?? 0); at += 1) {
      const name = this.#shelf?.key(at);
      const letter = name && Letters.isName(name) ? readLetter(this.#shelf?.getItem(name) ?? null) : null;
      if (letter) found.push(this.#whole(letter));
    }
    return found.sort((one, other) => one.at - other.at);
  }

  #whole(letter: Letter): Letter {
    const pictures = this.#pictures.get(letter.key);
    return pictures ? { ...letter, pictures, missing: 0 } : letter;
  }

  put(letter: Letter): void {
    this.drop(letter.key);
    if (this.#keeps(letter)) return;
    if (letter.pictures.length > 0 && this.#keeps({ ...letter, pictures: [], missing: letter.pictures.length })) {
      this.#pictures.set(letter.key, letter.pictures);
    } else this.#unkept.set(letter.key, letter);
  }

  drop(key: string): void {
    this.#unkept.delete(key);
    this.#pictures.delete(key);
    this.#shelf?.removeItem(NAME + key);
  }

  #keeps(letter: Letter): boolean {
    try {
      this.#shelf?.setItem(NAME + letter.key, JSON.stringify(letter));
      return this.#shelf !== null;
    } catch {
      return false;
    }
  }
}

function readLetter(stored: string | null): Letter | null {
  try {
    const one = JSON.parse(stored ?? 'null') as Partial<Letter> | null;
    if (!one || typeof one.key !== 'string' || typeof one.session !== 'string' || typeof one.text !== 'string') return null;
    const pictures = Array.isArray(one.pictures) ? one.pictures : [];
    return { key: one.key, session: one.session, at: Number(one.at), text: one.text, pictures, way: one.way ?? null, missing: one.missing ?? 0 };
  } catch {
    return null;
  }
}
