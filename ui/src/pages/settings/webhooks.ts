// Webhooks, without the page around them: their words, and what is wrong with one. Pure but for `freshSecret`.
import { millis, type Webhook, type WebhookDelivery, type WebhookEvent } from '../../api/types';

/** What can be told. A test is told to everybody. */
export const EVENTS: { value: WebhookEvent; label: string }[] = [
  { value: 'needs_you', label: 'needs you' },
  { value: 'finished', label: 'finished' },
  { value: 'failed', label: 'failed' },
  { value: 'paused', label: 'paused' },
  { value: 'stalled', label: 'silent' },
  { value: 'not_signed_in', label: 'not signed in' },
  { value: 'stopped', label: 'stopped' },
  { value: 'trouble', label: 'trouble' },
];

export const eventLabel = (event: WebhookEvent): string =>
  event === 'test' ? 'a test' : (EVENTS.find((one) => one.value === event)?.label ?? event);

/** What stands before and behind the moment of the last try. */
export interface Told {
  look: 'ok' | 'wait' | 'bad';
  before: string;
  at: number;
  behind: string;
}

export function told(last: WebhookDelivery, nowMs: number): Told {
  const about = `“${eventLabel(last.about)}”`;
  const at = millis(last.at);
  const why = last.why ? `: ${last.why}` : '';
  switch (last.outcome) {
    case 'arrived':
      return { look: 'ok', before: `${about} arrived`, at, behind: '' };
    case 'waits': {
      const seconds = Math.max(0, Math.ceil((millis(last.next ?? last.at) - nowMs) / 1000));
      const next = seconds > 0 ? `tried again in ${seconds} s` : 'being tried again';
      return { look: 'wait', before: `${about} did not arrive`, at, behind: `${why} (try ${last.tries}; ${next})` };
    }
    default: {
      const tries = last.tries === 1 ? 'one try' : `${last.tries} tries`;
      return { look: 'bad', before: `${about} was given up`, at, behind: `, after ${tries}${why}` };
    }
  }
}

/** What to say of a test, once something came of it. */
export function toldOfTest(name: string, last: WebhookDelivery): string {
  const why = last.why ? `: ${last.why}` : '';
  switch (last.outcome) {
    case 'arrived':
      return `The test arrived at “${name}”.`;
    case 'waits':
      return `The test did not arrive at “${name}”${why}. It is tried again.`;
    default:
      return `The test did not arrive at “${name}”${why}.`;
  }
}

/** The newest try is another one than before, and of a test. */
export function isAnswered(before: WebhookDelivery | undefined | null, now: Webhook | undefined): now is Webhook & { last: WebhookDelivery } {
  return now?.last?.about === 'test' && now.last.at !== before?.at;
}

export function wrongName(name: string, taken: string[]): string | null {
  if (!name) return 'It needs a name.';
  if (!/^[A-Za-z0-9._-]{1,64}$/.test(name)) return 'Up to 64 letters, digits, “-”, “_”, “.”.';
  return taken.includes(name) ? 'That name is taken. Remove the other one first, or choose another name.' : null;
}

export function wrongAddress(url: string): string | null {
  if (!url) return 'It needs an address.';
  try {
    return /^https?:$/.test(new URL(url).protocol) ? null : 'It must start with https:// or http://.';
  } catch {
    return 'Not an address: it must start with https:// or http://.';
  }
}

/** Long enough that nobody guesses it. */
export function freshSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(24));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
