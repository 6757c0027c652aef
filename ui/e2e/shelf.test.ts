// What is seldom used and must be there when it is: files put back, a conversation of a terminal brought in, the disk, how a skill is
// told, the end of a long command in a selection, what was asked of an edited call, and who decided. On a desk and on a phone.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext, Locator, Page } from 'playwright-core';
import { afterEach, describe, expect, it } from 'vitest';
import type { Approval } from '../src/api/types';
import { become, onAnswering, openOf, visit, written } from './answering';
import { PHONE, Window, signedIn, type Stage } from './stage';

const LONG = `printf 'one' > a.txt && ${Array.from({ length: 24 }, (_, n) => `printf 'line-${n}' >> a.txt`).join(' && ')} && touch the-very-end.txt`;
const SCENARIO = `
turn always when "rewrite"
  tool Write {"file_path":"\${cwd}/kept.txt","content":"new words\\n"}
  say "Rewritten."
turn always when "long"
  tool Bash {"command":${JSON.stringify(LONG)},"description":"A long one"} gives "ok"
  say "Done."
turn always when "skill"
  tool Skill {"skill":"release-notes","args":"since v1.2"} gives "Loaded."
  say "Used it."
turn always when "marks"
  tool Bash {"command":"touch by-rule.txt","description":"By a rule"}
  tool Write {"file_path":"\${cwd}/by-mode.txt","content":"x\\n"}
  say "Done."
turn always
  follow
`;

let stage: Stage;
let cwd: string;
let context: BrowserContext | undefined;
let page: Page;
let faults: string[];
const window = new Window();
onAnswering(window, (on) => ({ stage, cwd } = on), SCENARIO);
const folder = process.env['COUNTERSIGN_PICTURES'];
/** For whoever looks at the pictures. */
const picture = async (name: string) => void (folder && (await page.screenshot({ path: join(folder, `${name}.png`) })));

const state = async (id: string) => (await stage.api<{ state: string }>('GET', `/sessions/${id}`)).state;
const idle = (id: string) => stage.until('it is idle', async () => (await state(id)) === 'idle');
const decide = (one: Approval, body: Record<string, unknown>) => stage.api('POST', `/approvals/${one.id}/decision`, { saw: one.digest, ...body });

afterEach(async () => {
  await context?.close();
  context = undefined;
});

/** No page scrolls sideways, whatever it shows. */
async function fits(): Promise<void> {
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(page.viewportSize()?.width);
  expect(faults).toEqual([]);
}

