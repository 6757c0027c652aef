// Ages, spans, clock times and money as the page writes them. Pure.

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const WEEKDAY = new Intl.DateTimeFormat('en-GB', { weekday: 'short' });
const DATE = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const YEAR = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });
const TIME = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const SECONDS = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const COUNT = new Intl.NumberFormat('en-US');
const WHOLE = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });

/** `now`, `12 s`, `2 m`, `3 h`, `Tue`, `14 Mar`. */
export function age(at: number, now: number): string {
  const past = now - at;
  if (past < 5 * SECOND) return 'now';
  if (past < MINUTE) return `${Math.floor(past / SECOND)} s`;
  if (past < HOUR) return `${Math.floor(past / MINUTE)} m`;
  if (past < DAY) return `${Math.floor(past / HOUR)} h`;
  if (past < 7 * DAY) return WEEKDAY.format(at);
  return past < 300 * DAY ? DATE.format(at) : YEAR.format(at);
}

/** How long something took: `0.4 s`, `12 s`, `2 m 14 s`, `3 h 5 m`. */
export function span(millis: number): string {
  if (millis < 0) return '0 s';
  if (millis < 10 * SECOND) return `${(millis / SECOND).toFixed(1)} s`;
  if (millis < MINUTE) return `${Math.round(millis / SECOND)} s`;
  if (millis < HOUR) return two(millis, MINUTE, 'm', SECOND, 's');
  if (millis < DAY) return two(millis, HOUR, 'h', MINUTE, 'm');
  return two(millis, DAY, 'd', HOUR, 'h');
}

function two(millis: number, big: number, bigName: string, small: number, smallName: string): string {
  const first = Math.floor(millis / big);
  const rest = Math.floor((millis - first * big) / small);
  return rest > 0 ? `${first} ${bigName} ${rest} ${smallName}` : `${first} ${bigName}`;
}

/** How long somebody waits: whole seconds, no halves. */
export function waiting(millis: number): string {
  return millis < 10 * SECOND ? `${Math.max(0, Math.floor(millis / SECOND))} s` : span(millis);
}

export const clockTime = (at: number): string => TIME.format(at);
export const exactTime = (at: number): string => SECONDS.format(at);
export const fullTime = (at: number): string => WHOLE.format(at);

/** `$1.84`; less than a cent is not nothing. */
export function money(usd: number): string {
  if (usd > 0 && usd < 0.01) return '<$0.01';
  return usd >= 1000 ? `$${COUNT.format(Math.round(usd))}` : `$${usd.toFixed(2)}`;
}

/** `62 k`, `1.2 M`. */
export function many(n: number): string {
  if (n < 1000) return String(n);
  const short = (value: number) => value.toFixed(1).replace(/\.0$/, '');
  if (n < 1_000_000) return `${n < 10_000 ? short(n / 1000) : Math.round(n / 1000)} k`;
  return `${short(n / 1_000_000)} M`;
}

/** `212 lines`, `1 line`. */
export const counted = (n: number, one: string, more = `${one}s`): string => `${COUNT.format(n)} ${n === 1 ? one : more}`;
