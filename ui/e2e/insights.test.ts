// Figures, timeline and the record of decisions, on a session that really ran: pictures have words, filters have addresses.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { BrowserContext, Page } from 'playwright-core';
import type { Approval } from '../src/api/types';
import { PHONE, Stage, Window, signedIn } from './stage';

/** One call that fails, one that works; both are asked about. */
const SCENARIO = `
turn always
  usage input=300 output=200 cache_read=700 cache_write=0 cost=0.25
  say "I look."
  tool Bash {"command":"make lint","description":"Look"} fails "Exit code 2"
  tool Bash {"command":"make test","description":"Test"} gives "ok"
  say "Done."
`;

const window = new Window();
let stage: Stage;
let session = '';
const decided: Approval[] = [];
let context: BrowserContext;
let page: Page;
let faults: string[];

async function answer(): Promise<void> {
  const open = await stage.until('a question', async () => {
    const { items } = await stage.api<{ items: Approval[] }>('GET', `/approvals?session=${session}&state=open`);
    return items[0];
  });
  await stage.api('POST', `/approvals/${open.id}/decision`, { decision: 'allow', saw: open.digest });
  decided.push(open);
}

beforeAll(async () => {
  await window.open();
  stage = new Stage();
  const file = join(stage.folder, 'both.scenario');
  writeFileSync(file, SCENARIO);
  stage.how.scenario = file;
  await stage.start();
  session = await stage.begin('Make it', { cwd: stage.folder, name: 'Make and test' });
  await answer();
  await answer();
  await stage.until('the end of the turn', async () => (await stage.api<{ state: string }>('GET', `/sessions/${session}`)).state === 'idle');
}, 60_000);
afterAll(async () => {
  await window.close();
  await stage.end();
}, 60_000);
beforeEach(async () => {
  context = await window.context();
  ({ page, faults } = await signedIn(stage, context));
});
afterEach(async () => {
  await context.close();
  expect(faults).toEqual([]);
});

/** The page itself never scrolls sideways. */
const isWithin = (one: Page) => one.evaluate(() => document.documentElement.scrollWidth <= innerWidth);

describe('insights', () => {
  it('show what was spent, waited for and decided, each picture with a sentence and a table', async () => {
    await page.goto(`${stage.url}/insights`);
    await page.getByText('$0.25').first().waitFor();
    await page.getByRole('img', { name: /^Timeline of the session: 1 turn, 2 tool calls, 2 waits for people/ }).waitFor();
    await page.getByRole('img', { name: /^Cost per day by model/ }).waitFor();
    await page.getByRole('img', { name: /^How fast 2 questions were answered/ }).waitFor();
    await page.getByRole('img', { name: /^Of 2 tool calls: People 2/ }).waitFor();
    const cost = page.getByRole('region', { name: 'Cost per day', exact: true }).first();
    await cost.getByRole('button', { name: /^Show as table/ }).click();
    await cost.getByRole('columnheader', { name: 'All' }).waitFor();
    expect(await cost.getByRole('row').last().innerText()).toContain('$0.25');
  });

  it('keep the period in the address', async () => {
    await page.goto(`${stage.url}/insights`);
    await page.getByText('7 days').click();
    await page.waitForURL('**/insights?days=7');
    await page.reload();
    await page.getByText('time lost in 7 days').waitFor();
  });

  it('lead from a table of the timeline to the entry', async () => {
    await page.goto(`${stage.url}/s/${session}/timeline`);
    await page.getByRole('button', { name: /^Show as table/ }).click();
    await page.getByRole('row', { name: /Bash make lint .* failed/ }).getByRole('link').click();
    await page.waitForURL(`**/s/${session}/e/**`);
    await page.goBack();
    await page.locator('svg.chart rect.m-fail').click();
    await page.waitForURL(`**/s/${session}/e/**`);
  });

  it('fit a phone', async () => {
    const phone = await window.context(PHONE);
    const { page: small } = await signedIn(stage, phone);
    for (const path of ['/insights', `/s/${session}/timeline`, '/audit']) {
      await small.goto(stage.url + path);
      await small.getByRole('heading', { level: 1 }).waitFor();
      await small.locator('svg.chart, table').first().waitFor();
      expect(await isWithin(small), path).toBe(true);
    }
    await phone.close();
  });
});

describe('the record', () => {
  it('finds decisions by words, keeps the filter in the address, and exports the same', async () => {
    await page.goto(`${stage.url}/audit`);
    await page.getByRole('button', { name: 'Bash make lint' }).waitFor();
    await page.getByRole('searchbox', { name: 'Search' }).fill('MAKE TEST');
    await page.waitForURL('**/audit?text=MAKE+TEST');
    await page.getByRole('button', { name: 'Bash make lint' }).waitFor({ state: 'detached' });
    const href = await page.getByRole('link', { name: 'JSON lines' }).getAttribute('href');
    const file = await page.evaluate(async (path) => (await fetch(path ?? '')).text(), href);
    expect(file.trim().split('\n')).toHaveLength(1);
    expect(file).toContain('make test');
    await page.getByLabel('Outcome').selectOption('failed');
    await page.getByText('No decision here').waitFor();
  });

  it('opens a decision to its exact input, and its address shows it again', async () => {
    const [first] = decided;
    await page.goto(`${stage.url}/audit`);
    await page.getByRole('button', { name: 'Bash make lint' }).click();
    await page.getByText('"command": "make lint"').waitFor();
    await page.waitForURL(`**/audit/${first?.id}`);
    // Also where the filter leaves it out.
    await page.goto(`${stage.url}/audit/${first?.id}?text=nowhere`);
    await page.getByText('"command": "make lint"').waitFor();
    await page.goto(`${stage.url}/audit/01ARZ3NDEKTSV4RRFFQ69G5FAV`);
    await page.getByText('No such decision.').waitFor();
  });
});
