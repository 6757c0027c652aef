// The one way to the server's API: typed by its OpenAPI document. Rules: what the server refuses is a `Refused` with its own words,
// no answer at all is `Unreached`; every write carries an idempotency key, so a broken connection is tried again and done once.
import createClient, { type Middleware } from 'openapi-fetch';
import { early } from './early';
import type { paths } from './schema';
import type { Problem } from './types';

/** The server said no, and why. */
export class Refused extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.detail || problem.title);
    this.name = 'Refused';
    this.problem = problem;
  }

  get code(): Problem['code'] {
    return this.problem.code;
  }

  get status(): number {
    return this.problem.status;
  }
}

/** No answer came. Nobody knows whether the server has heard it. */
export class Unreached extends Error {
  constructor() {
    super('The server is not responding.');
    this.name = 'Unreached';
  }
}

/** What went wrong, for a person: what happened, and the server's advice where it has some. */
export function words(error: unknown): string {
  if (error instanceof Refused) {
    const hint = error.problem.hint;
    return hint ? `${sentence(error.message)} ${sentence(hint)}` : sentence(error.message);
  }
  return error instanceof Error ? error.message : String(error);
}

function sentence(text: string): string {
  const first = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(first) ? first : `${first}.`;
}

/** A name for a write. Also where the page has no secure context, and so no `randomUUID`. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

const WAITS = [250, 1000];

/** Asks again where the connection breaks. Safe for writes too: the key is part of the request. */
async function patient(request: Request): Promise<Response> {
  const known = await early(request);
  if (known) return known;
  for (const wait of WAITS) {
    try {
      return await fetch(request.clone());
    } catch {
      if (request.signal.aborted) break;
      await new Promise((done) => setTimeout(done, wait));
    }
  }
  return fetch(request);
}

/** A decision tells where it was made. Without a word the host says `web`. */
const isPhone = (): boolean => globalThis.matchMedia?.('(pointer: coarse) and (max-width: 767px)').matches ?? false;

const keyed: Middleware = {
  onRequest({ request }) {
    if (request.method !== 'GET' && !request.headers.has('idempotency-key')) {
      request.headers.set('idempotency-key', newKey());
    }
    if (request.method !== 'GET' && isPhone()) request.headers.set('x-countersign-client', 'phone');
    return request;
  },
};

/** The API by path and method. Give what it returns to `take`. */
export const api = createClient<paths>({ baseUrl: location.origin, credentials: 'same-origin', fetch: patient });
api.use(keyed);

type Answer<T> = { data?: T; error?: unknown; response: Response };
type Listener = (refused: Refused) => void;
const listeners = new Set<Listener>();

/** Hears every refusal: state/me learns there that a login has ended. */
export function onRefused(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** What was answered; throws `Refused` or `Unreached`. */
export async function take<T>(answer: Promise<Answer<T>>): Promise<T> {
  let got: Answer<T>;
  try {
    got = await answer;
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new Unreached();
  }
  if (got.response.ok) return got.data as T;
  const refused = new Refused(problemOf(got.response, got.error));
  for (const listener of listeners) listener(refused);
  throw refused;
}

/** The problem in a refusal, also where something else than our server answered. */
export function problemOf(response: Response, body: unknown): Problem {
  if (isProblem(body)) return body;
  const title = response.statusText || `status ${response.status}`;
  return { code: 'unknown', detail: title, status: response.status, title, type: 'about:blank' };
}

function isProblem(body: unknown): body is Problem {
  return typeof body === 'object' && body !== null && 'code' in body && 'detail' in body;
}
