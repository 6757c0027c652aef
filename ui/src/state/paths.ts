// The addresses of the page, read and written. Pure: a path in, what it means out.

export type Route =
  | { page: 'inbox'; approval: string | null }
  | { page: 'session'; id: string; entry: string | null }
  | { page: 'plan'; id: string; approval: string }
  | { page: 'timeline'; id: string }
  | { page: 'sessions' }
  | { page: 'new' }
  | { page: 'insights'; query: string }
  | { page: 'rules' }
  | { page: 'audit'; decision: string | null; query: string }
  | { page: 'search'; q: string }
  | { page: 'settings' }
  | { page: 'away' }
  | { page: 'nowhere'; path: string };

export function parse(pathname: string, search = ''): Route {
  const parts = pathname.split('/').filter(Boolean).map(decoded);
  const [head, id, third, fourth] = parts;
  const is = (length: number) => parts.length === length;
  if (is(0)) return { page: 'inbox', approval: null };
  if (head === 'inbox' && parts.length <= 2) return { page: 'inbox', approval: id ?? null };
  if (head === 's' && id !== undefined) {
    if (is(2)) return { page: 'session', id, entry: null };
    if (is(3) && third === 'timeline') return { page: 'timeline', id };
    if (is(4) && third === 'e' && fourth !== undefined) return { page: 'session', id, entry: fourth };
    if (is(4) && third === 'plan' && fourth !== undefined) return { page: 'plan', id, approval: fourth };
  }
  if (head === 'audit' && parts.length <= 2) return { page: 'audit', decision: id ?? null, query: search };
  if (is(1)) {
    switch (head) {
      case 'sessions':
      case 'new':
      case 'rules':
      case 'settings':
        return { page: head };
      case 'put-away':
        return { page: 'away' };
      case 'insights':
        return { page: 'insights', query: search };
      case 'search':
        return { page: 'search', q: new URLSearchParams(search).get('q') ?? '' };
    }
  }
  return { page: 'nowhere', path: pathname };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

const enc = encodeURIComponent;

/** Addresses, for links. */
export const to = {
  inbox: () => '/inbox',
  approval: (id: string) => `/inbox/${enc(id)}`,
  session: (id: string) => `/s/${enc(id)}`,
  entry: (id: string, entry: string) => `/s/${enc(id)}/e/${enc(entry)}`,
  plan: (id: string, approval: string) => `/s/${enc(id)}/plan/${enc(approval)}`,
  timeline: (id: string) => `/s/${enc(id)}/timeline`,
  sessions: () => '/sessions',
  fresh: () => '/new',
  /** With a query (`?days=7`), the figures it means. */
  insights: (query = '') => `/insights${query}`,
  rules: () => '/rules',
  /** With a query (`?tool=Bash`), the decisions it means. */
  audit: (query = '') => `/audit${query}`,
  decision: (id: string) => `/audit/${enc(id)}`,
  search: (q = '') => (q ? `/search?q=${enc(q)}` : '/search'),
  settings: () => '/settings',
  /** The archive and the trash. */
  away: () => '/put-away',
};

/** A path as the address shows it once the browser was there: it writes some letters in its own way, `'` as `%27`. */
export function shown(path: string, base: string): string {
  const { pathname, search } = new URL(path, base);
  return pathname + search;
}

/** Paths that the server itself answers; links to them leave the page. */
export const isServers = (pathname: string): boolean =>
  /^\/(api|plain|login|healthz|readyz|metrics)(\/|$|\.)/.test(pathname);
