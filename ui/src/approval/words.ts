// The sentences of a question: the same ones in the card, the inbox, the title and what is read aloud. Pure.
// Voice: plain, short, who wants what. What a machine wrote is quoted, never reworded.

import type { Approval } from '../api/types';
import { fields, sentInput, shown, text, thingOf } from './thing';

/** What is asked, whatever its kind: the head of a card. */
export function sentence(asked: Approval): string {
  switch (asked.kind) {
    case 'plan':
      return asked.plan?.text == null ? 'The agent wants to leave plan mode' : 'A plan is ready';
    case 'questions':
      return countOf(questionTexts(asked.input).length);
    case 'elicitation':
      return text(asked.input, 'mode') === 'url'
        ? `${asked.tool} wants you to open a page`
        : `${asked.tool} asks for something`;
    case 'dialog':
      return 'The agent asks how to continue';
    case 'tool':
      return toolSentence(asked);
  }
}

function toolSentence(asked: Approval): string {
  const does = asked.harm?.kind === 'destructive' ? asked.harm.says : null;
  if (does !== null) return `${actor(asked.tool)} wants to ${destruction(does)}`;
  if (asked.tool === 'EnterPlanMode') return 'The agent wants to switch to plan mode';
  const file = asked.tool === 'Write' ? text(asked.input, 'file_path').split('/').at(-1) : '';
  return file ? `The agent wants to write \`${file}\`` : `${actor(asked.tool)} wants to ${verb(asked.tool)}`;
}

const DESTROYS = '(delete|remove|discard|throw|rewrite|kill|overwrite|change|stop|truncate|drop|run)s';

/** What it would destroy, behind "wants to": `deletes untracked files` → `delete untracked files`. */
export function destruction(says: string): string {
  const known = new RegExp(`^${DESTROYS} (.*)$`).exec((says.split(':')[0] ?? '').trim());
  if (!known?.[1]) return 'do something that cannot be undone';
  const rest = (known[2] ?? '').replace(/^or empties /, 'or empty ').replace(new RegExp(` and ${DESTROYS} `, 'g'), ' and $1 ');
  return `${known[1]} ${rest}`;
}

function countOf(questions: number): string {
  const words = ['No question', 'One question', 'Two questions', 'Three questions', 'Four questions'];
  return `${words[questions] ?? `${questions} questions`} before the agent continues`;
}

/** Who acts: the tool, or for one of an MCP server the server. */
export function actor(tool: string): string {
  return mcp(tool)?.server ?? tool;
}

function mcp(tool: string): { server: string; name: string } | null {
  const parts = tool.split('__');
  const [mark, server] = parts;
  if (mark !== 'mcp' || server === undefined || parts.length < 3) return null;
  return { server, name: parts.slice(2).join('__') };
}

const VERBS: Record<string, string> = {
  Bash: 'run a command',
  Edit: 'change a file',
  MultiEdit: 'change a file',
  NotebookEdit: 'change a notebook',
  Write: 'write a file',
  Read: 'read a file',
  Grep: 'search in files',
  Glob: 'look for files',
  WebFetch: 'open a page',
  WebSearch: 'search the web',
  Task: 'start a sub-agent',
  Agent: 'start a sub-agent',
  Skill: 'use a skill',
  EnterPlanMode: 'switch to plan mode',
};

function verb(tool: string): string {
  const server = mcp(tool);
  if (server !== null) return `run ${server.name}`;
  return VERBS[tool] ?? 'run';
}

/** The thing in one line: for rows, the title and notices. Of a call that was edited, what was sent. */
export function oneLine(asked: Approval, cwd = ''): string {
  const { input } = asked;
  switch (asked.kind) {
    case 'plan':
      return planTitle(asked.plan?.text ?? null);
    case 'questions':
      return questionTexts(input)[0] ?? '';
    case 'elicitation':
      return text(input, 'message');
    case 'dialog':
      return dialogText(asked.tool);
    case 'tool':
      break;
  }
  const thing = thingOf(asked.tool, sentInput(asked));
  switch (thing.kind) {
    case 'command':
    case 'words':
      return thing.text.split('\n').join(' ⏎ ');
    case 'diff':
    case 'file':
    case 'path':
      return shown(thing.path, cwd);
    case 'search':
      return thing.place === '' ? thing.pattern : `${thing.pattern} in ${shown(thing.place, cwd)}`;
    case 'url':
      return thing.url;
    case 'json':
      return Object.keys(fields(thing.value)).length === 0 ? '' : (JSON.stringify(thing.value) ?? '');
  }
}

