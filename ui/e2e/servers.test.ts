// The MCP servers of an agent, on the real CLI: how each stands, one that does not start, and one that is switched off and on again.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openOf } from './answering';
import { realCli, realStage, type Model } from './real';
import { PHONE, Window, signedIn, type Stage } from './stage';

const cli = realCli();
const SCRIPT = `
reply in "Take notes"
  tool Bash {"command":"touch note.txt","description":"Leave a note"}
`;
/** One tool, over standard input and output. */
const SERVER = `
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'notes', version: '1.0.0' } }),
  'tools/list': () => ({ tools: [{ name: 'add_note', description: 'Adds a note', inputSchema: { type: 'object', properties: {} } }] }),
  ping: () => ({}),
};
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const known = answers[method];
  const body = known ? { result: known(params ?? {}) } : { error: { code: -32601, message: 'no such method' } };
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...body }) + '\\n');
});
`;

describe.skipIf(cli === null)('the MCP servers of an agent', () => {
  const window = new Window();
  let stage: Stage;
  let model: Model;
  let id = '';

  beforeAll(async () => {
    if (cli === null) return;
    ({ stage, model } = await realStage(cli, SCRIPT));
    await window.open();
    const file = join(stage.folder, 'notes.cjs');
    writeFileSync(file, SERVER);
    const mcp_servers = {
      notes: { command: process.execPath, args: [file] },
      broken: { command: join(stage.folder, 'is-not-there'), args: [] },
    };
    id = await stage.begin('Take notes, please.', { mcp_servers });
    // The agent stays where it asks: its servers are there meanwhile.
    await openOf(stage, id);
  }, 60_000);
  afterAll(async () => {
    await window.close();
    await stage?.end();
    model?.kill();
  }, 60_000);

  const folder = process.env['COUNTERSIGN_PICTURES'];
  const row = (page: Page, name: string) => page.getByRole('listitem').filter({ has: page.getByText(name, { exact: true }) });

  it.each([['desk', {}] as const, ['phone', PHONE] as const])('are shown, switched off and on, on a %s', async (size, how) => {
    const context = await window.context(how);
    const { page, faults } = await signedIn(stage, context);
    await page.goto(`${stage.url}/s/${id}`);
    if (size === 'phone') await page.getByRole('button', { name: 'Panel' }).tap();
    await page.getByRole('heading', { name: /^MCP servers/ }).waitFor();
    await row(page, 'notes').getByText('Connected, 1 tool').waitFor();
    await row(page, 'broken').getByText('Failed').waitFor();
    await row(page, 'broken').getByRole('button', { name: 'Reconnect' }).waitFor();
    await row(page, 'notes').scrollIntoViewIfNeeded();
    if (folder) await page.screenshot({ path: join(folder, `servers-${size}.png`) });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(page.viewportSize()?.width);
    await row(page, 'notes').getByRole('button', { name: 'Switch off' }).click();
    await row(page, 'notes').getByText('Off', { exact: true }).waitFor();
    await row(page, 'notes').getByRole('button', { name: 'Switch on' }).click();
    await row(page, 'notes').getByText('Connected, 1 tool').waitFor();
    expect(faults).toEqual([]);
    await context.close();
  });
});
