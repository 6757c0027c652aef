// A question in one line: what it is about, as rows, titles and notifications show it. Pure.
import type { Approval } from '../api/types';
import { harmOf, questionTexts } from '../approval/words';
import { counted } from '../kit/ages';
import type { IconName } from '../kit/icons';

export interface Gist {
  icon: IconName;
  text: string;
  /** What a machine reads: a command, a path. */
  isCode: boolean;
  /** A path and nothing else. */
  isPath?: boolean;
}

const PATHS = ['file_path', 'notebook_path', 'path'];

function text(input: unknown, ...names: string[]): string | null {
  if (typeof input !== 'object' || input === null) return null;
  for (const name of names) {
    const value = (input as Record<string, unknown>)[name];
    if (typeof value === 'string' && value !== '') return value;
  }
  return null;
}

function firstQuestion(input: unknown): string | null {
  if (typeof input !== 'object' || input === null) return null;
  const { questions } = input as { questions?: unknown };
  return Array.isArray(questions) ? text(questions[0], 'question', 'header') : null;
}

const oneLine = (words: string): string => words.replace(/\s+/g, ' ').trim();

export function gistOf(approval: Approval): Gist {
  const { input, tool } = approval;
  switch (approval.kind) {
    case 'plan':
      return { icon: 'plan', text: 'A plan to review', isCode: false };
    case 'questions':
      return { icon: 'quest', text: oneLine(firstQuestion(input) ?? 'A question'), isCode: false };
    case 'elicitation':
    case 'dialog':
      return { icon: 'quest', text: oneLine(text(input, 'message', 'title') ?? tool), isCode: false };
    case 'tool':
      break;
  }
  const command = text(input, 'command');
  if (command) return { icon: harmOf(approval) === null ? 'term' : 'warn', text: oneLine(command), isCode: true };
  const path = text(input, ...PATHS);
  const writes = tool === 'Edit' || tool === 'Write' || tool === 'MultiEdit' || tool === 'NotebookEdit';
  if (path) return { icon: writes ? 'edit' : 'file', text: path, isCode: true, isPath: true };
  const url = text(input, 'url', 'query');
  if (url) return { icon: 'globe', text: oneLine(url), isCode: true };
  const task = text(input, 'description', 'prompt');
  if (task && (tool === 'Task' || tool === 'Agent')) return { icon: 'agents', text: oneLine(task), isCode: false };
  return { icon: 'quest', text: tool, isCode: false };
}

/** What a session that waits says beside its folder: how many questions, or of which kind. The question itself stands below. */
export function waitsFor(approval: Approval | undefined, open: number): string {
  if (open > 1) return `${open} questions`;
  switch (approval?.kind) {
    case 'tool':
      return harmOf(approval) === null ? '1 question' : 'cannot be undone';
    case 'plan':
      return 'plan ready';
    case 'questions':
      return counted(questionTexts(approval.input).length, 'question');
    case 'elicitation':
    case 'dialog':
      return 'asks something';
    case undefined:
      return '';
  }
}

/** The same with a path told from the session's folder on, as rows have little room. */
export function within(gist: Gist, folder: string): Gist {
  const prefix = folder.endsWith('/') ? folder : `${folder}/`;
  return gist.text.startsWith(prefix) ? { ...gist, text: gist.text.slice(prefix.length) } : gist;
}
