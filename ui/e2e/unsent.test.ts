// What was written and has not gone out is not lost: to another page, a reload, a server that is away, or a queue that moves on.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Entry } from '../src/api/types';
import { Stage, Window, signedIn } from './stage';

const scenario = join(dirname(fileURLToPath(import.meta.url)), 'conversation.scenario');
const window = new Window();
let stage: Stage;
let isAway = false;

beforeAll(async () => {
  await window.open();
  stage = await new Stage({ scenario }).start();
});
afterAll(async () => {
  await window.close();
  await stage.end();
});
// One that fails in the dark leaves the others their server.
afterEach(() => back());

const state = async (id: string) => (await stage.api<{ state: string }>('GET', `/sessions/${id}`)).state;
const become = (id: string, ...states: string[]) => stage.until(`it is ${states.join(' or ')}`, async () => states.includes(await state(id)));
const queue = (id: string) => stage.api<{ id: string; text: string }[]>('GET', `/sessions/${id}/queue`);
const writing = (page: Page) => page.getByLabel('Message', { exact: true });
const said = async (id: string) => {
  const { items } = await stage.api<{ items: Entry[] }>('GET', `/sessions/${id}/transcript`);
  return items.flatMap(({ body }) => (body.kind === 'prompt' ? [body.is.text.text] : []));
};

async function opened(id: string, link?: string) {
  const context = await window.context();
  const { page, faults } = await signedIn(stage, context, link);
  await page.goto(`${stage.url}/s/${id}`);
  await page.locator('article').first().waitFor();
  const done = async () => {
    await context.close();
    expect(faults).toEqual([]);
  };
  return { page, done };
}

/** Within the page, as a person does: what is in memory stays. */
const toInbox = async (page: Page) => {
  await page.locator('a[href="/inbox"]').first().click();
  await page.waitForURL('**/inbox');
  await writing(page).waitFor({ state: 'detached' });
};

async function back(): Promise<void> {
  if (isAway) await stage.start();
  isAway = false;
}

/** Writes a message while the server is away. */
async function inTheDark(page: Page, words: string): Promise<void> {
  await stage.kill();
  isAway = true;
  await page.getByRole('button', { name: /^Send when back/ }).waitFor({ timeout: 30_000 });
  await writing(page).fill(words);
  await page.keyboard.press('Control+Enter');
  await page.locator('.later', { hasText: words }).waitFor();
}

describe('a message for when the server is back', () => {
  it('is still there when one comes back to the session, and goes out once from wherever one is', async () => {
    const id = await stage.begin('hello');
    await become(id, 'idle');
    const { page, done } = await opened(id);
    await page.getByPlaceholder(/^(Reply|A message wakes)/).waitFor();
    await inTheDark(page, 'from the dark');
    await toInbox(page);
    await page.goBack();
    await page.locator('.later', { hasText: 'from the dark' }).waitFor();
    await toInbox(page);
    await back();
    await stage.until('it was said', async () => (await said(id)).includes('from the dark'), 40_000);
    await page.goto(`${stage.url}/s/${id}`);
    await page.locator('article', { hasText: 'I heard: from the dark' }).waitFor();
    expect(await page.locator('.later').count()).toBe(0);
    expect(await said(id)).toEqual(['hello', 'from the dark']);
    await done();
  }, 120_000);

  it('outlives the page that it was written on', async () => {
    const id = await stage.begin('hello');
    await become(id, 'idle');
    const { page, done } = await opened(id);
    await page.getByPlaceholder(/^(Reply|A message wakes)/).waitFor();
    await inTheDark(page, 'and then I closed it');
    const context = page.context();
    await page.close();
    await back();
    const next = await context.newPage();
    await next.goto(`${stage.url}/s/${id}`);
    await next.locator('article', { hasText: 'I heard: and then I closed it' }).waitFor({ timeout: 40_000 });
    expect(await said(id)).toEqual(['hello', 'and then I closed it']);
    await done();
  }, 120_000);

  it('resumes an agent that has ended', async () => {
    const id = await stage.begin('hello');
    await become(id, 'idle');
    await stage.api('POST', `/sessions/${id}/stop`);
    await become(id, 'stopped');
    const { page, done } = await opened(id);
    await page.getByRole('button', { name: /^Resume and send/ }).waitFor();
    await inTheDark(page, 'wake up');
    await back();
    await page.locator('article', { hasText: 'I heard: wake up' }).waitFor({ timeout: 40_000 });
    expect(await queue(id)).toEqual([]);
    await done();
  }, 120_000);
});

