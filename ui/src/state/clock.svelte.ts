// The page's one timer. Ages under a minute follow `second`, all others `minute`, so that a long list is not drawn anew each second.

class Clock {
  /** Milliseconds of Unix time, renewed each second. */
  second = $state(Date.now());
  /** The same, renewed each minute. */
  minute = $state(Date.now());

  constructor() {
    setInterval(() => this.tick(), 1000);
    // A page that was hidden shows the right ages at once.
    document.addEventListener('visibilitychange', () => this.tick());
  }

  private tick(): void {
    const now = Date.now();
    this.second = now;
    if (Math.floor(now / 60_000) !== Math.floor(this.minute / 60_000)) this.minute = now;
  }
}

export const clock = new Clock();

/** Now, to the second. Whoever reads it is renewed each second. */
export const now = (): number => clock.second;

/** Now, as closely as the age of this moment asks for. Reads the seconds only while the moment is young. */
export function nowFor(at: number): number {
  const coarse = clock.minute;
  return coarse - at > 120_000 ? coarse : clock.second;
}
