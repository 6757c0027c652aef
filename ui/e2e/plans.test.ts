// A plan is reviewed: comments, versions with their changes, an edit, and the four ways on.
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import type { Approval, Drafts, PlanVersion, Session } from '../src/api/types';
import { become, onAnswering, openOf, written } from './answering';
import { Window, type Stage } from './stage';

let stage: Stage;
let cwd: string;
let page: Page;
const window = new Window();
onAnswering(window, (on) => ({ stage, cwd, page } = on));

/** A session in plan mode whose plan is open, shown for review. */
async function review(): Promise<Approval> {
  const session = await stage.begin('Plan the signatures.', { cwd, mode: 'plan' });
  const plan = await openOf(stage, session, 'plan');
  await page.goto(`${stage.url}/s/${session}/plan/${plan.id}`);
  await page.getByRole('heading', { name: 'Signatures', exact: true }).waitFor();
  return plan;
}

const decided = (one: Approval) => one.decided?.decision as Record<string, unknown>;

it('keep planning sends comments, which stand in the next version', async () => {
  const plan = await review();
  // To the last line, by keys alone.
  for (let n = 0; n < 8; n += 1) await page.keyboard.press('j');
  await page.keyboard.press('c');
  await page.keyboard.type('Make it 60 seconds.');
  await page.keyboard.press('Control+Enter');
  await page.getByText('not sent yet').waitFor();
  await stage.until('the draft is kept', async () => {
    const drafts = await stage.api<Drafts>('GET', `/plans/${plan.id}/comments`);
    return drafts.comments.length === 1;
  });
  await page.getByRole('button', { name: 'Keep planning, send 1 comment' }).waitFor();
  await page.keyboard.press('Control+Enter');
  const after = await become(stage, plan.id, 'settled');
  expect(decided(after)).toMatchObject({ choice: 'keep-planning', comments: [{ line: 8, text: 'Make it 60 seconds.' }] });

  const next = await openOf(stage, plan.session, 'plan');
  const versions = await stage.api<PlanVersion[]>('GET', `/plans/${next.id}/versions`);
  expect(versions).toHaveLength(2);
  await page.goto(`${stage.url}/s/${plan.session}/plan/${next.id}`);
  await page.getByRole('button', { name: /Changes since v1/ }).waitFor();
  await page.getByText('outdated').waitFor();
  await page.getByText('commented on version 1').waitFor();
  // A plan that was sent back was not denied.
  await page.goto(`${stage.url}/s/${plan.session}`);
  const first = page.getByRole('article').filter({ has: page.getByText('sent back', { exact: true }) });
  await first.getByRole('button', { name: /^Plan/ }).first().click();
  await first.getByText(/^You asked for changes · /).last().waitFor();
  expect(await page.getByText('denied', { exact: true }).count()).toBe(0);
  expect(await page.getByText(/Denied by You/).count()).toBe(0);
  await page.goto(`${stage.url}/s/${plan.session}/plan/${next.id}`);
  await page.locator('.way').first().waitFor();
  // Go on, asking for each edit: the next thing is a question about one.
  await page.keyboard.press('3');
  await page.getByRole('button', { name: 'Continue and approve each edit' }).click();
  const edit = await openOf(stage, plan.session);
  expect(edit.tool).toBe('Write');
  await stage.api('POST', `/approvals/${edit.id}/decision`, { saw: edit.digest, decision: 'allow' });
  await written(stage, join(cwd, 'sign.ts'));
});

it('go on and accept edits asks about no edit', async () => {
  const plan = await review();
  await page.keyboard.press('2');
  await page.keyboard.press('Control+Enter');
  expect(decided(await become(stage, plan.id, 'settled'))).toMatchObject({ choice: 'accept-edits' });
  await stage.until('the turn ends without a question', async () => {
    const session = await stage.api<{ state: string }>('GET', `/sessions/${plan.session}`);
    return session.state === 'idle';
  });
});

it('start fresh begins another session, and leads there', async () => {
  const plan = await review();
  await page.keyboard.press('1');
  await page.getByRole('button', { name: /^Start fresh with this plan/ }).waitFor();
  await page.getByLabel('It begins with').selectOption({ label: 'Ask each time' });
  await page.getByRole('button', { name: /^Start fresh with this plan/ }).click();
  await page.waitForURL((url) => url.pathname.startsWith('/s/') && !url.pathname.includes(plan.session));
  expect(decided(await become(stage, plan.id, 'settled'))).toMatchObject({ choice: 'clear-context', mode: { mode: 'ask' } });
  const fresh = new URL(page.url()).pathname.split('/')[2];
  expect((await stage.api<Session>('GET', `/sessions/${fresh}`)).mode).toEqual({ mode: 'ask' });
});

it('a plan can be edited, and its wishes granted', async () => {
  const plan = await review();
  await page.keyboard.press('e');
  const text = page.getByLabel('The plan', { exact: true });
  await text.fill('# Signatures\n\n1. Only this\n');
  await page.getByRole('button', { name: 'Done' }).click();
  await page.keyboard.press('3');
  await page.getByLabel('Another rule').fill('Bash(npm test)');
  await page.keyboard.press('Enter');
  expect(await page.getByLabel('Bash(npm test)').isChecked()).toBe(true);
  await page.getByRole('button', { name: 'Continue and approve each edit, with your edits, allow 1 rule' }).click();
  expect(decided(await become(stage, plan.id, 'settled'))).toMatchObject({
    choice: 'manual',
    plan: '# Signatures\n\n1. Only this\n',
    rules: ['Bash(npm test)'],
  });
});

it('keep planning sends a picture along, which the agent gets as a message', async () => {
  const plan = await review();
  await page.keyboard.press('4');
  const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  await page.locator('input[type=file]').setInputFiles({ name: 'sketch.png', mimeType: 'image/png', buffer: Buffer.from(pixel, 'base64') });
  await page.getByRole('img', { name: 'sketch.png' }).waitFor();
  await page.getByRole('button', { name: 'Keep planning, send 1 picture' }).click();
  const after = await become(stage, plan.id, 'settled');
  expect(decided(after)).toMatchObject({ choice: 'keep-planning', images: [{ type: 'image' }] });
  await stage.until('the picture has arrived', async () => {
    const { items } = await stage.api<{ items: unknown[] }>('GET', `/sessions/${plan.session}/transcript`);
    return JSON.stringify(items).includes('Images for what was said about the plan.');
  });
});

it('keep planning waits until something is said', async () => {
  const plan = await review();
  await page.keyboard.press('4');
  await page.getByText(/Say what shall be different/).first().waitFor();
  await page.keyboard.press('Control+Enter');
  expect((await stage.api<Approval>('GET', `/approvals/${plan.id}`)).life).toBe('open');
  await page.getByRole('button', { name: 'Reject it and stop the turn' }).click();
  expect(decided(await become(stage, plan.id, 'settled', 'withdrawn'))).toMatchObject({ decision: 'deny', interrupt: true });
});
