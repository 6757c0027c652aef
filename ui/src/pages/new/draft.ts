// A session that is about to begin: what was filled in, what is wrong with it, what is sent. Pure.
// Invariant: what a template says and the form has no field for is told in words, goes along, and is kept with it.
import type { ModeName, StartBody, Template } from '../../api/types';

type Tree = NonNullable<Template['worktree']>;

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
  /** '' is the CLI's default. */
  effort: string;
  /** As they were typed; '' is no limit. */
  thinking: string;
  turns: string;
  name: string;
  /** The template it comes from; '' is none. */
  from: string;
  /** What else that template says, and says of the worktree. */
  rest: Omit<Template, 'prompt' | 'cwd' | 'mode' | 'model' | 'worktree' | 'budget_usd' | 'name' | 'effort' | 'max_thinking_tokens' | 'max_turns'>;
  tree: Omit<Tree, 'slug'>;
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
  effort: '',
  thinking: '',
  turns: '',
  name: '',
  from: '',
  rest: {},
  tree: {},
};

/** `5`, `$5`, `5,50` → dollars; null for nothing, NaN for what is no amount. */
export function readBudget(text: string): number | null {
  const plain = text.trim().replace(/^\$/, '').replace(',', '.');
  if (plain === '') return null;
  const usd = /^\d+(\.\d+)?$/.test(plain) ? Number(plain) : Number.NaN;
  return usd > 0 ? usd : Number.NaN;
}

/** The levels of effort, from the least. */
export const EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max'];

/** A whole number from `least`; null for nothing, NaN for what is none. */
function readCount(text: string, least: number): number | null {
  const plain = text.trim().replace(/[ ,.](?=\d{3}\b)/g, '');
  if (plain === '') return null;
  return /^\d{1,7}$/.test(plain) && Number(plain) >= least ? Number(plain) : Number.NaN;
}

/** What has to be mended first, by field. */
export function problems(draft: Draft): Partial<Record<keyof Draft, string>> {
  const found: Partial<Record<keyof Draft, string>> = {};
  if (draft.prompt.trim() === '') found.prompt = 'Say what it should do.';
  if (!/^(\/|~$|~\/|[a-z]:[\\/])/i.test(draft.cwd.trim())) {
    found.cwd = draft.cwd.trim() === '' ? 'Choose a folder.' : 'Enter an absolute path.';
  }
  if (Number.isNaN(readBudget(draft.budget) ?? 0)) found.budget = 'An amount, like 5 or 2.50.';
  if (Number.isNaN(readCount(draft.thinking, 0) ?? 0)) found.thinking = 'A number of tokens. 0 turns thinking off.';
  if (Number.isNaN(readCount(draft.turns, 1) ?? 1)) found.turns = 'A number, at least 1.';
  return found;
}

/** What begins it. Hands-off has an end, counted from now (milliseconds of Unix time). */
export function bodyOf(draft: Draft, now: number): StartBody {
  const body: StartBody = {
    ...draft.rest,
    cwd: draft.cwd.trim(),
    prompt: draft.prompt,
    mode: draft.mode,
  };
  if (draft.mode === 'hands-off') body.until = (now + draft.minutes * 60_000) * 1000;
  const budget = readBudget(draft.budget);
  if (budget !== null) body.budget_usd = budget;
  if (draft.model !== '') body.model = draft.model;
  if (draft.effort !== '') body.effort = draft.effort;
  const thinking = readCount(draft.thinking, 0);
  if (thinking !== null) body.max_thinking_tokens = thinking;
  const turns = readCount(draft.turns, 1);
  if (turns !== null) body.max_turns = turns;
  if (draft.name.trim() !== '') body.name = draft.name.trim();
  if (draft.isWorktree) body.worktree = draft.slug.trim() === '' ? { ...draft.tree } : { ...draft.tree, slug: draft.slug.trim() };
  return body;
}

