// No page has a serious fault in accessibility, as axe finds them, in either scheme and on a phone.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { PHONE, Stage, Window, signedIn } from './stage';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const scenario = join(dirname(fileURLToPath(import.meta.url)), 'shots.scenario');
const window = new Window();
let stage: Stage;
let approval = '';
const ids: Record<string, string> = {};

/** Begins a session, allows what it asks first, and gives its question of this kind. */
async function asks(prompt: string, kind: string): Promise<{ session: string; id: string }> {
  const session = await stage.begin(prompt);
  const id = await stage.until(`a question of kind ${kind}`, async () => {
    const { items } = await stage.api<{ items: { id: string; kind: string; digest: string }[] }>('GET', `/approvals?state=open&session=${session}`);
    const found = items.find((one) => one.kind === kind);
    if (found) return found.id;
    for (const one of items) await stage.api('POST', `/approvals/${one.id}/decision`, { saw: one.digest, decision: 'allow' });
    return null;
  });
  return { session, id };
}

beforeAll(async () => {
  await window.open();
  stage = await new Stage({ scenario }).start();
  const write = await asks('refunds are paid twice', 'tool');
  const harm = await asks('the driver needs a clean folder', 'tool');
  const plan = await asks('plan the signatures', 'plan');
  const question = await asks('ask me about currencies', 'questions');
  approval = write.id;
  Object.assign(ids, { session: write.session, harm: harm.id, planner: plan.session, plan: plan.id, question: question.id });
});
afterAll(async () => {
  await window.close();
  await stage.end();
});

interface Violation {
  id: string;
  impact: string | null;
  nodes: { target: unknown; failureSummary?: string }[];
}

/** Serious and critical ones, in a line each. */
async function violations(page: Page): Promise<string[]> {
  const found = await page.evaluate(async (text) => {
    // The policy of the page forbids scripts in it; what a test evaluates comes from outside.
    if (!('axe' in globalThis)) (0, eval)(text);
    const { axe } = globalThis as unknown as { axe: { run: (what: Document) => Promise<{ violations: Violation[] }> } };
    return (await axe.run(document)).violations;
  }, source);
  return found
    .filter((one) => one.impact === 'serious' || one.impact === 'critical')
    .flatMap((one) => one.nodes.map((node) => `${one.id}: ${String(node.target)} ${node.failureSummary ?? ''}`));
}

const PAGES = [
  '/inbox',
  '/inbox/:harm',
  '/inbox/:question',
  '/s/:session',
  '/s/:session/timeline',
  '/s/:planner/plan/:plan',
  '/new',
  '/insights',
  '/rules',
  '/audit',
  '/search?q=refunds',
  '/settings',
  '/put-away',
  '/sessions',
];
/** What shows that the page itself is there, where its first heading is there before it. */
const SIGNS: Record<string, string> = {
  '/inbox/:harm': '.ask.danger:focus',
  '/inbox/:question': '.ask:focus-within input[type=radio], .ask:focus input[type=radio]',
  '/s/:planner/plan/:plan': '.way',
};

it.each([
  ['on a desk, light', { colorScheme: 'light' as const }],
  ['on a desk, dark', { colorScheme: 'dark' as const }],
  ['on a phone, dark', { ...PHONE, colorScheme: 'dark' as const }],
])('no page has a serious fault %s', async (_, how) => {
  // axe is put into the page by the test, past its policy.
  const context = await window.context({ ...how, bypassCSP: true });
  const { page } = await signedIn(stage, context);
  const found: Record<string, string[]> = {};
  for (const path of PAGES) {
    await page.goto(stage.url + path.replace(/:(\w+)/g, (_, name: string) => ids[name] ?? ''));
    await page.getByRole('heading').first().waitFor();
    const sign = SIGNS[path];
    if (sign) await page.locator(sign).first().waitFor();
    const faults = await violations(page);
    if (faults.length > 0) found[path] = faults;
  }
  expect(found).toEqual({});
  await context.close();
}, 120_000);

it('a deep link to a card opens it', async () => {
  const context = await window.context();
  const { page } = await signedIn(stage, context);
  await page.goto(`${stage.url}/inbox/${approval}`);
  await page.getByRole('button', { name: /^Allow once/ }).first().waitFor();
  await context.close();
});
