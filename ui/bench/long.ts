// What the page costs on sessions of 100,000 events: until the newest entries are seen, while one is scrolled through, while an agent
// floods it. Run by `cargo xtask bench ui`. Rules: sides take turns within a round, the empty page of the same server among them; every
// figure goes out raw, one line of JSON a measurement; a round of the conversation that was never drawn fails the run.
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { BrowserContext, Page } from 'playwright-core';
import type { Entry } from '../src/api/types';
import { Stage, Window, signedIn } from '../e2e/stage';
import { FLOOD, PACE, WORDS, scenario } from './script';
import { asked, firstPaint, memory, painted, scroll, settled, tasks, watchAll, workOf } from './watch';

type Figures = Record<string, number>;

const isQuick = process.env['COUNTERSIGN_BENCH_QUICK'] === '1';
/** Of about 140 events each. */
const ROUNDS = isQuick ? 150 : 750;
const OPENINGS = isQuick ? 2 : 9;
const TIMES = isQuick ? 1 : 3;
/** Records of the longest session. */
const MOST = isQuick ? 60_000 : 1_000_000;
/** The end of a turn, which is the newest entry of a session at rest. */
const END = 'article:has(.turn)';

const folder = mkdtempSync(join(tmpdir(), 'countersign-bench-'));
const file = join(folder, 'long.scenario');
const window = new Window();
let stage: Stage;
/** The long conversation. */
let talk = '';
let cookies: Awaited<ReturnType<BrowserContext['cookies']>> = [];

function tell(part: string, name: string, figures: Figures): void {
  const line = JSON.stringify({ part, case: name, ...figures });
  const out = process.env['COUNTERSIGN_BENCH'];
  if (out) appendFileSync(out, `${line}\n`);
  process.stderr.write(`${line}\n`);
}

/** A browser that is signed in and has kept nothing. */
async function fresh(): Promise<BrowserContext> {
  const context = await window.context();
  await context.addCookies(cookies);
  await watchAll(context, END);
  return context;
}

/** A session that has heard this, and is at rest. Nobody has looked at its transcript. */
async function session(prompt: string, more: Record<string, unknown> = {}): Promise<string> {
  const id = await stage.begin(prompt, more);
  const isIdle = async () => (await stage.api<{ state: string }>('GET', `/sessions/${id}`)).state === 'idle';
  await stage.until('the turn is over', isIdle, 600_000);
  return id;
}

/** Records of a session whose newest entry is the end of a turn. */
async function records(id: string): Promise<number> {
  const { items, cursor } = await stage.api<{ items: Entry[]; cursor: string }>('GET', `/sessions/${id}/transcript?most=1`);
  expect(items.at(-1)?.body.kind).toBe('result');
  return Number(cursor.split('-')[1]);
}

const address = (id: string) => `${stage.url}/s/${id}`;
const now = (page: Page) => page.evaluate(() => performance.now());

beforeAll(async () => {
  writeFileSync(file, scenario(ROUNDS));
  await window.open();
  stage = await new Stage({ scenario: file }).start();
  const page = await (await fetch(stage.url)).text();
  if (!page.includes('id="app"')) throw new Error('the program has no page: build it where npm is, or name a folder in COUNTERSIGN_UI');
  await stage.api('POST', '/rules', { effect: 'allow', rule: 'Bash(npm test:*)', scope: 'always' });
  const context = await window.context();
  await signedIn(stage, context);
  cookies = await context.cookies();
  await context.close();
  const begun = Date.now();
  talk = await session('work', { mode: 'edits', name: 'The long one' });
  const seconds = (Date.now() - begun) / 1000;
  const asked = performance.now();
  const all = await records(talk);
  tell('session', 'work', { seconds, records: all, rounds: ROUNDS, folded_ms: performance.now() - asked });
});

afterAll(async () => {
  await window.close();
  await stage?.end();
  rmSync(folder, { recursive: true, force: true });
});

it('opens', async () => {
  for (let round = 0; round < OPENINGS; round += 1) {
    const context = await fresh();
    tell('open', 'an empty page', await openBare(context, `${stage.url}/healthz`));
    tell('open', 'the plain page', await openBare(context, `${stage.url}/plain/sessions/${talk}`));
    tell('open', 'nothing kept', await open(context, talk));
    // The service worker has it by the second time.
    await open(context, talk);
    tell('open', 'kept', await open(context, talk));
    tell('open', 'from the list', await openFromList(context));
    if (round < TIMES) tell('open', 'for the first time', await open(context, await session('flood')));
    await context.close();
  }
});

