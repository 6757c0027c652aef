// The frames of a session as they crossed the wire, followed live. Keeps the newest KEPT of them; joined to one change a frame.
import { follow, type Followed } from '../api/stream';
import type { Told } from '../api/sse';
import type { Cursor } from '../api/types';

const KEPT = 2000;
/** How far back it begins. */
export const BACK = 300;

export interface Frame { cursor: Cursor; at: number; kind: string; name: string; text: string; length: number }

export class Records {
  frames = $state.raw<readonly Frame[]>([]);
  #stream: Followed;
  #waiting: Frame[] = [];
  #frame = 0;

  constructor(session: string, newest: Cursor) {
    this.#stream = follow(`/api/v1/sessions/${encodeURIComponent(session)}/events?max_inline=4096`, {
      after: before(newest, BACK),
      onEvent: (told) => this.#told(told),
    });
  }

  close(): void {
    this.#stream.close();
    cancelAnimationFrame(this.#frame);
  }

  #told(told: Told): void {
    if (told.event !== 'record' && told.event !== 'large') return;
    this.#waiting.push(frameOf(JSON.parse(told.data)));
    if (this.#frame !== 0) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.frames = [...this.frames, ...this.#waiting].slice(-KEPT);
      this.#waiting = [];
    });
  }
}

/** A record some places before that one. */
export function before(cursor: Cursor, records: number): Cursor {
  const [generation = '0', seq = '0'] = cursor.split('-');
  return `${generation}-${Math.max(0, Number(seq) - records)}`;
}

interface Told1 { cursor: string; at: number; kind: string; line?: unknown; text?: string; b64?: string; len?: number }

/** One record as it is shown: its type, and its text. */
export function frameOf({ cursor, at, kind, line, text, b64, len }: Told1): Frame {
  const said = line === undefined ? (text ?? b64 ?? '') : JSON.stringify(line);
  return { cursor, at, kind, name: nameOf(line), text: said, length: len ?? said.length };
}

function nameOf(line: unknown): string {
  const fields = typeof line === 'object' && line !== null ? (line as Record<string, unknown>) : {};
  const inner = (value: unknown) => (typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {});
  const type = fields['type'];
  const sub = fields['subtype'] ?? inner(fields['request'])['subtype'] ?? inner(fields['response'])['subtype'] ?? inner(fields['event'])['type'];
  return [type, sub].filter((word) => typeof word === 'string').join('/');
}
