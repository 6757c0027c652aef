// How freely a session may act, chosen in the dialog that begins it and in the composer.
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import type { Session } from '../src/api/types';
import { onAnswering, written } from './answering';
import { Window, type Stage } from './stage';

let stage: Stage;
let cwd: string;
let page: Page;
const window = new Window();
onAnswering(window, (on) => ({ stage, cwd, page } = on));

const sessionOf = async (): Promise<Session> => {
  await page.waitForURL((url) => url.pathname.startsWith('/s/'));
  return stage.api<Session>('GET', `/sessions/${new URL(page.url()).pathname.split('/')[2]}`);
};

it('a session begins hands-off, with an end, and asks nothing till then', async () => {
  await page.goto(`${stage.url}/new`);
  await page.getByLabel('What should it do?').fill('run `touch freely.txt`');
  await page.getByLabel('Folder').fill(cwd);
  await page.getByRole('radio', { name: /^Hands-off until/ }).check();
  await page.getByRole('button', { name: '15 minutes' }).click();
  const before = Date.now();
  await page.keyboard.press('Control+Enter');
  const { mode } = await sessionOf();
  if (mode.mode !== 'hands-off') throw new Error(`it is in ${mode.mode}`);
  const minutes = (mode.until / 1000 - before) / 60_000;
  expect(minutes).toBeGreaterThan(14.9);
  expect(minutes).toBeLessThan(16);
  await written(stage, join(cwd, 'freely.txt'));
  await page.getByRole('button', { name: /Hands-off until \d/ }).waitFor();
});

it('a mode that is not available is not shown, and the API says why', async () => {
  await page.goto(`${stage.url}/new`);
  const words = ['Plan', 'Ask each time', 'Accept edits', 'Hands-off until…', 'Only what rules allow'];
  for (const word of words) await page.getByRole('radio', { name: word }).waitFor();
  expect(await page.getByRole('radio').count()).toBe(words.length);
  expect(await page.getByText('Let Claude judge').count()).toBe(0);
  const refused = await stage.begin('x', { cwd, mode: 'auto' }).catch(String);
  expect(refused).toContain('422');
  expect(refused).toContain('decided by a rule or a person');
});
