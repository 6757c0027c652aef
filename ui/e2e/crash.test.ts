// An agent that crashes in the middle of a turn, where it is to be asked again: the conversation says so.
import { existsSync, readFileSync } from 'node:fs';
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

it('shows that a crashed agent was asked again, once', async () => {
  await stage.api('PATCH', '/settings', { asks_again_after_crash: true });
  const id = await stage.begin('which currencies', { cwd });
  const file = join(stage.data, 'sessions', id, 'journal', '000001.j');
  const journal = () => (existsSync(file) ? readFileSync(file, 'utf8') : '');
  await stage.until('the agent asks', () => Promise.resolve(journal().includes('can_use_tool')));
  const pid = /"event":"spawned","pid":(\d+)/.exec(journal())?.[1];
  process.kill(Number(pid), 'SIGKILL');
  await page.goto(`${stage.url}/s/${id}`);
  await page.getByText('Asked again after the agent crashed').waitFor();
  await page.getByText('Go on.').first().waitFor();
  expect(await page.getByText('Asked again after the agent crashed').count()).toBe(1);
});
