// The page without scripts: what was said before a fork or an import, and an edit at its lines of the file.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { onAnswering, openOf } from './answering';
import { PHONE, Window, type Stage } from './stage';

const SCENARIO = `
turn always when "change"
  ask Edit {"file_path":"\${cwd}/list.txt","old_string":"line 40\\n","new_string":"line forty\\n"} gives "changed" nowait
  wait answers
  say "Changed."
turn always
  say "You said: \${prompt}"
`;

let stage: Stage;
let cwd: string;
let context: BrowserContext;
let page: Page;
const window = new Window();
onAnswering(window, (on) => ({ stage, cwd } = on), SCENARIO);
const folder = process.env['COUNTERSIGN_PICTURES'];
/** For whoever looks at the pictures. */
const picture = async (name: string) => void (folder && (await page.screenshot({ path: join(folder, `plain-${name}.png`), fullPage: true })));

/** Without scripts a person says so by the button of the link's page. */
async function signIn(on: Page): Promise<void> {
  await on.goto(await stage.link());
  await on.getByRole('button', { name: 'Sign in' }).click();
  await on.waitForURL((url) => !url.pathname.startsWith('/login'));
}

beforeEach(async () => {
  context = await window.context({ javaScriptEnabled: false });
  page = await context.newPage();
  await signIn(page);
});
afterEach(() => context.close());

const idle = (id: string) => stage.until('it is idle', async () => (await stage.api<{ state: string }>('GET', `/sessions/${id}`)).state === 'idle');
const text = () => page.locator('main').innerText();

it('a fork that has said nothing shows what its parent said, and later the way to it', async () => {
  const parent = await stage.begin('Where does the clock stand?', { cwd, name: 'The clock' });
  await idle(parent);
  const { did: { session: id } } = await stage.api<{ did: { session: string } }>('POST', `/sessions/${parent}/fork`, {});
  await page.goto(`${stage.url}/plain/sessions/${id}`);
  const earlier = page.locator('section.earlier');
  await earlier.getByText('read-only').waitFor();
  expect(await earlier.innerText()).toContain('You said: Where does the clock stand?');
  expect(await earlier.getByRole('link', { name: 'The clock' }).getAttribute('href')).toBe(`/plain/sessions/${parent}`);
  await picture('fork');
  await stage.api('POST', `/sessions/${id}/messages`, { text: 'And now?' });
  // It was idle before, too: what it says tells that the message has arrived.
  await stage.until('it has said something itself', async () => {
    await page.goto(`${stage.url}/plain/sessions/${id}`);
    return (await text()).includes('You said: And now?');
  });
  await idle(id);
  expect(await earlier.count()).toBe(0);
  await page.getByRole('link', { name: 'Show it' }).click();
  expect(await earlier.innerText()).toContain('Where does the clock stand?');
  expect(await earlier.innerText()).not.toContain('And now?');
  // A session that comes from nowhere has no such line.
  await page.goto(`${stage.url}/plain/sessions/${parent}`);
  expect(await text()).not.toContain('earlier conversation');
});

it('an imported session shows what was said in the terminal', async () => {
  const conversation = crypto.randomUUID();
  const place = join(stage.home, '.claude/projects', cwd.replace(/[^a-zA-Z0-9]/g, '-'));
  mkdirSync(place, { recursive: true });
  const line = (type: string, uuid: string, parentUuid: string | null, message: unknown) =>
    JSON.stringify({ type, uuid, parentUuid, message, sessionId: conversation, cwd, version: '2.1.325', isSidechain: false, userType: 'external', timestamp: '2026-01-02T03:04:05.000Z' });
  const lines = [
    line('user', 'a-1', null, { role: 'user', content: 'How many pelicans are there?' }),
    line('assistant', 'a-2', 'a-1', { id: 'm', role: 'assistant', model: 'claude', content: [{ type: 'text', text: 'There are four <b>pelicans</b>.' }] }),
  ];
  writeFileSync(join(place, `${conversation}.jsonl`), `${lines.join('\n')}\n`);
  const { did: { session: id } } = await stage.api<{ did: { session: string } }>('POST', '/import', { conversation, cwd, confirmed: true });
  await page.goto(`${stage.url}/plain/sessions/${id}`);
  const earlier = page.locator('section.earlier');
  expect(await earlier.innerText()).toContain('begun in a terminal');
  expect(await earlier.innerText()).toContain('There are four <b>pelicans</b>.');
  await picture('import');
});

it('an edit stands at its lines of the file, and says when the file has changed since', async () => {
  const file = join(cwd, 'list.txt');
  writeFileSync(file, Array.from({ length: 80 }, (_, at) => `line ${at + 1}\n`).join(''));
  const session = await stage.begin('change', { cwd });
  await openOf(stage, session);
  await page.goto(`${stage.url}/plain/sessions/${session}`);
  const change = page.locator('pre.change');
  const rows = (await change.innerText()).split('\n').map((row) => row.trim().replace(/\s+/g, ' '));
  expect(rows.slice(0, 8)).toEqual(['37 37 line 37', '38 38 line 38', '39 39 line 39', '40 - line 40', '40 + line forty', '41 41 line 41', '42 42 line 42', '43 43 line 43']);
  expect(await text()).not.toContain('has changed since');
  await picture('edit');
  writeFileSync(file, 'something else\n');
  await page.reload();
  await page.getByText('The file has changed since the agent asked.').waitFor();
  const phone = await window.context({ ...PHONE, javaScriptEnabled: false });
  const small = await phone.newPage();
  await signIn(small);
  await small.goto(`${stage.url}/plain/sessions/${session}`);
  expect(await small.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  if (folder) await small.screenshot({ path: join(folder, 'plain-edit-phone.png'), fullPage: true });
  await phone.close();
});
