// The main flow on the real CLI with a scripted model: begun in the dialog, answered on cards, planned, interrupted, resumed, and
// answered after the server was killed. What the model repeats of a request, and what lies in the folder, is the proof of each.
// The tests of one conversation follow each other: where one fails, those behind it are skipped.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Approval, PlanVersion } from '../src/api/types';
import { become, openOf, visit, written } from './answering';
import { realCli, realStage, type Model } from './real';
import { Window, signedIn, type Stage } from './stage';

const cli = realCli();
const script = readFileSync(join(dirname(fileURLToPath(import.meta.url)), 'real.model'), 'utf8');

describe.skipIf(cli === null)('on the real CLI', () => {
  const window = new Window();
  let stage: Stage;
  let model: Model;
  let context: BrowserContext;
  let page: Page;
  let faults: string[] = [];

  beforeAll(async () => {
    if (cli === null) return;
    ({ stage, model } = await realStage(cli, script));
    await window.open();
    context = await window.context();
    ({ page, faults } = await signedIn(stage, context));
  }, 60_000);
  afterAll(async () => {
    await window.close();
    // Where the beginning failed, there may be neither.
    await stage?.end();
    model?.kill();
  }, 60_000);

  /** Skips what builds on a test that failed. */
  function oneAfterTheOther(): void {
    let isBroken = false;
    beforeEach(({ skip }) => skip(isBroken, 'what it builds on has failed'));
    afterEach(({ task }) => {
      isBroken ||= task.result?.state === 'fail';
    });
  }

  const file = (name: string) => join(stage.project, name);
  const state = async (id: string) => (await stage.api<{ state: string }>('GET', `/sessions/${id}`)).state;
  const isIdle = (id: string) => stage.until('the turn is over', async () => (await state(id)) === 'idle');
  const says = (words: string) => page.locator('article', { hasText: words }).first().waitFor();
  const writing = () => page.getByLabel('Message', { exact: true });
  const decisionOf = (one: Approval) => one.decided?.decision as Record<string, unknown>;

  /** A session by the dialog, as a person begins one; gives its id. */
  async function beginOnThePage(prompt: string, mode: RegExp): Promise<string> {
    await page.goto(`${stage.url}/inbox`);
    await page.getByRole('main').waitFor();
    await page.keyboard.press('n');
    const dialog = page.getByRole('dialog', { name: 'New session' });
    await dialog.getByLabel(/^What should it do/).fill(prompt);
    await dialog.getByRole('radio', { name: mode }).check();
    await dialog.getByLabel(/^Folder/).fill(stage.project);
    await page.keyboard.press('Control+Enter');
    await page.waitForURL((url) => url.pathname.startsWith('/s/'));
    return new URL(page.url()).pathname.split('/')[2] ?? '';
  }

  describe('a session', () => {
    oneAfterTheOther();
    let id = '';

    it('is begun in the dialog, and writes what was allowed', async () => {
      id = await beginOnThePage('Run the errands, please.', /^Ask each time/);
      const one = await openOf(stage, id);
      expect(existsSync(file('note.txt'))).toBe(false);
      await page.getByRole('main').getByRole('button', { name: /^Allow once/ }).click();
      const after = await become(stage, one.id, 'settled');
      expect(after).toMatchObject({ tool: 'Write', outcome: 'ran', decided: { client: 'web' } });
      expect(readFileSync(file('note.txt'), 'utf8')).toBe('from the agent\n');
    });

    it('tells the model why something was denied', async () => {
      const one = await openOf(stage, id);
      await visit(page, stage, one.id);
      await page.keyboard.press('d');
      await page.keyboard.type('Reason seven: the ground is frozen.');
      await page.keyboard.press('Control+Enter');
      expect(await become(stage, one.id, 'settled')).toMatchObject({ outcome: 'refused' });
      await page.goto(`${stage.url}/s/${id}`);
      await says('I was told that the ground is frozen.');
      expect(existsSync(file('denied.txt'))).toBe(false);
    });

    it('runs the input that a person changed', async () => {
      const one = await openOf(stage, id);
      await visit(page, stage, one.id);
      await page.keyboard.press('e');
      await page.getByRole('textbox', { name: 'Command' }).fill('touch changed.txt');
      await page.keyboard.press('Control+Enter');
      await become(stage, one.id, 'settled');
      await written(stage, file('changed.txt'));
      expect(existsSync(file('before.txt'))).toBe(false);
    });

    it('does not ask again once there is a rule', async () => {
      const one = await openOf(stage, id);
      await visit(page, stage, one.id);
      await page.keyboard.press('r');
      await page.getByText('Don’t ask again for').waitFor();
      await page.keyboard.press('Control+Enter');
      await become(stage, one.id, 'settled');
      await written(stage, file('ruled.txt'));
      // The same call once more, and the next thing that is asked is another one.
      await openOf(stage, id, 'questions');
      const { items } = await stage.api<{ items: { input: { command?: string } }[] }>('GET', `/decisions?session=${id}&by=rule`);
      expect(items.map((each) => each.input.command)).toEqual(['touch ruled.txt']);
      await page.goto(`${stage.url}/s/${id}`);
      await page.locator('article', { hasText: 'touch ruled.txt' }).locator('.who.rule').waitFor();
    });

    it('gets the answer to its question', async () => {
      const one = await openOf(stage, id, 'questions');
      await visit(page, stage, one.id);
      await page.keyboard.press('2');
      await page.keyboard.press('Control+Enter');
      expect(decisionOf(await become(stage, one.id, 'settled'))).toMatchObject({ answers: { 'Which colour?': 'Blue' } });
      await page.goto(`${stage.url}/s/${id}`);
      await says('It shall be Blue.');
      await isIdle(id);
    });

    it('is interrupted, and then gets what was queued', async () => {
      await writing().fill('Tell me a long story.');
      await page.keyboard.press('Control+Enter');
      await says('and so on and so on');
      await page.getByRole('button', { name: /^Queue/ }).waitFor();
      await writing().fill('How is the weather?');
      await page.keyboard.press('Control+Enter');
      await page.locator('.queue li', { hasText: 'How is the weather?' }).waitFor();
      await page.keyboard.press('Escape');
      expect(await state(id)).toBe('running');
      await page.keyboard.press('Escape');
      await says('Interrupted');
      await page.getByRole('button', { name: 'Release' }).click();
      await says('It rains.');
      await isIdle(id);
    });

    it('is ended and resumed, and knows what was said before', async () => {
      await stage.api('POST', `/sessions/${id}/stop`);
      await stage.until('it has ended', async () => (await state(id)) === 'stopped');
      await writing().fill('One more file.');
      await page.getByRole('button', { name: /^Resume and send/ }).click();
      // The script answers only in a conversation that began with the errands.
      expect(await openOf(stage, id)).toMatchObject({ tool: 'Write' });
    });

    it('is answered on the same card after the server was killed and started again', async () => {
      const one = await openOf(stage, id);
      await visit(page, stage, one.id);
      await stage.kill();
      await page.getByText('Connection lost').waitFor();
      await stage.start();
      await page.getByText('Connection lost').waitFor({ state: 'detached' });
      expect((await openOf(stage, id)).id).toBe(one.id);
      await page.keyboard.press('a');
      expect(await become(stage, one.id, 'settled')).toMatchObject({ outcome: 'ran' });
      expect(readFileSync(file('later.txt'), 'utf8')).toBe('after the restart\n');
      await page.goto(`${stage.url}/s/${id}`);
      await says('All errands are run.');
      await isIdle(id);
    });
  });

  /** A plan as it is shown for review. */
  async function review(session: string, title: string, behind?: Approval): Promise<Approval> {
    const plan = await stage.until(`the plan ${title}`, async () => {
      const one = await openOf(stage, session, 'plan');
      return one.id === behind?.id ? null : one;
    });
    await page.goto(`${stage.url}/s/${session}/plan/${plan.id}`);
    await page.getByRole('heading', { name: title, exact: true }).waitFor();
    return plan;
  }

  /** The way of this number is chosen and sent. */
  async function goes(plan: Approval, key: string, choice: string): Promise<void> {
    await page.keyboard.press(key);
    await page.keyboard.press('Control+Enter');
    expect(decisionOf(await become(stage, plan.id, 'settled'))).toMatchObject({ decision: 'plan', choice });
  }

  describe('a plan', () => {
    it('is sent back with a word, and then carried out without a question about edits', async () => {
      const session = await beginOnThePage('Plan the shed, please.', /^Plan/);
      const first = await review(session, 'The shed');
      await page.keyboard.press('4');
      await page.getByLabel('About the whole plan').fill('Make it deep.');
      await page.getByRole('button', { name: 'Keep planning, send 1 comment' }).waitFor();
      await page.keyboard.press('Control+Enter');
      expect(decisionOf(await become(stage, first.id, 'settled'))).toMatchObject({ choice: 'keep-planning', feedback: 'Make it deep.' });
      const second = await review(session, 'The shed', first);
      const versions = await stage.api<PlanVersion[]>('GET', `/plans/${second.id}/versions`);
      expect(versions.map((one) => one.text)).toEqual(['# The shed\n\n1. Dig\n', '# The shed\n\n1. Dig deep\n']);
      await goes(second, '2', 'accept-edits');
      await says('The shed stands.');
      await isIdle(session);
      expect(existsSync(file('shed.txt'))).toBe(true);
    });

    it('is carried out with a question about each edit', async () => {
      const session = await stage.begin('Plan the fence, please.', { mode: 'plan' });
      await goes(await review(session, 'The fence'), '3', 'manual');
      const edit = await openOf(stage, session);
      expect(edit.tool).toBe('Write');
      expect(existsSync(file('fence.txt'))).toBe(false);
      await visit(page, stage, edit.id);
      await page.keyboard.press('a');
      await written(stage, file('fence.txt'));
      await isIdle(session);
    });

    it('begins another conversation, which knows nothing else', async () => {
      const session = await stage.begin('Plan the well, please.', { mode: 'plan' });
      await goes(await review(session, 'A well for the yard'), '1', 'clear-context');
      await page.waitForURL((url) => /^\/s\/[^/]+$/.test(url.pathname) && !url.pathname.includes(session));
      // The script answers only in a conversation whose first message is the plan.
      await says('The well is dug.');
      expect(existsSync(file('well.txt'))).toBe(true);
      await stage.until('the old one has ended', async () => (await state(session)) === 'stopped');
    });
  });

  it('the model was asked what the script foresees, and the page broke nothing', async () => {
    const { replies, unexpected } = await model.end();
    expect(unexpected).toEqual([]);
    expect(replies.filter((one) => one.left !== 0)).toEqual([]);
    expect(faults).toEqual([]);
  });
});
