// A reader at the end of a conversation stays there when a question comes.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Stage, Window, signedIn } from './stage';

const here = dirname(fileURLToPath(import.meta.url));
const window = new Window();
const stage = new Stage({ scenario: join(here, 'pinned.scenario') });

beforeAll(async () => {
  await window.open();
  await stage.start();
}, 60_000);
afterAll(async () => {
  await window.close();
  await stage.end();
}, 60_000);

it('a question that comes at the end is seen whole by whoever reads there', async () => {
  const session = await stage.begin('Begin');
  const state = async () => (await stage.api<{ state: string }>('GET', `/sessions/${session}`)).state;
  await stage.until('the first turn is over', async () => (await state()) === 'idle');
  const context = await window.context({ viewport: { width: 1440, height: 700 } });
  const { page } = await signedIn(stage, context);
  await page.goto(`${stage.url}/s/${session}`);
  const feed = page.getByRole('region', { name: 'Conversation' });
  // The list of sessions says the last line as well.
  await feed.getByText('line 60').waitFor();
  const fromEnd = () => feed.evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight);
  await stage.until('it stands at the end', async () => (await fromEnd()) < 2);
  for (let round = 1; round <= 3; round += 1) {
    await stage.api('POST', `/sessions/${session}/messages`, { text: `round ${round}` });
    const allow = page.getByRole('main').getByRole('button', { name: /^Allow once/ }).first();
    await allow.waitFor();
    await stage.until(`it stands at the end in round ${round}`, async () => (await fromEnd()) < 2, 5000);
    expect(await page.getByRole('button', { name: /new$|To the end/ }).count()).toBe(0);
    await allow.click();
    await stage.until('the turn is over', async () => (await state()) === 'idle');
    await stage.until(`it stays at the end in round ${round}`, async () => (await fromEnd()) < 2, 5000);
  }
  await context.close();
});
