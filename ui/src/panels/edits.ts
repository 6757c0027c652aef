// What the calls of a conversation changed, file by file: for sessions without a worktree of their own, where git cannot tell.
// Pure. Only calls that ran count; what one file went through stands in order.
import type { Entry, Tool } from '../api/types';
import { text } from '../approval/thing';
import { inputOf } from '../feed/model/tools';
import type { FileDiff } from '../feed/model/diff';
import { changeOf } from '../feed/tools/change';

export function editsIn(entries: readonly Entry[], folder?: string): FileDiff[] {
  const files = new Map<string, FileDiff>();
  for (const { body } of entries) {
    if (body.kind !== 'tool' || body.is.state !== 'ran') continue;
    const change = changeOf(body.is, folder);
    if (!change || change.path === '' || isPlan(body.is)) continue;
    const before = files.get(change.path);
    files.set(change.path, before ? joined(before, change) : change);
  }
  return [...files.values()];
}

/** The agent's own plan is no file of the project: it lies in the folder of its plans, or the host let it be written as one. */
function isPlan(tool: Tool): boolean {
  const isMarked = tool.approval?.answer?.reason_kind === 'plan-file';
  return isMarked || /[\\/]\.claude[\\/]plans[\\/][^\\/]+\.md$/.test(text(inputOf(tool), 'file_path'));
}

function joined(before: FileDiff, after: FileDiff): FileDiff {
  return {
    path: after.path,
    hunks: [...before.hunks, ...after.hunks],
    added: before.added + after.added,
    removed: before.removed + after.removed,
  };
}