it('opens the longest one as quickly', async () => {
  const id = await session('work', { mode: 'edits', name: 'The longest one' });
  const isIdle = async () => (await stage.api<{ state: string; queued: number }>('GET', `/sessions/${id}`)).state === 'idle';
  while ((await records(id)) < MOST) {
    const before = await records(id);
    await stage.api('POST', `/sessions/${id}/messages`, { text: 'work' });
    await stage.until('there is more', async () => (await records(id).catch(() => before)) > before + 1_000 && (await isIdle()), 600_000);
  }
  for (let round = 0; round < TIMES; round += 1) {
    // A server that has not shown it to anybody yet: what was folded before is read from the disk.
    await stage.kill();
    await stage.start();
    const page_ms = await pageOf(id);
    tell('page', 'of a million records', { page_ms, again_ms: await pageOf(id) });
  }
  for (let round = 0; round < TIMES; round += 1) {
    const context = await fresh();
    tell('open', 'of a million records', await open(context, id));
    await context.close();
  }
});

/** Milliseconds until the newest page of a transcript is answered. */
async function pageOf(id: string): Promise<number> {
  const begun = performance.now();
  await stage.api('GET', `/sessions/${id}/transcript`);
  return performance.now() - begun;
}

async function openBare(context: BrowserContext, url: string): Promise<Figures> {
  const page = await context.newPage();
  await page.goto(url);
  const view_ms = await firstPaint(page);
  const figures = { view_ms, ...(await tasks(page)) };
  await page.close();
  return figures;
}

async function open(context: BrowserContext, id: string): Promise<Figures> {
  const page = await context.newPage();
  const work = await workOf(page);
  await page.goto(address(id));
  const view_ms = await painted(page);
  const first_ms = await firstPaint(page);
  const wanted = await asked(page, view_ms);
  await settled(page);
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => null));
  const figures = { view_ms, first_ms, ...wanted, ...(await tasks(page)), ...(await work()) };
  await page.close();
  return figures;
}

async function openFromList(context: BrowserContext): Promise<Figures> {
  const page = await context.newPage();
  await page.goto(`${stage.url}/inbox`);
  const link = page.locator('.list a', { hasText: 'The long one' }).first();
  await link.waitFor();
  await settled(page);
  const work = await workOf(page);
  const begun = await link.evaluate((element) => {
    const at = performance.now();
    (element as HTMLElement).click();
    return at;
  });
  const view_ms = (await painted(page)) - begun;
  await settled(page);
  const figures = { view_ms, ...(await tasks(page, begun)), ...(await work()) };
  await page.close();
  return figures;
}

it('is scrolled through', async () => {
  const wanted = Array.from({ length: ROUNDS }, (_, at) => at + 1);
  for (let round = 0; round < TIMES; round += 1) {
    const context = await fresh();
    const page = await context.newPage();
    await page.goto(`${stage.url}/healthz`);
    tell('memory', 'an empty page', await memory(page));
    await page.goto(address(talk));
    await painted(page);
    await settled(page);
    tell('memory', 'opened', await memory(page));
    for (const [way, name] of [['up', 'to the beginning'], ['down', 'back to the end']] as const) {
      const work = await workOf(page);
      const begun = await now(page);
      const { rounds, ...figures } = await scroll(page, way, END);
      const seen = new Set(rounds);
      expect(wanted.filter((one) => !seen.has(one)), `rounds that were never drawn on the way ${name}`).toEqual([]);
      await settled(page);
      tell('scroll', name, { ...figures, ...(await tasks(page, begun)), ...(await work()) });
      tell('memory', name, await memory(page));
    }
    await context.close();
  }
});

it('is followed while an agent writes', async () => {
  const cases = [
    ['work', 'a session of work, as fast as it goes', null],
    ['flood', `${FLOOD / 1000},000 events at once`, FLOOD],
    ['slowly', `${WORDS} words, one each ${PACE} ms`, WORDS],
  ] as const;
  for (let round = 0; round < TIMES; round += 1) {
    for (const [message, name, events] of cases) {
      const id = await session('hello', { mode: 'edits' });
      const before = await records(id);
      const context = await fresh();
      const page = await context.newPage();
      await page.goto(address(id));
      await painted(page);
      await settled(page);
      const first = await page.locator(END).getAttribute('data-key');
      const work = await workOf(page);
      const begun = await now(page);
      await stage.api('POST', `/sessions/${id}/messages`, { text: message });
      const end = await page.waitForFunction(
        ([ends, old]) => [...document.querySelectorAll<HTMLElement>(ends)].some((row) => row.dataset['key'] !== old) && performance.now(),
        [END, first] as const,
        { timeout: 300_000 },
      );
      const seconds = (Number(await end.jsonValue()) - begun) / 1000;
      await settled(page);
      const worked = await work();
      const told = { seconds, events: events ?? (await records(id)) - before, ...(await tasks(page, begun)), ...worked };
      tell('stream', name, { ...told, ...(await memory(page)) });
      await context.close();
    }
  }
});
