// The tour, walked to its end on the page: every promise in its words holds.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { Stage, Window, signedIn } from './stage';

const window = new Window();
const stage = new Stage({ patience: 60_000 });

interface Approval {
  id: string;
  tool: string;
  kind: string;
  input: { command?: string };
  decided?: { by?: string; why?: string } | null;
}

beforeAll(async () => {
  await window.open();
  await stage.start();
}, 60_000);
afterAll(async () => {
  await window.close();
  await stage.end();
}, 60_000);

/** Questions that were there already: an answer takes a moment to arrive. */
const known = new Set<string>();
const open = async () => (await stage.api<{ items: Approval[] }>('GET', '/approvals?state=open')).items.filter((one) => !known.has(one.id));
/** Questions that waited for a person. */
const all = async () => (await stage.api<{ items: Approval[] }>('GET', '/approvals')).items.filter((one) => !['rule', 'mode'].includes(one.decided?.by ?? ''));
const main = (page: Page) => page.getByRole('main');

/** Waits for the question, and gives it once its card is on the page. */
async function asks(page: Page, tool: string, command?: string): Promise<Approval> {
  const one = await stage.until(`${tool} ${command ?? ''} is asked`, async () => {
    const [first] = await open();
    if (!first) return null;
    expect([first.tool, command ? first.input.command : undefined]).toEqual([tool, command]);
    return first;
  });
  known.add(one.id);
  await page.locator(`[data-approval="${one.id}"]`).waitFor();
  return one;
}

const card = (page: Page, one: Approval) => page.locator(`[data-approval="${one.id}"]`);
const allow = (page: Page, one: Approval) => card(page, one).getByRole('button', { name: /^Allow once/ }).click();

async function says(page: Page, words: string | RegExp): Promise<void> {
  await main(page).getByText(words).last().waitFor({ timeout: 60_000 });
}

/** Types the next message, and waits until its chapter has begun. */
async function next(page: Page, chapter: number): Promise<void> {
  const field = page.getByLabel('Message', { exact: true });
  await field.fill('next');
  await page.getByRole('button', { name: /^Send/ }).click();
  await says(page, new RegExp(`^Chapter ${chapter}:`));
}

