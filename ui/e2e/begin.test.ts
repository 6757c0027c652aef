// The dialog that begins a session: what is typed stays as it was typed, and its keys act wherever the focus is.
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import type { Entry } from '../src/api/types';
import { onAnswering, written } from './answering';
import { Window, type Stage } from './stage';

let stage: Stage;
let cwd: string;
let page: Page;
const window = new Window();
onAnswering(window, (on) => ({ stage, cwd, page } = on));

it('puts the last folder into the field, but not while somebody is there', async () => {
  await stage.begin('hello', { cwd });
  let isHeld = true;
  let letGo = (): void => {};
  const held = new Promise<void>((done) => (letGo = done));
  await page.route('**/api/v1/folders/recent', async (route) => {
    if (isHeld) await held;
    await route.continue();
  });
  await page.goto(`${stage.url}/new`);
  const folder = page.getByLabel('Folder');
  await folder.focus();
  letGo();
  await page.getByText('1 recent').waitFor();
  await page.keyboard.type('/typed');
  expect(await folder.inputValue()).toBe('/typed');

  isHeld = false;
  await page.goto(`${stage.url}/new`);
  await page.getByText('1 recent').waitFor();
  expect(await folder.inputValue()).toBe(cwd);
});

it('starts by its key when an empty place of it was pressed last', async () => {
  await page.goto(`${stage.url}/new`);
  await page.getByLabel('What should it do?').fill('run `touch begun.txt`');
  await page.getByLabel('Folder').fill(cwd);
  await page.getByRole('radio', { name: /^Hands-off until/ }).check();
  await page.getByRole('heading', { name: 'New session' }).click();
  expect(await page.evaluate(() => document.activeElement?.closest('form') ?? null)).toBeNull();
  await page.keyboard.press('Control+Enter');
  await page.waitForURL((url) => url.pathname.startsWith('/s/'));
  await written(stage, join(cwd, 'begun.txt'));
});

it('effort and limits go from the dialog to the agent, and a limit that is none is told in its place', async () => {
  await page.goto(`${stage.url}/new`);
  await page.getByLabel('What should it do?').fill('hello');
  await page.getByLabel('Folder').fill(cwd);
  await page.getByText('Effort and limits').click();
  await page.getByLabel('Effort', { exact: true }).selectOption('high');
  await page.getByLabel(/^Thinking/).fill('2048');
  const steps = page.getByLabel(/^Steps in a turn/);
  await steps.fill('0');
  await page.keyboard.press('Control+Enter');
  await page.getByText('A number, at least 1.').waitFor();
  await steps.fill('7');
  await page.keyboard.press('Control+Enter');
  await page.waitForURL((url) => url.pathname.startsWith('/s/'));
  const id = new URL(page.url()).pathname.split('/')[2];
  const argv = await stage.until('the agent was started', async () => {
    const { items } = await stage.api<{ items: Entry[] }>('GET', `/sessions/${id}/transcript`);
    return items.flatMap(({ body }) => (body.kind === 'started' ? [body.is.argv.join(' ')] : []))[0];
  });
  for (const option of ['--effort high', '--max-thinking-tokens 2048', '--max-turns 7']) expect(argv).toContain(option);
});
