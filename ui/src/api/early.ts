// Answers that were asked for before this script was there: public/theme.js asks while the rest of the page is loaded. Rules: each is
// taken once, soon or never, and only where it is what the page would get by asking itself; everything else is asked for anew.

export interface Asked {
  /** When, by the page's clock. */
  at: number;
  /** By path and query. An answer that did not come is null. */
  answers: Record<string, Promise<Response | null>>;
}

declare global {
  var countersignAsked: Asked | undefined;
}

/** What was asked for so long ago is old, in milliseconds. */
const OLD = 10_000;

/** The answer to this request, where there is one already, or soon. */
export async function early(request: Request): Promise<Response | null> {
  const asked = globalThis.countersignAsked;
  if (!asked || request.method !== 'GET') return null;
  const { pathname, search } = new URL(request.url);
  const answer = asked.answers[pathname + search];
  if (!answer) return null;
  delete asked.answers[pathname + search];
  if (performance.now() - asked.at > OLD) return null;
  const response = await answer;
  // A refusal may be over by now: somebody has signed in.
  return response?.ok ? response : null;
}
