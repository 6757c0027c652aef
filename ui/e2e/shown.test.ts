// What is shown is what happened: a call as it was sent, the mode in force, the lines of a file as they are.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { become, onAnswering, openOf, written } from './answering';
import { Window, type Stage } from './stage';

const SCENARIO = `
turn always when "count"
  tool Bash {"command":"echo as-it-was-asked > asked.txt","description":"Leave a mark"}
  say "Counted."
turn always when "change"
  ask Edit {"file_path":"\${cwd}/list.txt","old_string":"line 40\\n","new_string":"line forty\\n"} gives "changed" nowait
  wait answers
  say "Changed."
`;

let stage: Stage;
let cwd: string;
let page: Page;
const window = new Window();
onAnswering(window, (on) => ({ stage, cwd, page } = on), SCENARIO);

it('a call that was edited stands everywhere as it was sent, with what was asked one click away', async () => {
  const session = await stage.begin('count', { cwd });
  const asked = await openOf(stage, session);
  const updated_input = { command: 'echo as-it-was-sent > sent.txt', description: 'Leave a mark' };
  await stage.api('POST', `/approvals/${asked.id}/decision`, { decision: 'allow', saw: asked.digest, updated_input });
  await written(stage, join(cwd, 'sent.txt'));
  await become(stage, asked.id, 'settled');

  await page.goto(`${stage.url}/s/${session}`);
  await page.getByText('Counted.').last().waitFor();
  const row = page.getByRole('article').filter({ hasText: 'as-it-was-sent' }).first();
  await row.getByText('edited', { exact: true }).waitFor();
  expect(await page.getByText('as-it-was-asked').count()).toBe(0);
  await row.getByRole('button', { expanded: false }).first().click();
  await row.getByText('Show what the agent asked for').click();
  await row.getByText('as-it-was-asked').waitFor();

  await page.goto(`${stage.url}/audit/${asked.id}`);
  const line = page.locator('tr.line').first();
  await line.getByText('as-it-was-sent').waitFor();
  await line.getByText('edited', { exact: true }).waitFor();
  await line.getByText(/^\d{1,2} [A-Z][a-z]{2} \d\d:\d\d$/).waitFor();
  await page.getByText('Show what the agent asked for').click();
  await page.getByText('as-it-was-asked').last().waitFor();
});

it('the transcript says the mode that is in force, also one that the CLI knows nothing of', async () => {
  const session = await stage.begin('count', { cwd });
  const asked = await openOf(stage, session);
  await stage.api('POST', `/approvals/${asked.id}/decision`, { decision: 'deny', saw: asked.digest });
  await become(stage, asked.id, 'settled');
  await page.goto(`${stage.url}/s/${session}`);
  await page.getByText('Counted.').last().waitFor();
  await stage.api('PUT', `/sessions/${session}/mode`, { mode: 'edits' });
  await page.getByText(/^Mode: Accept edits/).waitFor();
  await page.getByRole('button', { name: 'Accept edits' }).waitFor();
  await stage.api('PUT', `/sessions/${session}/mode`, { mode: 'ask' });
  await page.getByText(/^Mode: Ask each time/).waitFor();
});

it('an edit stands at its lines of the file, and says when the file has changed since', async () => {
  const file = join(cwd, 'list.txt');
  const lines = Array.from({ length: 80 }, (_, at) => `line ${at + 1}\n`);
  writeFileSync(file, lines.join(''));
  const session = await stage.begin('change', { cwd });
  const asked = await openOf(stage, session);
  await page.goto(`${stage.url}/inbox/${asked.id}`);
  const card = page.locator(`[data-approval="${asked.id}"]`);
  const row = card.locator('.dl').filter({ hasText: 'line forty' });
  await row.waitFor();
  expect(await row.locator('i').allTextContents()).toEqual(['', '40']);
  expect(await card.locator('.dl').first().locator('i').allTextContents()).toEqual(['37', '37']);
  expect(await card.getByText('has changed since').count()).toBe(0);
  writeFileSync(file, 'something else\n');
  await page.reload();
  await card.getByText('The file has changed since the agent asked.').waitFor();
});
