// What the tests of answers share: an agent that follows plain requests and a few written turns, and a look at approvals.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import type { Approval } from '../src/api/types';
import { Stage, signedIn, type Window } from './stage';

const SCENARIO = `
turn always when "dangerous"
  tool Bash {"command":"rm -rf /","description":"Remove everything"} gives "(not run)"
  stream "Done."
turn always when "currencies"
  tool AskUserQuestion <<END
  {"questions": [
    {"question": "Which currency wins?", "header": "Currency", "multiSelect": false, "options": [
      {"label": "Settlement (Recommended)", "description": "What was paid.", "preview": "update payouts"},
      {"label": "Presentment", "description": "What was seen."}]},
    {"question": "Which may I read?", "header": "Env", "multiSelect": true, "options": [
      {"label": "Local", "description": ""}, {"label": "Staging", "description": ""}]}
  ]}
  END
  stream "I was told: \${result}"
turn always when "halves"
  together
    agent general-purpose "First." {"description":"First half"}
      tool Write {"file_path":"\${cwd}/first.txt","content":"first half\\n"}
    end
    agent general-purpose "Second." {"description":"Second half"}
      tool Write {"file_path":"\${cwd}/second.txt","content":"second half\\n"}
    end
  end
  stream "Both are back."
turn always when "signatures"
  if mode plan
    say "Planning already."
  else
    tool EnterPlanMode {}
  end
  tool Write {"file_path":"\${plan_file}","content":"# Signatures\\n\\nWhy it is done.\\n\\n## Steps\\n\\n1. Write \`sign.ts\`\\n2. Cache for 10 minutes\\n"}
  tool ExitPlanMode {"allowedPrompts":[{"tool":"Bash","prompt":"run the tests"}]}
  if refused
    tool Write {"file_path":"\${plan_file}","content":"# Signatures\\n\\nWhy it is done.\\n\\n## Steps\\n\\n1. Write \`sign.ts\`\\n2. Cache for 60 seconds\\n"}
    tool ExitPlanMode {}
  end
  if refused
    stream "It was refused: \${result}"
  else
    stream "Agreed."
    tool Write {"file_path":"\${cwd}/sign.ts","content":"export {};\\n"}
    stream "Written."
  end
turn always
  follow
`;

/** A stage with a folder to work in. */
async function answering(scenario: string): Promise<{ stage: Stage; cwd: string }> {
  const file = join(tmpdir(), `countersign-answers-${process.pid}.scenario`);
  writeFileSync(file, scenario);
  const stage = await new Stage({ scenario: file }).start();
  const cwd = join(stage.folder, 'work');
  mkdirSync(cwd, { recursive: true });
  return { stage, cwd };
}

/** For a file of tests: one stage, and for each test a page of its own that is signed in and must break nothing. */
export function onAnswering(
  window: Window,
  give: (on: { stage: Stage; cwd: string; page: Page }) => void,
  scenario = SCENARIO,
): void {
  let on: { stage: Stage; cwd: string };
  let context: BrowserContext;
  let faults: string[] = [];
  beforeAll(async () => {
    on = await answering(scenario);
    await window.open();
  }, 60_000);
  afterAll(async () => {
    await window.close();
    await on.stage.end();
  }, 60_000);
  beforeEach(async () => {
    context = await window.context();
    const opened = await signedIn(on.stage, context);
    faults = opened.faults;
    give({ ...on, page: opened.page });
  });
  afterEach(async () => {
    await context.close();
    expect(faults).toEqual([]);
  });
}

/** The open question of a session, once there is one of this kind. */
export function openOf(stage: Stage, session: string, kind = 'tool'): Promise<Approval> {
  return stage.until(`a question of kind ${kind}`, async () => {
    const { items } = await stage.api<{ items: Approval[] }>('GET', `/approvals?state=open&session=${session}`);
    return items.find((one) => one.kind === kind);
  });
}

/** An approval, once its life is one of these. */
export function become(stage: Stage, id: string, ...lives: string[]): Promise<Approval> {
  return stage.until(`${id} is ${lives.join(' or ')}`, async () => {
    const one = await stage.api<Approval>('GET', `/approvals/${id}`);
    return lives.includes(one.life) ? one : null;
  });
}

/** Waits until a file is there. */
export async function written(stage: Stage, path: string): Promise<void> {
  await stage.until(`${path} is there`, () => Promise.resolve(existsSync(path)));
}

/** Opens a question by its address. The page moves the focus to its card, as after a notice. */
export async function visit(page: Page, stage: Stage, approval: string): Promise<void> {
  await page.goto(`${stage.url}/inbox/${approval}`);
  await page.locator(`[data-approval="${approval}"]:focus-within, [data-approval="${approval}"]:focus`).waitFor();
}
