// The conversation and the composer, on the built program with the scripted agent: what each tool looks like, what is written and
// queued, what an interrupt, a long session and a dead server do.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import type { Entry } from '../src/api/transcript';
import { scroll } from '../bench/watch';
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

interface Asked {
  id: string;
  digest: string;
}
const state = async (id: string) => (await stage.api<{ state: string }>('GET', `/sessions/${id}`)).state;

/** Allows everything that is asked until the turn is over. */
async function allowAll(id: string): Promise<void> {
  await stage.until('the turn is over', async () => {
    const { items } = await stage.api<{ items: Asked[] }>('GET', `/approvals?state=open&session=${id}`);
    for (const one of items) await stage.api('POST', `/approvals/${one.id}/decision`, { decision: 'allow', saw: one.digest });
    return (await state(id)) === 'idle';
  }, 40_000);
}

async function opened(id: string): Promise<{ page: Page; faults: string[]; done: () => Promise<void> }> {
  const context = await window.context();
  const { page, faults } = await signedIn(stage, context);
  await page.goto(`${stage.url}/s/${id}`);
  await page.locator('article').first().waitFor();
  return { page, faults, done: () => context.close() };
}

const writing = (page: Page) => page.getByLabel('Message', { exact: true });
const article = (page: Page, words: string) => page.locator('article', { hasText: words }).first();

/** Waits until an element of the page says so. */
const says = (page: Page, selector: string, words: string) =>
  page.waitForFunction(
    ([where, what]) => [...document.querySelectorAll(where as string)].some((one) => one.textContent?.includes(what as string)),
    [selector, words],
  );