it('keeps every promise of every chapter, and goes on where it was after its agent has ended', async () => {
  const context = await window.context();
  const { page, faults } = await signedIn(stage, context, stage.firstLink);
  await page.getByRole('button', { name: 'Start the tour' }).click();
  const file = (name: string) => join(stage.project, name);

  // 2: writing is asked, reading it back is not.
  const write = await asks(page, 'Write');
  await says(page, 'Welcome!');
  await allow(page, write);
  await says(page, 'That is the difference between the two');
  expect((await all()).map((one) => `${one.tool} ${one.decided?.by}`).filter((one) => !one.startsWith('Write'))).toEqual([]);
  expect(existsSync(file('todo.sh'))).toBe(true);

  // 3: a difference.
  await next(page, 3);
  await allow(page, await asks(page, 'Edit'));
  await says(page, /Changed\./);

  // 4: a rule is made, and answers the next command of its kind; none is offered for the script.
  await next(page, 4);
  const first = await asks(page, 'Bash', 'touch done.txt');
  await card(page, first).getByRole('button', { name: /As a rule/ }).click();
  await card(page, first).getByRole('radio', { name: /touch:\*/ }).check();
  await card(page, first).getByRole('button', { name: /^Allow with this rule/ }).click();
  const script = await asks(page, 'Bash', 'sh todo.sh add "Finish the tour" && sh todo.sh');
  expect((await all()).map((one) => one.input.command).filter((one) => one === 'touch todo.txt')).toEqual([]);
  expect(existsSync(file('todo.txt'))).toBe(true);
  expect(await card(page, script).getByRole('button', { name: /As a rule/ }).isEnabled().catch(() => false)).toBe(false);
  const { items } = await stage.api<{ items: Approval[] }>('GET', '/approvals');
  expect(items.find((one) => one.input.command === 'touch todo.txt')?.decided?.by).toBe('rule');
  await allow(page, script);
  await says(page, /In chapter 5/);

  // Its agent ends; the next message starts another one, which goes on.
  const session = (await stage.api<{ items: { id: string }[] }>('GET', '/sessions')).items[0]?.id ?? '';
  await stage.api('POST', `/sessions/${session}/stop`);
  await stage.until('the agent has ended', async () => (await stage.api<{ state: string }>('GET', `/sessions/${session}`)).state === 'stopped');
  await stage.api('POST', `/sessions/${session}/resume`, { message: { text: 'next' } });
  await says(page, /^Chapter 5:/);
  const questions = await stage.until('questions', async () => (await open()).find((one) => one.kind === 'questions'));
  known.add(questions.id);
  await card(page, questions).waitFor();
  await card(page, questions).focus();
  for (const key of ['1', '4', 'Control+Enter']) await page.keyboard.press(key);
  await says(page, 'Short lists it is');

  // 6: the question comes from the sub-agent, and says so.
  await next(page, 6);
  await allow(page, await asks(page, 'Task'));
  const theirs = await asks(page, 'Bash', 'sh todo.sh');
  expect(await card(page, theirs).locator('header').innerText()).toMatch(/Try the script|general-purpose/);
  await allow(page, theirs);
  await says(page, 'They are back with their report');

  // 7: a plan, sent back once and then approved.
  await next(page, 7);
  const plan = await stage.until('the plan', async () => {
    const [one] = await open();
    if (one?.tool === 'EnterPlanMode') {
      known.add(one.id);
      await allow(page, one);
      return null;
    }
    return one?.kind === 'plan' ? one : null;
  });
  known.add(plan.id);
  const saw = await stage.api<{ digest: string }>('GET', `/approvals/${plan.id}`);
  await stage.api('POST', `/approvals/${plan.id}/decision`, { saw: saw.digest, decision: 'plan', choice: 'keep-planning', feedback: 'Shorter.' });
  await says(page, 'I keep your words in it and ask once more');
  const second = await stage.until('the plan again', async () => (await open()).find((one) => one.kind === 'plan'));
  const seen = await stage.api<{ digest: string }>('GET', `/approvals/${second.id}`);
  await stage.api('POST', `/approvals/${second.id}/decision`, { saw: seen.digest, decision: 'plan', choice: 'accept-edits' });
  await says(page, /Done as planned/);

  // 8: what cannot be undone says so, and one press is not enough.
  await next(page, 8);
  const deletion = await asks(page, 'Bash', 'rm -rf done.txt todo.txt');
  await card(page, deletion).getByText('Cannot be undone.').waitFor();
  await card(page, deletion).getByRole('button', { name: 'Hold to allow' }).click();
  expect((await stage.api<Approval & { life: string }>('GET', `/approvals/${deletion.id}`)).life).toBe('open');
  await card(page, deletion).focus();
  await page.keyboard.press('d');
  await page.keyboard.press('Control+Enter');
  await says(page, 'Stopped: nothing was deleted.');
  expect(existsSync(file('todo.txt'))).toBe(true);

  // 9: the end, and no cost anywhere.
  await next(page, 9);
  await says(page, 'From here on I follow plain requests.');
  expect(await page.locator('body').innerText()).not.toMatch(/\$\s?\d/);
  for (const [path, shown] of [['/inbox', 'Inbox'], ['/sessions', 'Sessions'], ['/insights', 'Tokens per day'], ['/insights?days=90', 'Tokens per week'], ['/audit', 'Decisions'], ['/plain', 'Waiting for you']] as const) {
    await page.goto(stage.url + path);
    await main(page).getByRole('heading', { name: shown }).first().waitFor();
    if (shown.startsWith('Tokens')) await main(page).getByRole('term').filter({ hasText: 'Turns' }).waitFor();
    expect(await page.locator('body').innerText(), path).not.toMatch(/\$\s?\d|^Cost/m);
  }
  // What stands below its first line is the conversation, with `$1` of a script in it.
  await page.goto(`${stage.url}/plain/sessions/${session}`);
  const line = await main(page).locator('p').first().innerText();
  expect(line).toContain('mode');
  expect(line).not.toContain('$');
  expect(faults).toEqual([]);
  await context.close();
}, 240_000);