/** Whether its line is a path and nothing else: such a one is cut in its middle. */
export function isPath(asked: Approval): boolean {
  return asked.kind === 'tool' && ['diff', 'file', 'path'].includes(thingOf(asked.tool, sentInput(asked)).kind);
}

/** The word at the head of a row of the inbox. */
export function label(asked: Approval): string {
  switch (asked.kind) {
    case 'plan':
      return 'Plan';
    case 'questions':
      return questionTexts(asked.input).length > 1 ? 'Questions' : 'Question';
    case 'elicitation':
      return asked.tool;
    case 'dialog':
      return 'Dialog';
    case 'tool': {
      const server = mcp(asked.tool);
      return server === null ? asked.tool : `${server.server} ${server.name}`;
    }
  }
}

/** The first heading of a plan, or its first line. */
export function planTitle(plan: string | null): string {
  if (plan === null) return 'No plan was written';
  const lines = plan.split('\n').map((line) => line.trim());
  const head = lines.find((line) => /^#{1,6} /.test(line)) ?? lines.find((line) => line !== '');
  return (head ?? '').replace(/^#{1,6} /, '');
}

export function questionTexts(input: unknown): string[] {
  const list = fields(input)['questions'];
  return Array.isArray(list) ? list.map((one) => text(one, 'question')) : [];
}

function dialogText(kind: string): string {
  return kind === 'refusal_fallback_prompt' ? 'The model declined. Try again with another one?' : kind;
}

/** Who asks, outermost first, as one reads it: `main › flake-hunter`. */
export function pathOf(asked: Pick<Approval, 'path'>): string[] {
  const name = (asker: Approval['path'][number]) => asker.description ?? asker.kind ?? 'sub-agent';
  return ['main', ...asked.path.map(name)];
}

/** What it would destroy, as the host reads it from the call; none where it sees no such harm. */
export function harmOf(asked: Pick<Approval, 'harm'>): string | null {
  return asked.harm?.kind === 'destructive' ? `${asked.harm.says.charAt(0).toUpperCase()}${asked.harm.says.slice(1)}.` : null;
}

/** Why nobody can tell what it would do; none where it can be read, or where the reason says so already. */
export function unreadOf(asked: Pick<Approval, 'harm' | 'reason'>): string | null {
  if (asked.harm?.kind !== 'unread' || asked.reason.includes(asked.harm.says)) return null;
  return `No rule possible: ${asked.harm.says}.`;
}

/** What of the thing does the harm: the commands that do it, whole; where the host tells none, what its sentence names. */
export function marksOf(asked: Pick<Approval, 'harm'>): string[] {
  const harm = harmOf(asked);
  if (harm === null) return [];
  const parts = asked.harm?.parts ?? [];
  return parts.length > 0 ? parts : quoted(harm);
}

/** What a sentence names, to be marked in the thing: between backticks or quotes, or at its end behind a colon. */
export function quoted(named: string): string[] {
  const inside = [...named.matchAll(/`([^`]+)`|'([^']+)'/g)].map((found) => found[1] ?? found[2] ?? '');
  const last = /: (\S+?)\.?$/.exec(named)?.[1];
  return last === undefined ? inside : [...inside, last];
}

/** What is read aloud when it arrives. */
export function announced(asked: Approval, cwd = ''): string {
  const short = oneLine(asked, cwd);
  const cut = short.length > 120 ? `${short.slice(0, 119)}…` : short;
  return `Question from ${asked.session_name}: ${label(asked)}, ${cut}`;
}
