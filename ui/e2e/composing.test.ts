// What is dragged, pasted and dropped, and what the page says while the server is away or a login is over: on the built program with
// the scripted agent.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { Stage, Window, signedIn } from './stage';

const scenario = join(dirname(fileURLToPath(import.meta.url)), 'conversation.scenario');
const window = new Window();
let stage: Stage;

beforeAll(async () => {
  await window.open();
  stage = await new Stage({ scenario }).start();
});
afterAll(async () => {
  await window.close();
  await stage.end();
});

const state = async (id: string) => (await stage.api<{ state: string }>('GET', `/sessions/${id}`)).state;
const queue = async (id: string) => (await stage.api<{ text: string }[]>('GET', `/sessions/${id}/queue`)).map((one) => one.text).join(' ');
const writing = (page: Page) => page.getByLabel('Message', { exact: true });

async function opened(id: string): Promise<{ page: Page; faults: string[]; done: () => Promise<void> }> {
  const context = await window.context();
  const { page, faults } = await signedIn(stage, context);
  await page.goto(`${stage.url}/s/${id}`);
  await page.locator('article').first().waitFor();
  return { page, faults, done: () => context.close() };
}

describe('a session that asks', () => {
  it('opens where its question stands, with the answers in sight', async () => {
    const id = await stage.begin('Find the flaky test');
    await stage.until('it asks', async () => (await state(id)) === 'needs_you');
    const context = await window.context({ viewport: { width: 1024, height: 420 } });
    const { page, faults } = await signedIn(stage, context);
    await page.goto(`${stage.url}/s/${id}`);
    const allow = page.locator('.feed').getByRole('button', { name: /^Allow once/ });
    await allow.waitFor();
    await stage.until('the answers are in sight', () =>
      allow.evaluate((button) => {
        const [box, view] = [button.getBoundingClientRect(), button.closest('.feed')?.getBoundingClientRect()];
        return view !== undefined && box.top >= view.top && box.bottom <= view.bottom;
      }),
    );
    // A form below a card that is taller than the screen is in sight as well, and takes what is typed.
    await page.locator('.ask').focus();
    await page.keyboard.press('d');
    await page.keyboard.type('not now');
    await page.locator('.ask-more').getByRole('button', { name: 'Deny', exact: false }).first().waitFor();
    expect(await page.getByRole('textbox', { name: /^Why/ }).evaluate((field) => field.getBoundingClientRect().bottom <= innerHeight)).toBe(true);
    expect(faults).toEqual([]);
    await context.close();
  });
});

describe('the queue', () => {
  it('is put in order by drag, to any place, and stays where a drag ends elsewhere', async () => {
    const id = await stage.begin('slowly, please');
    await stage.until('it runs', async () => (await state(id)) === 'running');
    for (const text of ['one', 'two', 'three']) await stage.api('POST', `/sessions/${id}/messages`, { text });
    const { page, faults, done } = await opened(id);
    const item = (text: string) => page.locator('.queue li', { hasText: text });
    await item('three').waitFor();
    // To the very end: behind the last one.
    await item('one').dragTo(item('three'), { targetPosition: { x: 60, y: 22 } });
    await stage.until('it is the last', async () => (await queue(id)) === 'two three one');
    // To the very front.
    await item('one').dragTo(item('two'), { targetPosition: { x: 60, y: 3 } });
    await stage.until('it is the first', async () => (await queue(id)) === 'one two three');
    // Over an item and away again: nothing moves.
    const box = await item('two').boundingBox();
    await item('one').hover();
    await page.mouse.down();
    await page.mouse.move((box?.x ?? 0) + 40, (box?.y ?? 0) + 20, { steps: 4 });
    await page.locator('.queue li.dragged').waitFor();
    await page.mouse.move(20, 400, { steps: 4 });
    await page.mouse.up();
    await page.locator('.queue li.dragged').waitFor({ state: 'detached' });
    expect(await queue(id)).toBe('one two three');
    expect(faults).toEqual([]);
    await done();
  });
});

describe('what an agent keeps running', () => {
  it('opens to the end of what it printed, which is read again while it runs', async () => {
    const id = await stage.begin('keep watch');
    await stage.until('the turn is over', async () => {
      const { items } = await stage.api<{ items: { id: string; digest: string }[] }>('GET', `/approvals?state=open&session=${id}`);
      for (const one of items) await stage.api('POST', `/approvals/${one.id}/decision`, { decision: 'allow', saw: one.digest });
      return (await state(id)) === 'idle';
    });
    const { page, faults, done } = await opened(id);
    const panel = page.getByRole('complementary', { name: 'Details' });
    const task = panel.getByRole('button', { name: /^Running.*sleep 40/ });
    await task.click();
    await panel.getByText('No output yet.').waitFor();
    // The scripted agent keeps no output: what the host would say is stood in for.
    const printed = { output: '\u001b[32mtick 1\u001b[0m\ntick 2', total_bytes: 4096, is_cut: true };
    await page.route('**/tasks/*/output', (route) => route.fulfill({ json: printed }));
    await panel.getByText('tick 2').waitFor();
    await panel.getByText(/^The end of 4/).waitFor();
    expect(await panel.locator('.a2').innerText()).toBe('tick 1');
    await task.click();
    await panel.getByText('tick 2').waitFor({ state: 'detached' });
    await panel.getByRole('button', { name: /^Stop/ }).click();
    await panel.getByRole('button', { name: /^Running/ }).waitFor({ state: 'detached' });
    expect(faults).toEqual([]);
    await done();
  }, 60_000);
});

