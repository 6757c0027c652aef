// A file of a session is opened in the editor of the daemon's machine; where there is none, its path can be copied.
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { PHONE, Stage, Window, signedIn } from './stage';

const place = mkdtempSync(join(tmpdir(), 'countersign-open-'));
const editor = join(place, 'editor');
const opened = join(place, 'opened');
writeFileSync(editor, `#!/bin/sh\nprintf '%s' "$1" > '${opened}.new' && mv '${opened}.new' '${opened}'\n`);
chmodSync(editor, 0o755);
const scenario = join(place, 'follows.scenario');
writeFileSync(scenario, 'turn always\n  follow\n');
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
  const shots = process.env['COUNTERSIGN_LOOK'];
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
