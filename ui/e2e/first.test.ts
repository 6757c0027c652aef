// The first minutes: from the login link to the first answer, on a desk and on a phone, and what happens when the server is
// killed meanwhile or somebody else is faster.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { PHONE, Stage, Window, signedIn } from './stage';

const window = new Window();
beforeAll(() => window.open());
afterAll(() => window.close());

interface Approval {
  id: string;
  life: string;
  decided?: { effect: string; why: string } | null;
}

const allow = (page: Page) => page.getByRole('main').getByRole('button', { name: /^Allow once/ }).first();

async function theApproval(stage: Stage): Promise<Approval> {
  return stage.until('a question is open', async () => {
    const { items } = await stage.api<{ items: Approval[] }>('GET', '/approvals?state=open');
    return items[0];
  });
}

const settled = (stage: Stage, id: string) =>
  stage.until('the answer has arrived', async () => {
    const one = await stage.api<Approval>('GET', `/approvals/${id}`);
    return one.life === 'written' || one.life === 'settled' ? one : null;
  });

describe('from the login link', () => {
  it('reaches the first answer in three clicks or fewer, with nothing said against the policy of the page', async () => {
    const stage = await new Stage().start();
    try {
      const context = await window.context();
      const { page, faults } = await signedIn(stage, context, stage.firstLink);
      let clicks = 0;
      const click = async (what: ReturnType<Page['getByRole']>) => {
        clicks += 1;
        await what.click();
      };
      await click(page.getByRole('button', { name: 'Start the tour' }));
      await click(allow(page));
      const approval = await stage.until('an answered question', async () => {
        const { items } = await stage.api<{ items: Approval[] }>('GET', '/approvals');
        return items.find((one) => one.decided);
      });
      expect((await settled(stage, approval.id)).decided?.effect).toBe('allow');
      expect(clicks).toBeLessThanOrEqual(3);
      expect(faults).toEqual([]);
      await context.close();
    } finally {
      await stage.end();
    }
  });

  it('works once, and a second browser is told so', async () => {
    const stage = await new Stage().start();
    try {
      const first = await window.context();
      await signedIn(stage, first, stage.firstLink);
      const second = await window.context();
      const page = await second.newPage();
      await page.goto(stage.firstLink);
      await page.getByText(/no longer works/).waitFor();
      // It looks like the product: a card with an ink button, and no bare form.
      const looks = await page.evaluate(() => {
        const of = (name: string) => getComputedStyle(document.querySelector(name) ?? document.body);
        return { body: of('body').backgroundColor, card: of('main').backgroundColor, line: of('main').borderTopStyle, button: of('button').backgroundColor, code: of('main code').borderTopStyle };
      });
      expect(looks).toEqual({ body: 'rgb(245, 246, 247)', card: 'rgb(255, 255, 255)', line: 'solid', button: 'rgb(27, 30, 36)', code: 'solid' });
      await page.goto(stage.url);
      await page.getByRole('heading', { name: 'Not signed in' }).waitFor();
    } finally {
      await stage.end();
    }
  });
});

describe('a question in the inbox', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await new Stage({ scenario: 'approvals' }).start();
  });
  afterAll(() => stage.end());

  it('is answered with one key once its card has the focus', async () => {
    await stage.begin('Ask me');
    const open = await theApproval(stage);
    const context = await window.context();
    const { page } = await signedIn(stage, context);
    await page.goto(`${stage.url}/inbox/${open.id}`);
    const button = allow(page);
    await button.waitFor();
    await button.focus();
    await page.keyboard.press('a');
    expect((await settled(stage, open.id)).decided?.effect).toBe('allow');
    await context.close();
  });

  it('is the same card after the server was killed and started again, and can still be answered', async () => {
    const open = await theApproval(stage);
    const context = await window.context();
    const { page } = await signedIn(stage, context);
    await page.goto(`${stage.url}/inbox/${open.id}`);
    await allow(page).waitFor();
    await stage.kill();
    await page.getByText('Connection lost').waitFor();
    await stage.start();
    await page.getByText('Connection lost').waitFor({ state: 'detached' });
    await allow(page).click();
    expect((await settled(stage, open.id)).decided?.effect).toBe('allow');
    await context.close();
  });

  it('that two browsers show goes away in both when one answers', async () => {
    const open = await theApproval(stage);
    const [one, two] = await Promise.all([window.context(), window.context()]);
    const [first, second] = await Promise.all([signedIn(stage, one), signedIn(stage, two)]);
    for (const { page } of [first, second]) {
      await page.goto(`${stage.url}/inbox/${open.id}`);
      await allow(page).waitFor();
    }
    const before = await second.page.title();
    expect(before).toMatch(/^\(1\)/);
    await allow(first.page).click();
    await settled(stage, open.id);
    await stage.until('the second browser no longer offers it', async () => {
      const body = await second.page.getByRole('main').innerText();
      return /Allowed|answered/i.test(body);
    });
    await Promise.all([one.close(), two.close()]);
  });

  it('is answered on a phone, where nothing scrolls sideways', async () => {
    const open = await theApproval(stage);
    const context = await window.context(PHONE);
    const { page, faults } = await signedIn(stage, context);
    await page.goto(`${stage.url}/inbox/${open.id}`);
    await allow(page).waitFor();
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(width).toBeLessThanOrEqual(390);
    await allow(page).tap();
    await settled(stage, open.id);
    expect(faults).toEqual([]);
    await context.close();
  });
});
