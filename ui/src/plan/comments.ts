// Comments on lines of a plan: drafts of this version, and those that were sent with earlier ones. Pure.
// Invariant: a comment is never lost. Where its line is gone it is kept, marked as outdated, at the line that was above.

import type { Approval, Comment, PlanVersion } from '../api/types';
import { text as textOf, fields } from '../approval/thing';
import { common } from './diff';

export interface Placed {
  line: number;
  text: string;
  /** Its line has changed or is gone. */
  outdated: boolean;
}

/** Where comments on one text stand in another. */
export function carried(comments: Comment[], from: string, to: string): Placed[] {
  if (from === to) return comments.map((comment) => ({ ...comment, outdated: false }));
  const places = new Map(common(from.split('\n'), to.split('\n')).map((pair) => [pair.old + 1, pair.new + 1]));
  return comments.map((comment) => {
    const exact = places.get(comment.line);
    if (exact !== undefined) return { line: exact, text: comment.text, outdated: false };
    let above = comment.line - 1;
    while (above > 0 && !places.has(above)) above -= 1;
    return { line: places.get(above) ?? 1, text: comment.text, outdated: true };
  });
}

export interface Said extends Placed {
  by: string;
  version: number;
}

/** What was said about earlier versions, at the lines of this one. `decided` are plans of the session that were answered. */
export function saidBefore(versions: PlanVersion[], current: PlanVersion, decided: Approval[]): Said[] {
  const said: Said[] = [];
  for (const version of versions) {
    if (version.number > current.number) continue;
    const ids = [version.approval, ...(version.asked_again ?? [])];
    for (const plan of decided) {
      if (plan.decided == null || !ids.includes(plan.id)) continue;
      const comments = commentsIn(plan.decided.decision);
      const by = plan.decided.by;
      for (const placed of carried(comments, version.text, current.text)) {
        said.push({ ...placed, by, version: version.number });
      }
    }
  }
  return said;
}

function commentsIn(decision: unknown): Comment[] {
  const list = fields(decision)['comments'];
  if (!Array.isArray(list)) return [];
  return list.flatMap((each) => {
    const line = fields(each)['line'];
    return typeof line === 'number' ? [{ line, text: textOf(each, 'text') }] : [];
  });
}

/** Drafts with one more, changed, or gone; in the order of lines. Empty words take it away. */
export function withDraft(drafts: Comment[], line: number, words: string): Comment[] {
  const others = drafts.filter((draft) => draft.line !== line);
  const said = words.trim();
  const all = said === '' ? others : [...others, { line, text: said }];
  return all.sort((one, two) => one.line - two.line);
}
