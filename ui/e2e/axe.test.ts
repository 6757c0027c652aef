// No page has a serious fault in accessibility, as axe finds them, in either scheme and on a phone.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { PHONE, Stage, Window, signedIn } from './stage';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const window = new Window();
let stage: Stage;
let session = '';
let approval = '';

beforeAll(async () => {
  await window.open();
  stage = await new Stage({ scenario: 'approvals' }).start();
  session = await stage.begin('Ask me');
  approval = await stage.until('a question', async () => {
    const { items } = await stage.api<{ items: { id: string }[] }>('GET', '/approvals?state=open');
    return items[0]?.id;
  });
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

const PAGES = ['/inbox', '/s/:session', '/s/:session/timeline', '/new', '/insights', '/rules', '/audit', '/search?q=notes', '/settings', '/sessions'];

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
    await page.goto(stage.url + path.replace(':session', session));
    await page.getByRole('heading').first().waitFor();
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
