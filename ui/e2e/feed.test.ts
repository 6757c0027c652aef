// What a conversation shows once: an answered call, a plan; and what a person wrote, as it was meant.
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { become, onAnswering, openOf, written } from './answering';
import { PHONE, Window, signedIn, type Stage } from './stage';

let stage: Stage;
let cwd: string;
let page: Page;
const window = new Window();
onAnswering(window, (on) => ({ stage, cwd, page } = on));

/** Pictures of what was looked at, where a folder for them is named. */
const picture = async (of: Page, name: string) => {
  const folder = process.env['COUNTERSIGN_LOOK'];
  if (folder) await of.screenshot({ path: join(folder, `${name}.png`) });
};
const idle = (id: string) =>
  stage.until('the turn is over', async () => (await stage.api<{ state: string }>('GET', `/sessions/${id}`)).state === 'idle');

it('an_answered_call_is_one_row', async () => {
  const session = await stage.begin('run `touch once.txt`', { cwd });
  const one = await openOf(stage, session);
  await page.goto(`${stage.url}/s/${session}`);
  const card = page.locator(`[data-approval="${one.id}"]`);
  await card.focus();
  await page.keyboard.press('a');
  await written(stage, join(cwd, 'once.txt'));
  await become(stage, one.id, 'settled');
  const row = page.locator('article', { has: page.locator('.fold code', { hasText: 'touch once.txt' }) });
  await row.locator('.fold').waitFor();
  await card.waitFor({ state: 'detached' });
  expect(await row.locator('code', { hasText: 'touch once.txt' }).count()).toBe(1);
  // The focus is where the card was, and who answered is told below the line.
  expect(await row.evaluate((element) => element === document.activeElement)).toBe(true);
  await row.getByRole('button', { expanded: false }).click();
  await row.getByRole('paragraph').filter({ hasText: /^Allowed by You · \d\d:\d\d/ }).waitFor();
  await picture(page, 'one-row-desk');
});

it('a_plan_is_open_once_in_the_conversation', async () => {
  const session = await stage.begin('Plan the signatures.', { cwd, mode: 'plan' });
  const plan = await openOf(stage, session, 'plan');
  await page.goto(`${stage.url}/s/${session}`);
  await page.getByRole('link', { name: 'Review' }).first().waitFor();
  const text = page.locator('.feed').getByText('Why it is done.');
  expect(await text.count()).toBe(0);
  await stage.api('POST', `/approvals/${plan.id}/decision`, { saw: plan.digest, decision: 'plan', choice: 'accept-edits' });
  await become(stage, plan.id, 'settled');
  await idle(session);
  await text.first().waitFor();
  expect(await text.count()).toBe(1);
  await picture(page, 'plan-desk');
});

it('enter_sends_and_shift_enter_breaks_the_line', async () => {
  const session = await stage.begin('say hello', { cwd });
  await idle(session);
  await page.goto(`${stage.url}/s/${session}`);
  const field = page.getByLabel('Message', { exact: true });
  await field.fill('- **first** thing');
  await page.keyboard.press('Shift+Enter');
  await page.keyboard.type('- second thing');
  expect(await field.inputValue()).toBe('- **first** thing\n- second thing');
  await page.keyboard.press('Enter');
  const prompt = page.locator('article', { hasText: 'second thing' }).first();
  // What was written is Markdown.
  await prompt.locator('li', { hasText: 'second thing' }).waitFor();
  expect(await prompt.locator('strong').innerText()).toBe('first');
  expect(await field.inputValue()).toBe('');
  await picture(page, 'prompt-desk');
  // And by the setting it breaks the line.
  await page.goto(`${stage.url}/settings`);
  await page.getByRole('checkbox', { name: 'Enter sends' }).uncheck();
  await picture(page, 'settings-desk');
  await page.goto(`${stage.url}/s/${session}`);
  await field.fill('one');
  await page.keyboard.press('Enter');
  await page.keyboard.type('two');
  expect(await field.inputValue()).toBe('one\ntwo');
  await page.keyboard.press('Control+Enter');
  await page.locator('article', { hasText: 'two' }).first().waitFor();
  await page.goto(`${stage.url}/settings`);
  await page.getByRole('checkbox', { name: 'Enter sends' }).check();
});

it('on_a_phone_enter_breaks_the_line_and_a_path_keeps_its_name', async () => {
  const long = 'a-rather-long-folder-name/and-another-one/the-last-of-them/handler.ts';
  const session = await stage.begin(`write "x" to \`${long}\``, { cwd });
  const one = await openOf(stage, session);
  await stage.api('POST', `/approvals/${one.id}/decision`, { saw: one.digest, decision: 'allow' });
  await become(stage, one.id, 'settled');
  await idle(session);
  const context = await window.context(PHONE);
  const phone = await signedIn(stage, context);
  await phone.page.goto(`${stage.url}/s/${session}`);
  const name = phone.page.locator('article .path .name', { hasText: '/handler.ts' });
  await name.waitFor();
  expect(await name.evaluate((part) => part.scrollWidth <= part.clientWidth && part.getBoundingClientRect().right <= innerWidth)).toBe(true);
  const field = phone.page.getByLabel('Message', { exact: true });
  await field.fill('one');
  await phone.page.keyboard.press('Enter');
  await phone.page.keyboard.type('two');
  expect(await field.inputValue()).toBe('one\ntwo');
  await picture(phone.page, 'feed-phone');
  await phone.page.getByRole('button', { name: /^Send/ }).click();
  await phone.page.locator('article', { hasText: 'two' }).first().waitFor();
  expect(phone.faults).toEqual([]);
  await context.close();
});
