// Sessions that were put away are found again, and a page that was left gives its connections back.
import { chromium, type Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { onAnswering } from './answering';
import { CHROMIUM, Window, type Stage } from './stage';

let stage: Stage;
let cwd: string;
let page: Page;
const window = new Window();
onAnswering(window, (on) => ({ stage, cwd, page } = on));

async function done(name: string): Promise<string> {
  const id = await stage.begin('hello', { cwd, name });
  await stage.until('it is idle', async () => (await stage.api<{ state: string }>('GET', `/sessions/${id}`)).state === 'idle');
  return id;
}
const list = () => page.getByRole('region', { name: 'Sessions' });
const more = async (item: string) => {
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem', { name: item }).click();
};

it('finds what was archived and what is in the trash, and brings both back', async () => {
  for (const [name, act, gone] of [['Kept papers', 'Archive', 'Archived'], ['Old papers', 'Move to the trash', 'In the trash']] as const) {
    await page.goto(`${stage.url}/s/${await done(name)}`);
    await more(act);
    await page.getByText(gone).first().waitFor();
    await list().getByText(name).waitFor({ state: 'detached' });
  }
  await list().getByRole('link', { name: 'Archive and trash' }).click();
  const archive = page.getByRole('region', { name: 'Archive' });
  const trash = page.getByRole('region', { name: 'Trash' });
  await archive.getByText('Kept papers').waitFor();
  await trash.getByText('Old papers').waitFor();
  expect(await archive.getByText('Old papers').count()).toBe(0);
  await archive.getByRole('button', { name: 'Back to the list' }).click();
  await list().getByText('Kept papers').waitFor();
  await trash.getByRole('button', { name: 'Restore' }).click();
  await list().getByText('Old papers').waitFor();
  await page.getByText('Archive and trash are empty').waitFor();
});

it('takes archive and trash back at once', async () => {
  await page.goto(`${stage.url}/s/${await done('Hasty papers')}`);
  await more('Move to the trash');
  await page.getByRole('button', { name: 'Undo' }).click();
  await list().getByText('Hasty papers').waitFor();
  const [one] = (await stage.api<{ items: { name: string; trashed: number | null }[] }>('GET', '/sessions')).items.filter((it) => it.name === 'Hasty papers');
  expect(one?.trashed).toBeNull();
});

it('has no scrollbar of its own around the frame', async () => {
  await page.goto(`${stage.url}/inbox`);
  await list().waitFor();
  const [tall, window] = await page.evaluate(() => [document.documentElement.scrollHeight, innerHeight]);
  expect(tall).toBe(window);
});

// Playwright turns the browser's memory of pages off, which people have on.
it('loads one page after the other, as links from elsewhere do, without waiting for those it has left', async () => {
  const names = ['One of three', 'Two of three', 'Three of three'];
  const ids = await Promise.all(names.map(done));
  const browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
    ignoreDefaultArgs: ['--disable-back-forward-cache'],
  });
  try {
    const own = await browser.newPage();
    await own.goto(await stage.link());
    let slowest = 0;
    for (const id of [...ids, ...ids]) {
      await own.goto(`${stage.url}/s/${id}`);
      await own.getByRole('region', { name: 'Sessions' }).getByText(names[0]!).waitFor();
      const took = await own.evaluate(() =>
        Math.max(...performance.getEntriesByType('resource').filter((one) => /\/api\/v1\/(sessions|approvals)\?/.test(one.name)).map((one) => one.duration)),
      );
      slowest = Math.max(slowest, took);
    }
    // A page that is left gives nothing back by itself for ten seconds.
    expect(slowest).toBeLessThan(8000);
  } finally {
    await browser.close();
  }
});
