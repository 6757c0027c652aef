// What a rule would have matched: past calls of the same tool, each laid before the host's own policy as if the rule held.
// The page judges nothing by itself; a host that cannot judge a rule that is not kept says nothing, and so does the page.

import { api, take } from '../api/client';
import type { Approval, DecisionView } from '../api/types';
import { oneLine } from './words';

/** So many past calls are looked at. */
const MOST = 12;

export interface Matched {
  matches: number;
  of: number;
  /** Other calls that it would have let run, shortest first. */
  examples: string[];
}

/** For each set of rules: what it would have matched. None where the host does not tell. */
export async function history(asked: Approval, choices: string[][]): Promise<(Matched | null)[]> {
  let past: DecisionView[];
  try {
    const query = { session: asked.session, tool: asked.tool, most: MOST };
    past = (await take(api.GET('/api/v1/decisions', { params: { query } }))).items;
  } catch {
    return choices.map(() => null);
  }
  return Promise.all(choices.map((rules) => matchedBy(asked, rules, past)));
}

async function matchedBy(asked: Approval, rules: string[], past: DecisionView[]): Promise<Matched | null> {
  try {
    const judged = await Promise.all(
      past.map(async (one) => {
        const body = { session: asked.session, tool: one.tool, input: one.input, as_if: rules };
        const said = await take(api.POST('/api/v1/rules/explain', { body }));
        return { one, allowed: said.effect === 'allow' };
      }),
    );
    const hits = judged.filter((each) => each.allowed).map((each) => each.one);
    const lines = new Set(hits.map((one) => oneLine({ ...asked, input: one.input })));
    lines.delete(oneLine(asked));
    const examples = [...lines].sort((a, b) => a.length - b.length).slice(0, 3);
    return { matches: hits.length, of: past.length, examples };
  } catch {
    return null;
  }
}
