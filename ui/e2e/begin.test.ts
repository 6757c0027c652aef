// The dialog that begins a session: what is typed stays as it was typed, and its keys act wherever the focus is.
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
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