describe('a conversation', () => {
  let id = '';
  beforeAll(async () => {
    id = await stage.begin('Find the flaky test');
    await allowAll(id);
  }, 60_000);

  it('shows each tool as what it is, and who let it run', async () => {
    const { page, faults, done } = await opened(id);
    await article(page, 'Turn done').waitFor();
    const feed = page.locator('.feed');
    await feed.evaluate((box) => (box.scrollTop = 0));
    await article(page, 'Read 2 files, searched once').waitFor();
    const bash = article(page, 'Bash');
    expect(await bash.innerText()).toContain('exit 3');
    expect(await bash.locator('.a1').first().innerText()).toBe('red');
    expect(await bash.locator('.who.person').count()).toBe(1);
    const edit = article(page, '+1 −1');
    await edit.scrollIntoViewIfNeeded();
    expect(await edit.locator('.add mark').allInnerTexts()).toEqual(['clock']);
    await article(page, 'Mending it').waitFor();
    await article(page, '2 sub-agents').scrollIntoViewIfNeeded();
    expect(await article(page, '2 sub-agents').innerText()).toContain('Two suspects.');
    await article(page, 'tracker: create').waitFor();
    expect(faults).toEqual([]);
    await done();
  });

  it('never makes HTML of what an agent writes, and links nowhere it may not', async () => {
    const { page, done } = await opened(id);
    const found = article(page, 'What I found');
    await found.waitFor();
    expect(await found.locator('img').count()).toBe(0);
    expect(await found.innerText()).toContain('<img src=x onerror=alert(1)>');
    expect(await found.locator('a').count()).toBe(0);
    expect(await found.locator('table td').allInnerTexts()).toEqual(['one', '7']);
    await found.locator('pre .key').first().waitFor();
    await done();
  });

  it('shows a long output whole on demand', async () => {
    const { page, done } = await opened(id);
    await page.locator('.feed').evaluate((box) => (box.scrollTop = 0));
    await article(page, 'Bash').getByRole('button', { name: 'Show all' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    await dialog.getByLabel('Find').fill('37');
    await says(page, 'dialog', '37');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await done();
  });

  it('opens every panel by its keys', async () => {
    const { page, done } = await opened(id);
    const tab = page.getByRole('tab', { selected: true });
    await tab.waitFor();
    for (const [key, words] of [['c', 'Changes'], ['$', 'Cost'], ['f', 'Raw'], ['p', 'Plan'], ['t', 'Overview']]) {
      await page.keyboard.press('v');
      await page.keyboard.press(key as string);
      await says(page, '[role=tab][aria-selected=true]', words as string);
    }
    expect(await tab.count()).toBe(1);
    await done();
  });
});

describe('the composer', () => {
  it('sends, queues while the agent works, and lets the queue be changed', async () => {
    const id = await stage.begin('slowly, please');
    const { page, done } = await opened(id);
    await stage.until('it runs', async () => (await state(id)) === 'running');
    await page.getByRole('button', { name: /^Queue/ }).waitFor();
    for (const words of ['first thing', 'second thing']) {
      await page.keyboard.press('i');
      await writing(page).fill(words);
      await page.keyboard.press('Control+Enter');
      await says(page, '.queue li', words);
      await page.keyboard.press('Escape');
    }
    const items = page.locator('.queue li');
    await items.nth(1).getByRole('button', { name: 'Move up' }).click();
    await says(page, '.queue li:first-child', 'second thing');
    await items.nth(0).getByRole('button', { name: 'Edit' }).click();
    await page.locator('.queue textarea').fill('second thing, changed');
    await page.getByRole('button', { name: 'Save' }).click();
    await stage.until('the host has the change', async () => {
      const queue = await stage.api<{ text: string }[]>('GET', `/sessions/${id}/queue`);
      return queue.map((one) => one.text).join('|') === 'second thing, changed|first thing';
    });
    await items.nth(1).getByRole('button', { name: 'Remove' }).click();
    await stage.until('one is left', async () => (await stage.api<unknown[]>('GET', `/sessions/${id}/queue`)).length === 1);

    // Esc leaves the field, then interrupts; what waited is held until somebody says so.
    await page.keyboard.press('Escape');
    await stage.until('it was interrupted', async () => (await state(id)) !== 'running');
    await article(page, 'Interrupted').waitFor();
    await page.getByRole('button', { name: 'Release' }).click();
    await article(page, 'I heard: second thing, changed').waitFor();
    await done();
  });

  it('names commands and files, and keeps a draft', async () => {
    const id = await stage.begin('hello');
    await stage.until('it is idle', async () => (await state(id)) === 'idle');
    const { page, done } = await opened(id);
    await writing(page).fill('/');
    await page.getByRole('option').first().waitFor();
    await page.keyboard.press('Enter');
    expect(await writing(page).inputValue()).toMatch(/^\/\S+ $/);
    await writing(page).fill('see @not');
    await page.getByRole('option', { name: 'note.ts' }).click();
    expect(await writing(page).inputValue()).toBe('see @note.ts ');
    await page.goto(`${stage.url}/inbox`);
    await page.goto(`${stage.url}/s/${id}`);
    await writing(page).waitFor();
    expect(await writing(page).inputValue()).toBe('see @note.ts ');
    await done();
  });

  it('resumes an agent that was ended', async () => {
    const id = await stage.begin('hello');
    await stage.until('it is idle', async () => (await state(id)) === 'idle');
    await stage.api('POST', `/sessions/${id}/stop`);
    await stage.until('it has ended', async () => (await state(id)) === 'stopped');
    const { page, done } = await opened(id);
    await writing(page).fill('are you there');
    await page.getByRole('button', { name: /^Resume and send/ }).click();
    await article(page, 'I heard: are you there').waitFor();
    await done();
  });

  it('keeps what was written while the server was gone, and sends it once when it is back', async () => {
    const id = await stage.begin('hello');
    await stage.until('it is idle', async () => (await state(id)) === 'idle');
    const { page, done } = await opened(id);
    // The page knows the session; before that it would not know what to do with a message either.
    await page.getByPlaceholder(/^(Reply|A message wakes)/).waitFor();
    await stage.kill();
    await page.getByRole('button', { name: /^Send when back/ }).waitFor({ timeout: 30_000 });
    await writing(page).fill('written in the dark');
    await page.keyboard.press('Control+Enter');
    await says(page, '.later', 'written in the dark');
    await stage.start();
    await article(page, 'I heard: written in the dark').waitFor({ timeout: 40_000 });
    const { items } = await stage.api<{ items: Entry[] }>('GET', `/sessions/${id}/transcript`);
    const said = items.flatMap(({ body }) => (body.kind === 'prompt' ? [body.is.text.text] : []));
    expect(said).toEqual(['hello', 'written in the dark']);
    await done();
  }, 120_000);
});

describe('a long conversation', () => {
  it('opens at its end, draws only what is near, and stays where one reads', async () => {
    const id = await stage.begin('many, please');
    await stage.until('it is done', async () => (await state(id)) === 'idle', 60_000);
    const { page, done } = await opened(id);
    await article(page, 'Turn done').waitFor();
    const box = page.locator('.feed');
    const look = () =>
      box.evaluate((feed) => {
        const edge = feed.getBoundingClientRect().top;
        const rows = [...feed.querySelectorAll('article')];
        const first = rows.find((row) => row.getBoundingClientRect().bottom > edge + 1);
        return { key: first?.dataset['key'], at: Math.round(first?.getBoundingClientRect().top ?? 0), top: feed.scrollTop };
      });
    // Who goes to the upper edge of what is there reads on where they were when the page above has come; the ones above that can wait.
    let pages = 0;
    page.on('response', (one) => (pages += /transcript\?.*before=/.test(one.url()) ? 1 : 0));
    const edge = await box.evaluate(async (feed) => {
      feed.scrollTop = 0;
      await new Promise((seen) => requestAnimationFrame(() => requestAnimationFrame(seen)));
      const first = feed.querySelector('article');
      return { key: first?.dataset['key'] ?? '', top: first?.getBoundingClientRect().top ?? 0 };
    });
    await stage.until('a page above', async () => pages > 0);
    await page.evaluate(async () => {
      for (let quiet = 0; quiet < 30; quiet += 1) await new Promise((done) => requestIdleCallback(done));
    });
    expect(pages).toBeLessThanOrEqual(2);
    const top = await box.locator(`article[data-key="${edge.key}"]`).evaluate((row) => row.getBoundingClientRect().top);
    expect(Math.abs(top - edge.top)).toBeLessThan(2);
    await page.keyboard.press('G');
    await article(page, 'Turn done').waitFor();

    // None may be passed over, however fast one scrolls and however the pages above come.
    const { rounds, drawn } = await scroll(page, 'up', 'article:has(.turn)');
    expect(Array.from({ length: 400 }, (_, at) => at + 1).filter((n) => !rounds.includes(n))).toEqual([]);
    await page.getByText(/^Started in /).waitFor();
    expect(drawn).toBeLessThan(80);
    // A message that comes while one reads above moves nothing.
    const before = await look();
    await stage.api('POST', `/sessions/${id}/messages`, { text: 'hello from elsewhere' });
    await stage.until('it was answered', async () => (await state(id)) === 'idle');
    await page.locator('.pill').waitFor();
    const after = await look();
    expect([after.key, after.at]).toEqual([before.key, before.at]);
    await page.locator('.feed').focus();
    await page.keyboard.press('G');
    await article(page, 'I heard: hello from elsewhere').waitFor();
    await done();
  }, 150_000);
});