describe.each([['desk', {}] as const, ['phone', PHONE] as const])('on a %s', (size, how) => {
  const isPhone = size === 'phone';

  async function opened(path: string): Promise<void> {
    context = await window.context(how);
    ({ page, faults } = await signedIn(stage, context));
    await page.goto(stage.url + path);
    await page.getByRole('main').waitFor();
  }

  it('files go back to how they were before a message, and are named before they do', async () => {
    const file = join(cwd, 'kept.txt');
    writeFileSync(file, 'old words\n');
    const id = await stage.begin('rewrite', { cwd });
    await decide(await openOf(stage, id), { decision: 'allow' });
    await idle(id);
    expect(readFileSync(file, 'utf8')).toBe('new words\n');
    await opened(`/s/${id}`);
    await page.getByRole('main').getByText('Rewritten.').first().waitFor();
    const prompt = page.getByRole('article').filter({ hasText: 'rewrite' }).first();
    await prompt.hover();
    await prompt.getByRole('button', { name: 'Put files back…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Put files back' });
    await dialog.getByText('kept.txt').waitFor();
    await picture(`rewind-${size}`);
    await fits();
    expect(readFileSync(file, 'utf8')).toBe('new words\n');
    await dialog.getByRole('button', { name: 'Put back' }).click();
    await page.getByText('Put back 1 file.').first().waitFor();
    expect(readFileSync(file, 'utf8')).toBe('old words\n');
    // A second time nothing is left to do, and the button says so.
    await prompt.hover();
    await prompt.getByRole('button', { name: 'Put files back…' }).click();
    await dialog.getByText('No file has changed since this message.').waitFor();
    expect(await dialog.getByRole('button', { name: 'Put back' }).getAttribute('aria-disabled')).toBe('true');
  });

  it('a conversation of a terminal becomes a session from the settings, and one that may still run wants a second word', async () => {
    const conversation = crypto.randomUUID();
    const place = join(stage.home, '.claude/projects', cwd.replace(/[^a-zA-Z0-9]/g, '-'));
    mkdirSync(place, { recursive: true });
    const line = (type: string, uuid: string, parentUuid: string | null, message: unknown) =>
      JSON.stringify({ type, uuid, parentUuid, message, sessionId: conversation, cwd, version: '2.1.325', isSidechain: false, userType: 'external', timestamp: '2026-01-02T03:04:05.000Z' });
    const said = `How many pelicans on a ${size}?`;
    const lines = [
      line('user', 'a-1', null, { role: 'user', content: said }),
      line('assistant', 'a-2', 'a-1', { id: 'm', role: 'assistant', model: 'claude', content: [{ type: 'text', text: 'Four.' }] }),
    ];
    writeFileSync(join(place, `${conversation}.jsonl`), `${lines.join('\n')}\n`);
    await opened('/settings');
    const row = page.getByRole('listitem').filter({ hasText: said });
    // It was written to a moment ago: a terminal may have it.
    await row.getByRole('button', { name: 'Import' }).click();
    await row.getByText('End it there first.').waitFor();
    await row.scrollIntoViewIfNeeded();
    await picture(`import-${size}`);
    await fits();
    await row.getByRole('button', { name: 'It has ended, import' }).click();
    await page.waitForURL('**/s/*');
    await page.getByRole('region', { name: 'Earlier conversation' }).getByText(said).waitFor();
  });

  it('the settings tell what sessions take on the disk, and lead to each', async () => {
    const id = await stage.begin('Nothing much', { cwd, name: `On the disk, ${size}` });
    await idle(id);
    await opened('/settings');
    const disk = page.locator('section', { has: page.getByRole('heading', { name: 'Disk', exact: true }) });
    await disk.getByText(/^Sessions and what belongs to them take \d/).waitFor();
    await disk.scrollIntoViewIfNeeded();
    await picture(`disk-${size}`);
    await fits();
    const { sessions } = await stage.api<{ sessions: { session: string; journal: number }[] }>('GET', '/disk');
    expect(await disk.getByRole('listitem').count()).toBe(Math.min(8, sessions.length));
    const first = disk.getByRole('listitem').first();
    expect(await first.innerText()).toMatch(/journal [\d.]+ ([KM]i)?B/);
    await first.getByRole('link').click();
    await page.waitForURL(`**/s/${sessions[0]?.session}`);
  });

  it('a selected command is shown to its end before several are allowed', async () => {
    const asked: Approval[] = [];
    for (const name of ['One', 'Other']) asked.push(await openOf(stage, await stage.begin('long', { cwd, name: `${name} ${size}` })));
    await opened('/inbox');
    const rows = page.locator('.qrow').filter({ hasText: size });
    await rows.first().waitFor();
    const code = rows.first().locator('.what code');
    const isCut = () => code.evaluate((one) => one.scrollWidth > one.clientWidth);
    expect(await isCut()).toBe(true);
    if (isPhone) await page.getByRole('button', { name: 'Select several' }).tap();
    for (const box of await rows.getByRole('checkbox').all()) await box.check();
    await page.getByRole('toolbar', { name: '2 selected' }).waitFor();
    expect(await isCut()).toBe(false);
    expect(await code.innerText()).toMatch(/touch the-very-end\.txt$/);
    const right = await code.evaluate((one) => one.getBoundingClientRect().right);
    expect(right).toBeLessThanOrEqual(page.viewportSize()?.width ?? 0);
    await picture(`bulk-${size}`);
    await fits();
    await page.getByRole('button', { name: 'Allow 2 once' }).click();
    for (const one of asked) await become(stage, one.id, 'settled');
  });

  it('an edited answer says so in its stamp, and shows what was asked', async () => {
    const id = await stage.begin('run `touch asked.txt`', { cwd });
    const one = await openOf(stage, id);
    await opened('/inbox');
    await visit(page, stage, one.id);
    await decide(one, { decision: 'allow', updated_input: { ...(one.input as object), command: 'touch sent.txt' } });
    await written(stage, join(cwd, 'sent.txt'));
    const stamp = page.locator(`[data-approval="${one.id}"] .stamp`);
    await stamp.getByText('touch sent.txt').waitFor();
    const before = stamp.locator('.ask-cmd', { hasText: 'touch asked.txt' });
    expect(await before.isVisible()).toBe(false);
    await stamp.getByText('Edited. Show what the agent asked for').click();
    await before.waitFor();
    await picture(`stamp-edited-${size}`);
    await fits();
    expect(existsSync(join(cwd, 'asked.txt'))).toBe(false);
  });

  it('the record tells a rule from the mode by their marks, and in words', async () => {
    await stage.api('POST', '/rules', { effect: 'allow', rule: 'Bash(touch by-rule.txt)', scope: 'always' }).catch(() => null);
    const id = await stage.begin('marks', { cwd, mode: 'edits', name: `Marks ${size}` });
    await idle(id);
    await opened(`/audit?session=${id}`);
    const rule = page.locator('tr.line').filter({ hasText: 'touch by-rule.txt' });
    const mode = page.locator('tr.line').filter({ hasText: 'by-mode.txt' });
    await rule.waitFor();
    await mode.waitFor();
    const who = (row: Locator, by: string) => row.locator(isPhone ? '.phone' : '.by').locator(`.who.${by}`);
    await who(rule, 'rule').locator('svg').waitFor();
    await who(mode, 'mode').waitFor();
    expect(await who(mode, 'mode').innerText()).toContain('–');
    expect(await who(mode, 'mode').locator('svg').count()).toBe(0);
    const said = (row: Locator) => row.locator(isPhone ? '.phone' : '.by').innerText();
    expect(await said(rule)).toContain('Bash(touch by-rule.txt)');
    expect(await said(mode)).toContain('mode');
    await picture(`marks-${size}`);
    await fits();
  });

  it('a skill is told by its name and what it was given', async () => {
    const id = await stage.begin('skill', { cwd });
    await stage.until('it is over', async () => {
      for (const one of (await stage.api<{ items: Approval[] }>('GET', `/approvals?state=open&session=${id}`)).items) await decide(one, { decision: 'allow' });
      return (await state(id)) === 'idle';
    });
    await opened(`/s/${id}`);
    const line = page.getByRole('article').filter({ hasText: 'release-notes' }).first();
    await line.waitFor();
    expect((await line.innerText()).replace(/\s+/g, ' ')).toMatch(/Skill release-notes since v1\.2/);
    await picture(`skill-${size}`);
    await fits();
  });

  it('the new session says exactly when a budget stops a run', async () => {
    await opened('/new');
    const field = page.getByLabel(/^Stop at/);
    await field.waitFor();
    const said = await field.evaluate((one) => document.getElementById(one.getAttribute('aria-describedby') ?? '')?.textContent?.trim());
    expect(said).toContain('when a turn ends');
    expect(said).toContain('twice');
    await field.scrollIntoViewIfNeeded();
    await picture(`budget-${size}`);
    await fits();
  });
});
