// A session that is about to begin: what was filled in, what is wrong with it, what is sent. Pure.
import type { ModeName, StartBody, Template } from '../../api/types';

export interface Draft {
  prompt: string;
  cwd: string;
  mode: ModeName;
  /** For hands-off: how many minutes. */
  minutes: number;
  /** '' is the CLI's default. */
  model: string;
  isWorktree: boolean;
  slug: string;
  /** In US dollars, as it was typed. */
  budget: string;
  name: string;
}

export const EMPTY: Draft = {
  prompt: '',
  cwd: '',
  mode: 'ask',
  minutes: 60,
  model: '',
  isWorktree: false,
  slug: '',
  budget: '',
  name: '',
};

/** `5`, `$5`, `5,50` → dollars; null for nothing, NaN for what is no amount. */
export function readBudget(text: string): number | null {
  const plain = text.trim().replace(/^\$/, '').replace(',', '.');
  if (plain === '') return null;
  const usd = /^\d+(\.\d+)?$/.test(plain) ? Number(plain) : Number.NaN;
  return usd > 0 ? usd : Number.NaN;
}

/** What has to be mended first, by field. */
export function problems(draft: Draft): Partial<Record<keyof Draft, string>> {
  const found: Partial<Record<keyof Draft, string>> = {};
  if (draft.prompt.trim() === '') found.prompt = 'Say what it should do.';
  if (!draft.cwd.trim().startsWith('/') && !/^[a-z]:[\\/]/i.test(draft.cwd.trim())) {
    found.cwd = draft.cwd.trim() === '' ? 'Choose a folder.' : 'Give the whole path, from the root.';
  }
  if (Number.isNaN(readBudget(draft.budget) ?? 0)) found.budget = 'An amount, like 5 or 2.50.';
  return found;
}

/** What begins it. Hands-off has an end, counted from now (milliseconds of Unix time). */
export function bodyOf(draft: Draft, now: number): StartBody {
  const body: StartBody = {
    cwd: draft.cwd.trim(),
    prompt: draft.prompt,
    mode: draft.mode,
  };
  if (draft.mode === 'hands-off') body.until = (now + draft.minutes * 60_000) * 1000;
  const budget = readBudget(draft.budget);
  if (budget !== null) body.budget_usd = budget;
  if (draft.model !== '') body.model = draft.model;
  if (draft.name.trim() !== '') body.name = draft.name.trim();
  if (draft.isWorktree) body.worktree = draft.slug.trim() === '' ? {} : { slug: draft.slug.trim() };
  return body;
}

/** A draft with what a template says; what it leaves open stays. */
export function fromTemplate(draft: Draft, template: Template): Draft {
  return {
    ...draft,
    prompt: template.prompt ?? draft.prompt,
    cwd: template.cwd ?? draft.cwd,
    mode: template.mode?.mode ?? draft.mode,
    model: template.model ?? '',
    isWorktree: Boolean(template.worktree),
    slug: template.worktree?.slug ?? '',
    budget: template.budget_usd ? String(template.budget_usd) : '',
  };
}

/** What is kept of a draft as a template. */
export function toTemplate(draft: Draft): Template {
  const { mode, model, prompt, cwd, ...rest } = bodyOf(draft, 0);
  const template: Template = { cwd: cwd ?? null, prompt: prompt ?? null };
  // An end that was counted from one day is over on the next.
  if (mode && mode !== 'hands-off' && mode !== 'auto') template.mode = { mode };
  if (model) template.model = model;
  if (rest.budget_usd) template.budget_usd = rest.budget_usd;
  if (rest.worktree) template.worktree = rest.worktree;
  return template;
}
