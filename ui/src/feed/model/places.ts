// What can be done with a path of a session. Pure.
// Keeps: what the machine has no program for, what lies outside of the session's folder and what a login may not do is not offered;
// a path can always be copied.

export interface PlaceWay {
  does: 'editor' | 'terminal' | 'copy';
  label: string;
  hint?: string | undefined;
}

export function waysOf(path: string, folder: string | undefined, opens: { editor: boolean; terminal: boolean } | undefined, mayAll: boolean): PlaceWay[] {
  const isInside = folder !== undefined && (path === folder || path.startsWith(`${folder}/`)) && !path.split('/').includes('..');
  const may = mayAll && isInside;
  const ways: PlaceWay[] = [];
  if (may && opens?.editor) ways.push({ does: 'editor', label: 'Open in editor', hint: 'On the machine where Countersign runs' });
  if (may && opens?.terminal) ways.push({ does: 'terminal', label: 'Open terminal', hint: 'On the machine where Countersign runs' });
  ways.push({ does: 'copy', label: 'Copy path' });
  return ways;
}