/** A draft with what a template says; what it leaves open stays. */
export function fromTemplate(draft: Draft, template: Template, from: string): Draft {
  return {
    ...withHidden(draft, template),
    prompt: template.prompt ?? draft.prompt,
    cwd: template.cwd ?? draft.cwd,
    mode: template.mode?.mode ?? draft.mode,
    model: template.model ?? '',
    isWorktree: Boolean(template.worktree),
    budget: template.budget_usd ? String(template.budget_usd) : '',
    effort: template.effort ?? '',
    thinking: counted(template.max_thinking_tokens),
    turns: counted(template.max_turns),
    from,
  };
}

function counted(count: number | null | undefined): string {
  return count == null ? '' : String(count);
}

/** Fields of a template that a draft has by themselves. */
const OWN = new Set(['prompt', 'cwd', 'mode', 'model', 'worktree', 'budget_usd', 'name', 'effort', 'max_thinking_tokens', 'max_turns']);

/** A draft with that part of a template which the form has no field for. */
function withHidden(draft: Draft, template: Template): Draft {
  const rest: Draft['rest'] = Object.fromEntries(Object.entries(template).filter(([field]) => !OWN.has(field)));
  const { slug, ...tree } = template.worktree ?? {};
  return { ...draft, name: template.name ?? '', slug: slug ?? '', rest, tree };
}

/** A draft without that part. */
export function withoutHidden(draft: Draft): Draft {
  return withHidden(draft, {});
}

/** That part in words, one for each thing. */
export function hiddenOf(draft: Draft): string[] {
  const { append_system_prompt, add_dirs = [], hooks = {}, agents = {}, ...others } = draft.rest;
  const { base, setup, ...more } = draft.isWorktree ? draft.tree : {};
  const words = [
    draft.name && `Its name: ${draft.name}`,
    add_dirs.length > 0 && `More folders: ${add_dirs.join(', ')}`,
    draft.isWorktree && draft.slug && `Its branch: ${draft.slug}`,
    base && `The worktree begins from ${base}`,
    setup && `Runs in the worktree first: ${setup}`,
    Object.keys(agents).length > 0 && `Sub-agents: ${Object.keys(agents).join(', ')}`,
    ...Object.entries(hooks).map(([event, groups]) => `Runs at ${event}: ${commandsOf(groups).join(', ')}`),
    append_system_prompt && `Added to the system prompt: ${append_system_prompt}`,
    ...Object.entries({ ...others, ...more }).map(([name, value]) => value != null && `${name}: ${JSON.stringify(value)}`),
  ];
  return words.filter((one): one is string => typeof one === 'string' && one !== '');
}

/** The commands that hooks of one event run. */
function commandsOf(groups: unknown): string[] {
  const list = Array.isArray(groups) ? (groups as { hooks?: { command?: string }[] }[]) : [];
  return list.flatMap((group) => group.hooks ?? []).map((hook) => hook.command ?? '');
}

/** What is kept of a draft as a template. `before` is what is kept by that name: a draft of no template leaves it what it cannot show. */
export function toTemplate(draft: Draft, before: Template | null = null): Template {
  const whole = draft.from === '' && before !== null ? withHidden(draft, before) : draft;
  const { mode, model, prompt, cwd, ...rest } = bodyOf(whole, 0);
  const template: Template = { ...whole.rest, cwd: cwd || null, prompt: prompt || null };
  // An end that was counted from one day is over on the next.
  if (mode && mode !== 'hands-off' && mode !== 'auto') template.mode = { mode };
  if (model) template.model = model;
  if (rest.budget_usd) template.budget_usd = rest.budget_usd;
  if (rest.worktree) template.worktree = rest.worktree;
  if (rest.name) template.name = rest.name;
  if (rest.effort) template.effort = rest.effort;
  if (rest.max_thinking_tokens != null) template.max_thinking_tokens = rest.max_thinking_tokens;
  if (rest.max_turns != null) template.max_turns = rest.max_turns;
  return template;
}
