// The order of the inbox, kept still: nothing moves under a finger. Pure.
// Invariants: what stands where it is stays there; new ones come behind the one that has the focus; what was answered keeps
// its place until it is let go.

import type { Approval } from '../api/types';
import { grouped, type Group } from './alike';

/** The places from before, with what came and went. `lingers`: answered ones that are still shown. */
export function arrange(
  before: Group[],
  open: Approval[],
  lingers: (id: string) => Approval | undefined,
  focused: string | null,
): Group[] {
  const fresh = new Map(open.map((asked) => [asked.id, asked]));
  const placed = new Set<string>();
  const kept: Group[] = [];
  for (const group of before) {
    const asked = group.asked.flatMap((one) => {
      const now = fresh.get(one.id) ?? lingers(one.id);
      if (now === undefined) return [];
      placed.add(now.id);
      return [now];
    });
    if (asked.length > 0) kept.push({ key: group.key, asked });
  }
  const place = kept.findIndex((group) => group.asked.some((one) => one.id === focused));
  const added = grouped(open.filter((one) => !placed.has(one.id)));
  for (const group of added) {
    const home = kept.findIndex((each, at) => at >= place && isAlike(each, group));
    const found = kept[home];
    if (found !== undefined) kept[home] = { key: found.key, asked: [...found.asked, ...group.asked] };
    else kept.push(group);
  }
  return kept;
}

function isAlike(one: Group, other: Group): boolean {
  const [a, b] = [one.asked[0], other.asked[0]];
  return a !== undefined && b !== undefined && grouped([a, b]).length === 1;
}
