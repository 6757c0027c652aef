// Spans and moments in the few forms of the design: `12 s`, `2 m`, `3 h`, `Tue`, `14 Mar`. Pure; milliseconds.

/** How long: the largest unit alone. */
export function span(millis: number): string {
  const seconds = Math.max(0, Math.floor(millis / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h`;
  return `${Math.floor(hours / 24)} d`;
}

/** How long, with the unit below: `3 m 48 s`. */
export function exactly(millis: number): string {
  const seconds = Math.max(0, Math.round(millis / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  const pad = (part: number) => String(part).padStart(2, '0');
  if (minutes < 60) return `${minutes} m ${pad(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${pad(minutes % 60)} m`;
}

/** When, as short as it can be said: the clock today, a day this week, a date before. */
export function at(moment: number, now: number): string {
  const then = new Date(moment);
  const today = new Date(now);
  if (then.toDateString() === today.toDateString()) return clock(moment);
  const days = (now - moment) / 86_400_000;
  if (days >= 0 && days < 6) return then.toLocaleDateString('en-GB', { weekday: 'short' });
  const sameYear = then.getFullYear() === today.getFullYear();
  const year = sameYear ? {} : { year: 'numeric' as const };
  return then.toLocaleDateString('en-GB', { day: 'numeric', month: 'short', ...year });
}

/** A moment of the record, always with its day: `18 Nov 14:02`, with the year where it is another one. */
export function dated(moment: number, now: number): string {
  const then = new Date(moment);
  const year = then.getFullYear() === new Date(now).getFullYear() ? {} : { year: 'numeric' as const };
  return `${then.toLocaleDateString('en-GB', { day: 'numeric', month: 'short', ...year })} ${clock(moment)}`;
}

export function clock(moment: number, seconds = false): string {
  const then = new Date(moment);
  const two = (part: number) => String(part).padStart(2, '0');
  const short = `${two(then.getHours())}:${two(then.getMinutes())}`;
  return seconds ? `${short}:${two(then.getSeconds())}` : short;
}

/** How long until then: `in 23 days`, `tomorrow`, `in 40 m`; `over` if it has passed. */
export function until(moment: number, now: number): string {
  const left = moment - now;
  if (left <= 0) return 'over';
  const hours = left / 3_600_000;
  if (hours < 24) return `in ${span(left)}`;
  if (hours < 48) return 'tomorrow';
  return `in ${Math.round(hours / 24)} days`;
}
