// Whether the server is heard, and since when it is not. Fed by state/feed; the banner and the composer read it. Rule: whoever finds
// the server away says so, and the next sign of life is the end of it.

export type Link = 'connecting' | 'live' | 'lost';

class Connection {
  link = $state<Link>('connecting');
  /** When the server was last heard, in milliseconds. What is shown is the state of then. */
  lastSign = $state.raw(Date.now());
  /** Since when it is lost. */
  lostSince = $state<number | null>(null);
  /** Just came back, until the banner has faded. */
  back = $state<{ at: number } | null>(null);

  get isLive(): boolean {
    return this.link === 'live';
  }

  /** Not for a blink, but long enough that a person should know. */
  get isAway(): boolean {
    return this.lostSince !== null;
  }

  /** A sign of life. A request may have failed while the stream went on: then nothing else tells that the server is there. */
  heard(): void {
    this.lastSign = Date.now();
    if (this.link === 'lost') this.up();
  }

  up(): void {
    this.link = 'live';
    this.heard();
    if (this.lostSince !== null) this.back = { at: Date.now() };
    this.lostSince = null;
  }

  down(): void {
    if (this.link === 'live' || this.link === 'connecting') this.link = 'lost';
    this.lostSince ??= this.lastSign;
  }
}

export const connection = new Connection();
