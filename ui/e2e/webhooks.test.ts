// Webhooks on the page of settings: one is added, tested and removed there; what it tells leads to the question.
import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { onAnswering } from './answering';
import { Window, type Stage } from './stage';

interface Heard {
  event: string;
  signature: string;
  body: string;
  link: string;
}

/** Somebody who is told, and answers with `status`. */
class Receiver {
  readonly heard: Heard[] = [];
  status = 204;
  readonly #server: Server = createServer((request, response) => void this.#take(request).then(() => response.writeHead(this.status).end()));

  async #take(request: IncomingMessage): Promise<void> {
    let body = '';
    for await (const piece of request) body += String(piece);
    const { link = '' } = JSON.parse(body) as { link?: string };
    const header = (name: string) => String(request.headers[name] ?? '');
    this.heard.push({ event: header('countersign-event'), signature: header('countersign-signature'), body, link });
  }

  /** Its address, once it listens. */
  async url(): Promise<string> {
    if (!this.#server.listening) await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/a-secret-place`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }
}

let stage: Stage;
let cwd: string;
let page: Page;
let receiver: Receiver;
const window = new Window();
onAnswering(window, (on) => ({ stage, cwd, page } = on));
beforeEach(() => void (receiver = new Receiver()));
afterEach(async () => {
  for (const one of await stage.api<{ name: string }[]>('GET', '/webhooks')) await stage.api('DELETE', `/webhooks/${one.name}`);
  await receiver.close();
});

const section = () => page.locator('section', { has: page.getByRole('heading', { name: 'Webhooks' }) });
const button = (name: string | RegExp) => section().getByRole('button', { name });

async function add(name: string): Promise<string> {
  await page.goto(`${stage.url}/settings`);
  await button('Add…').click();
  await section().getByLabel('Name').fill(name);
  await section().getByLabel('Address').fill(await receiver.url());
  const secret = await section().getByLabel('Secret').inputValue();
  await button('Add').click();
  await section().getByText('Nothing sent since the daemon started.').waitFor();
  return secret;
}

/** The signature as a receiver checks it. */
function isSigned(heard: Heard, secret: string): boolean {
  const [, at, sum] = /^t=(\d+),v1=([0-9a-f]+)$/.exec(heard.signature) ?? [];
  return sum === createHmac('sha256', secret).update(`${at}.${heard.body}`).digest('hex');
}

it('is added with a secret that its receiver can check, and says that a test arrived', async () => {
  const secret = await add('team');
  const text = await section().innerText();
  expect(text).toContain('127.0.0.1');
  expect(text).not.toContain('a-secret-place');
  await button('Test').click();
  await page.getByText('The test arrived at “team”.').first().waitFor();
  await section().getByText('“a test” arrived').waitFor();
  expect(receiver.heard.map((one) => one.event)).toEqual(['test']);
  expect(isSigned(receiver.heard[0]!, secret)).toBe(true);
  expect(isSigned(receiver.heard[0]!, 'another secret, of some length')).toBe(false);
});

it('says why a test did not arrive', async () => {
  await add('team');
  receiver.status = 404;
  await button('Test').click();
  await section().getByRole('alert').getByText(/The test did not arrive at “team”: .*404/).waitFor();
  await section().getByText(/“a test” was given up .*after one try: .*404/).waitFor();
});

it('tells of a question, with a link that leads to it', async () => {
  await add('team');
  await stage.begin('run `touch asked.txt`', { cwd });
  const asked = await stage.until('the question is told', async () => receiver.heard.find((one) => one.event === 'needs_you'));
  await page.goto(asked.link);
  await page.getByText('touch asked.txt').first().waitFor();
  await page.getByRole('button', { name: /^Allow/ }).first().waitFor();
});

it('says what is missing before it is sent, and takes no name twice', async () => {
  await add('team');
  await button('Add…').click();
  await button('Add').click();
  for (const words of ['It needs a name.', 'It needs an address.']) await section().getByText(words).waitFor();
  await section().getByLabel('Name').fill('team');
  await section().getByLabel('Address').fill('chat.example.com');
  for (const words of [/That name is taken/, /Not an address/]) await section().getByText(words).waitFor();
  await section().getByLabel('What is sent').selectOption('text');
  expect(await section().getByLabel('Secret').count()).toBe(0);
  await section().getByLabel('Name').fill('chat');
  await section().getByLabel('Address').fill(await receiver.url());
  await button('Add').click();
  await section().locator('li b', { hasText: 'chat' }).waitFor();
  const all = await stage.api<{ name: string; is_signed: boolean }[]>('GET', '/webhooks');
  expect(all.map((one) => [one.name, one.is_signed])).toEqual([
    ['team', true],
    ['chat', false],
  ]);
});

it('is removed by a second press, not by one', async () => {
  await add('team');
  await button('Remove…').click();
  expect(await stage.api('GET', '/webhooks')).toHaveLength(1);
  await button('Click again to remove').click();
  await section().getByText('None yet.').waitFor();
  expect(await stage.api('GET', '/webhooks')).toEqual([]);
});