/** The smallest picture there is, handed to the page as a browser does after a copy or a drag. */
const give = (page: Page, how: 'paste' | 'drop', where: string, type = 'image/png') =>
  page.locator(where).evaluate(
    (target, [event, kind]) => {
      const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
      const bytes = Uint8Array.from(atob(png), (sign) => sign.charCodeAt(0));
      const data = new DataTransfer();
      data.items.add(new File([bytes], kind === 'image/png' ? 'dot.png' : 'notes.txt', { type: kind as string }));
      const how = { bubbles: true, cancelable: true };
      const fired = event === 'paste' ? new ClipboardEvent('paste', { ...how, clipboardData: data }) : new DragEvent('drop', { ...how, dataTransfer: data });
      target.dispatchEvent(fired);
      return fired.defaultPrevented;
    },
    [how, type],
  );

describe('pictures', () => {
  it('come along when they are pasted, or dropped anywhere on the page', async () => {
    const id = await stage.begin('hello');
    await stage.until('it is idle', async () => (await state(id)) === 'idle');
    const { page, faults, done } = await opened(id);
    await page.getByPlaceholder(/^(Reply|A message wakes)/).waitFor();
    expect(await give(page, 'paste', 'textarea[aria-label=Message]')).toBe(true);
    await page.locator('.pics img').waitFor();
    // On the conversation: the browser must not leave the page for it.
    expect(await give(page, 'drop', '.feed')).toBe(true);
    await page.locator('.pics li').nth(1).waitFor();
    expect(await give(page, 'drop', '.feed', 'text/plain')).toBe(true);
    await page.getByRole('alert').filter({ hasText: 'notes.txt is not a picture' }).waitFor();
    await page.getByRole('button', { name: 'Remove dot.png' }).first().click();
    await page.locator('.pics li').nth(1).waitFor({ state: 'detached' });
    await writing(page).fill('what is this');
    await page.keyboard.press('Control+Enter');
    await page.locator('article', { hasText: 'I heard: what is this' }).waitFor();
    await page.locator('article', { hasText: '1 picture' }).waitFor();
    expect(await page.locator('.pics').count()).toBe(0);
    expect(faults).toEqual([]);
    await done();
  });
});

/** What the foot of the list says about the connection. */
const link = (page: Page, words: string) => page.locator('.foot', { hasText: words });

describe('banners', () => {
  it('say since when the server is gone, and that it is back', async () => {
    const id = await stage.begin('hello');
    await stage.until('it is idle', async () => (await state(id)) === 'idle');
    const { page, done } = await opened(id);
    await link(page, 'Live').waitFor();
    await stage.kill();
    const lost = page.getByRole('status').filter({ hasText: 'Connection lost' });
    await lost.waitFor({ timeout: 30_000 });
    expect(await lost.innerText()).toMatch(/\d+ s ago\. You see the state of \d\d:\d\d:\d\d; nothing is lost\./);
    await link(page, 'Not connected').waitFor();
    // While nobody answers: once the server is there the page finds it by itself, and the button may be gone before it is pressed.
    const tried = page.waitForRequest((request) => request.url().includes('/api/v1/events'));
    await lost.getByRole('button', { name: 'Try now' }).click();
    await tried;
    await stage.start();
    await page.getByRole('status').filter({ hasText: 'Reconnected.' }).waitFor({ timeout: 30_000 });
    await link(page, 'Live').waitFor();
    // It goes by itself.
    await page.getByRole('status').filter({ hasText: 'Reconnected.' }).waitFor({ state: 'detached', timeout: 15_000 });
    await done();
  }, 90_000);

  it('a login that was taken away says so, and how one comes in again', async () => {
    const made = await stage.api<{ id: string; token: string }>('POST', '/tokens', { name: 'guest', scope: 'full' });
    const context = await window.context();
    const page = await context.newPage();
    await page.goto(`${stage.url}/inbox`);
    await page.getByRole('heading', { name: 'Not signed in' }).waitFor();
    await page.getByLabel('Or a token').fill(made.token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await link(page, 'Live').waitFor();
    await stage.api('DELETE', `/tokens/${made.id}`);
    // By itself: the stream is ended with the login.
    await page.getByRole('heading', { name: 'You were signed out' }).waitFor();
    await context.close();
  });
});
