// Files and folders of a session are opened in the editor of the daemon's machine wherever they stand; what it has no program for is
// not offered, and a path can always be copied.
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Locator, Page } from 'playwright-core';
import { visit } from './answering';
import { PHONE, Stage, Window, signedIn } from './stage';

const place = mkdtempSync(join(tmpdir(), 'countersign-open-'));
const editor = join(place, 'editor');
const opened = join(place, 'opened');
writeFileSync(editor, `#!/bin/sh\nprintf '%s' "$1" > '${opened}.new' && mv '${opened}.new' '${opened}'\n`);
chmodSync(editor, 0o755);
const scenario = join(place, 'follows.scenario');
writeFileSync(
  scenario,
  `turn always when "look"
  tool Read {"file_path":"\${cwd}/a.txt"} gives "a"
  tool Read {"file_path":"\${cwd}/b.txt"} gives "b"
  tool Write {"file_path":"\${cwd}/src/handler.ts","content":"x"}
  say "Done."
turn always
  follow
`,
);
const window = new Window();
const stage = new Stage({ scenario, args: ['--editor', editor] });

beforeAll(async () => {
  await window.open();
  await stage.start();
}, 60_000);
afterAll(async () => {
  await window.close();
  await stage.end();
  rmSync(place, { recursive: true, force: true });
});

it('a_file_is_opened_in_the_editor_and_what_is_not_there_is_not_offered', async () => {
  const id = await stage.begin('write "x" to `src/handler.ts`');
  await stage.until('it asks about a file', async () => {
    const { items } = await stage.api<{ items: { id: string; digest: string; tool: string }[] }>('GET', `/approvals?state=open&session=${id}`);
    return items[0];
  });
  const { page, faults } = await signedIn(stage, await window.context());
  await page.goto(`${stage.url}/s/${id}`);
  const folder = page.getByRole('button', { name: stage.project.split('/').at(-1) ?? '', exact: true });
  // What the machine can open may be known a moment after the page is there.
  await stage.until('the menu offers the editor', async () => {
    await folder.click();
    await page.getByRole('menuitem', { name: 'Copy path' }).waitFor();
    if ((await page.getByRole('menuitem', { name: 'Open in editor' }).count()) === 1) return true;
    await page.keyboard.press('Escape');
    await page.getByRole('menuitem').first().waitFor({ state: 'detached' });
    return undefined;
  });
  expect(await page.getByRole('menuitem').allInnerTexts()).toEqual([expect.stringContaining('Open in editor'), 'Copy path']);
  const shots = process.env['COUNTERSIGN_PICTURES'];
  if (shots) await page.screenshot({ path: join(shots, 'open-desk.png') });
  await page.getByRole('menuitem', { name: 'Open in editor' }).click();
  await page.getByText('Opened in your editor').first().waitFor();
  await stage.until('the editor has the folder', async () => existsSync(opened) && readFileSync(opened, 'utf8') === stage.project);
  expect(faults).toEqual([]);
  await page.context().close();
  const phone = await signedIn(stage, await window.context(PHONE));
  await phone.page.goto(`${stage.url}/s/${id}`);
  await phone.page.locator('.ask').first().waitFor();
  if (shots) await phone.page.screenshot({ path: join(shots, 'open-phone.png') });
  expect(await phone.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
  expect(phone.faults).toEqual([]);
  await phone.page.context().close();
});

/** What a menu offers; it stays open. */
async function offered(page: Page, button: Locator): Promise<string[]> {
  await button.click();
  const items = page.getByRole('menuitem');
  await items.first().waitFor();
  return (await items.allInnerTexts()).map((one) => one.split('\n')[0] ?? '');
}

it('every file and folder offers it: in folded reads, beside a question, in the record, and in the menu of a phone', async () => {
  const id = await stage.begin('look');
  const asked = await stage.until('it asks', async () => {
    const { items } = await stage.api<{ items: { id: string; digest: string }[] }>('GET', `/approvals?state=open&session=${id}`);
    return items[0];
  });
  const { page, faults } = await signedIn(stage, await window.context());
  const ways = ['Open in editor', 'Copy path'];
  const menu = (name: string) => page.getByRole('button', { name: `Open or copy ${name}` });

  await page.goto(`${stage.url}/s/${id}`);
  await page.getByRole('button', { name: /^Read 2 files/ }).click();
  expect(await offered(page, menu('b.txt'))).toEqual(ways);

  await visit(page, stage, asked.id);
  const led = page.getByRole('complementary', { name: 'What led here' });
  const ofFolder = led.locator('dd').getByRole('button', { name: /^Open or copy/ });
  // What stands above it is there: nothing moves any more.
  const step = led.getByRole('listitem').filter({ hasText: 'b.txt' });
  await step.waitFor();
  expect(await offered(page, ofFolder)).toEqual(ways);
  await page.keyboard.press('Escape');
  expect(await offered(page, step.getByRole('button'))).toEqual(ways);

  await stage.api('POST', `/approvals/${asked.id}/decision`, { saw: asked.digest, decision: 'allow' });
  await page.goto(`${stage.url}/audit/${asked.id}`);
  expect(await offered(page, page.locator('.places').getByRole('button', { name: 'handler.ts' }))).toEqual(ways);
  rmSync(opened, { force: true });
  await page.getByRole('menuitem', { name: 'Open in editor' }).click();
  await stage.until('the editor has the file', async () => existsSync(opened) && readFileSync(opened, 'utf8') === join(stage.project, 'src/handler.ts'));
  expect(faults).toEqual([]);
  await page.context().close();

  const phone = await signedIn(stage, await window.context(PHONE));
  await phone.page.goto(`${stage.url}/s/${id}`);
  const items = await offered(phone.page, phone.page.getByRole('button', { name: 'More' }).first());
  expect(items).toEqual(expect.arrayContaining(ways));
  if (process.env['COUNTERSIGN_PICTURES']) await phone.page.screenshot({ path: join(process.env['COUNTERSIGN_PICTURES'], 'open-menu-phone.png') });
  rmSync(opened, { force: true });
  await phone.page.getByRole('menuitem', { name: 'Open in editor' }).click();
  await stage.until('the editor has the folder', async () => existsSync(opened) && readFileSync(opened, 'utf8') === stage.project);
  await phone.page.context().close();
});