describe('a queued message that is being edited', () => {
  async function editing() {
    const id = await stage.begin('slowly, please');
    await become(id, 'running');
    await stage.api('POST', `/sessions/${id}/messages`, { text: 'first thought' });
    const on = await opened(id);
    await on.page.locator('.queue').getByRole('button', { name: 'Edit' }).click();
    await on.page.getByLabel('The message').fill('second thought');
    return { id, ...on };
  }

  it('leaves the new words in the composer when it goes out', async () => {
    const { id, page, done } = await editing();
    await writing(page).fill('a draft');
    const [item] = await queue(id);
    await stage.api('POST', `/sessions/${id}/queue/${item?.id}/send-now`);
    await page.getByRole('alert').filter({ hasText: 'It was sent before your change' }).waitFor();
    expect(await writing(page).inputValue()).toBe('a draft\nsecond thought');
    await done();
  });

  it('leaves them there as well when the change comes too late, or one leaves', async () => {
    const { id, page, done } = await editing();
    await page.route('**/queue/*', (route) => route.fulfill({ status: 404, json: { code: 'not_found', detail: 'it has gone out', status: 404, title: 'No', type: 'x' } }));
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('alert').filter({ hasText: 'It has gone out.' }).waitFor();
    expect(await writing(page).inputValue()).toBe('second thought');
    await page.locator('.queue').getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('The message').fill('third thought');
    await toInbox(page);
    await page.goto(`${stage.url}/s/${id}`);
    await stage.until('both are there', async () => (await writing(page).inputValue()) === 'second thought\nthird thought');
    await done();
  });

  it('keeps nothing of what was cancelled', async () => {
    const { page, done } = await editing();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.locator('.queue li', { hasText: 'first thought' }).waitFor();
    expect(await writing(page).inputValue()).toBe('');
    await done();
  });
});

describe('pictures', () => {
  const buffer = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');
  const shown = (page: Page) => page.locator('.pics img').evaluateAll((all) => all.map((one) => one.getAttribute('alt')).join(' '));
  const shows = (page: Page, names: string) => stage.until(`${names || 'nothing'} is attached`, async () => (await shown(page)) === names);

  async function choosing(...names: string[]) {
    const id = await stage.begin('hello');
    await become(id, 'idle');
    const on = await opened(id);
    await on.page.getByPlaceholder(/^(Reply|A message wakes)/).waitFor();
    await on.page.locator('input[type=file]').setInputFiles(names.map((name) => ({ name, mimeType: 'image/png', buffer })));
    return on;
  }

  it('come along as many as were chosen', async () => {
    const { page, done } = await choosing('one.png', 'two.png', 'three.png');
    await shows(page, 'one.png two.png three.png');
    await page.getByRole('button', { name: 'Remove two.png' }).click();
    await writing(page).fill('what are these');
    await page.keyboard.press('Control+Enter');
    await page.locator('article', { hasText: '2 pictures' }).waitFor();
    await done();
  });

  it('are there when one comes back, until they are sent', async () => {
    const { page, done } = await choosing('one.png');
    await shows(page, 'one.png');
    await toInbox(page);
    await page.goBack();
    await shows(page, 'one.png');
    await writing(page).fill('what is this');
    await page.keyboard.press('Control+Enter');
    await page.locator('article', { hasText: '1 picture' }).waitFor();
    await toInbox(page);
    await page.goBack();
    await writing(page).waitFor();
    expect(await shown(page)).toBe('');
    await done();
  });
});

describe('who may only watch', () => {
  it('finds the queue and the pictures off, with the reason', async () => {
    const id = await stage.begin('slowly, please');
    await become(id, 'running');
    for (const text of ['one', 'two']) await stage.api('POST', `/sessions/${id}/messages`, { text });
    for (const scope of ['read', 'answer']) {
      const made = await stage.api<{ path: string }>('POST', '/login-links', { scope });
      const { page, done } = await opened(id, stage.url + made.path);
      const item = page.locator('.queue li').first();
      await item.waitFor();
      await page.getByPlaceholder(/^You can watch/).waitFor();
      for (const name of ['Move down', 'Send now', 'Edit', 'Remove']) {
        const button = item.getByRole('button', { name });
        expect(await button.getAttribute('aria-disabled'), name).toBe('true');
        expect(await button.getAttribute('title'), name).toContain('full scope');
      }
      expect(await item.getAttribute('draggable')).toBe('false');
      expect(await page.getByRole('button', { name: 'Attach pictures' }).getAttribute('aria-disabled')).toBe('true');
      await done();
    }
  });
});
