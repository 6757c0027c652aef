// Forked and imported sessions show what was said before them, marked as such, and lead to it once they have a conversation of their own.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { onAnswering } from './answering';
import { Window, type Stage } from './stage';

let stage: Stage;
let cwd: string;
let page: Page;
const window = new Window();
onAnswering(window, (on) => ({ stage, cwd, page } = on));

const idle = (id: string) => stage.until('it is idle', async () => (await stage.api<{ state: string }>('GET', `/sessions/${id}`)).state === 'idle');
const earlier = () => page.getByRole('region', { name: 'Earlier conversation' });

/** For whoever looks at the pictures. */
async function picture(name: string): Promise<void> {
  const folder = process.env['COUNTERSIGN_PICTURES'];
  if (folder) await page.screenshot({ path: join(folder, `${name}.png`) });
}

it('shows a fork what its parent said, and leads there when it has said something itself', async () => {
  const parent = await stage.begin('Where does the clock stand?', { cwd, name: 'The clock' });
  await idle(parent);
  const { did: { session: id } } = await stage.api<{ did: { session: string } }>('POST', `/sessions/${parent}/fork`, {});
  await page.goto(`${stage.url}/s/${id}`);
  await earlier().getByText('Where does the clock stand?').waitFor();
  await earlier().getByText('read-only').waitFor();
  expect(await page.getByText('No messages yet').count()).toBe(0);
  await picture('fork');
  await earlier().getByRole('searchbox').fill('nowhere at all');
  await earlier().getByText('Nothing for ‘nowhere at all’.').waitFor();
  await earlier().getByRole('searchbox').fill('CLOCK stand');
  await earlier().getByText('Where does the clock stand?').waitFor();
  await stage.api('POST', `/sessions/${id}/messages`, { text: 'Go on then' });
  await page.getByText('It continues an earlier conversation.').waitFor();
  await idle(id);
  await page.getByRole('button', { name: 'Show it' }).click();
  await earlier().getByText('Where does the clock stand?').waitFor();
  expect(await earlier().getByText('Go on then').count()).toBe(0);
  await picture('panel');
});

it('shows an imported session what was said in the terminal, and search finds it', async () => {
  const conversation = crypto.randomUUID();
  const folder = join(stage.home, '.claude/projects', cwd.replace(/[^a-zA-Z0-9]/g, '-'));
  mkdirSync(folder, { recursive: true });
  const line = (type: string, uuid: string, parentUuid: string | null, message: unknown) =>
    JSON.stringify({ type, uuid, parentUuid, message, sessionId: conversation, cwd, version: '2.1.325', isSidechain: false, userType: 'external', timestamp: '2026-01-02T03:04:05.000Z' });
  const lines = [
    line('user', 'a-1', null, { role: 'user', content: 'How many pelicans are there?' }),
    line('assistant', 'a-2', 'a-1', { id: 'm', role: 'assistant', model: 'claude', content: [{ type: 'text', text: 'There are **four** pelicans.' }] }),
  ];
  writeFileSync(join(folder, `${conversation}.jsonl`), `${lines.join('\n')}\n`);
  const { did: { session: id } } = await stage.api<{ did: { session: string } }>('POST', '/import', { conversation, cwd, confirmed: true });
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(`${stage.url}/s/${id}`);
  await earlier().getByText('How many pelicans are there?').waitFor();
  await earlier().getByText('begun in a terminal').waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  await picture('import-phone');
  await page.goto(`${stage.url}/search?q=pelicans`);
  await page.getByText('earlier conversation').first().click();
  await earlier().first().getByText('How many pelicans are there?').waitFor();
});
