// The lines of a server-sent event stream as events. Pure: pieces of text in, events out, whatever the cuts between pieces.

export interface Told {
  event: string;
  data: string;
  /** The id to go on from, where this event carries one. */
  id: string | null;
}

export class Parser {
  #rest = '';
  #event = '';
  #data: string[] = [];
  #id: string | null = null;
  /** How long the server asks to wait before the next try, in milliseconds. */
  retry: number | null = null;

  /** What is whole with this piece. */
  push(piece: string): Told[] {
    const told: Told[] = [];
    const text = this.#rest + piece;
    let from = 0;
    for (;;) {
      const end = text.indexOf('\n', from);
      if (end < 0) break;
      const line = text.slice(from, text[end - 1] === '\r' && end > from ? end - 1 : end);
      from = end + 1;
      const one = this.#line(line);
      if (one) told.push(one);
    }
    this.#rest = text.slice(from);
    return told;
  }

  #line(line: string): Told | null {
    if (line === '') return this.#flush();
    if (line.startsWith(':')) return null;
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const raw = colon < 0 ? '' : line.slice(colon + 1);
    const value = raw.startsWith(' ') ? raw.slice(1) : raw;
    if (field === 'data') this.#data.push(value);
    else if (field === 'event') this.#event = value;
    else if (field === 'id') this.#id = value;
    else if (field === 'retry' && /^\d+$/.test(value)) this.retry = Number(value);
    return null;
  }

  #flush(): Told | null {
    const told =
      this.#data.length > 0
        ? { event: this.#event || 'message', data: this.#data.join('\n'), id: this.#id }
        : null;
    this.#event = '';
    this.#data = [];
    this.#id = null;
    return told;
  }
}
