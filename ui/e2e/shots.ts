// The pictures of docs/img: each main screen on a desk and on a phone, light and dark, of agents at work. Run by `cargo xtask screenshots`.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { BrowserContext } from 'playwright-core';
import { PHONE, Stage, Window, signedIn } from './stage';

const here = dirname(fileURLToPath(import.meta.url));
const pictures = process.env['COUNTERSIGN_SHOTS'] ?? join(here, '../../docs/img');
const DESK = { viewport: { width: 1440, height: 900 } };
const SIZES = { desk: DESK, phone: { ...PHONE, deviceScaleFactor: 1 } };
/** A folder with a name that can be read in a picture. */
const project = join(tmpdir(), 'payments-api');
/** How long ago it all was, in the pictures. */
const AWAY = 7 * 60_000;
const window = new Window();
let stage: Stage;
let empty: Stage;
const ids: Record<string, string> = {};

interface Approval {
  id: string;
  session: string;
  tool: string;
  kind: string;
  digest: string;
}

/** Rules that somebody has made, for the pictures of rules and of who decided. */
const RULES = [
  { effect: 'deny', rule: 'Bash(git push --force:*)', scope: 'always', note: 'Nobody rewrites what others have' },
  { effect: 'allow', rule: 'Bash(npm run test:unit:*)', scope: 'repository', repository: project, note: 'Unit tests touch nothing' },
  { effect: 'ask', rule: 'Bash(psql:*)', scope: 'repository', repository: project },
  { effect: 'allow', rule: 'WebFetch(domain:postgresql.org)', scope: 'repository', repository: project },
];

const open = async () => (await stage.api<{ items: Approval[] }>('GET', '/approvals?state=open')).items;

const idle = (session: string) =>
  stage.until('the turn is over', async () => (await stage.api<{ state: string }>('GET', `/sessions/${session}`)).state === 'idle');
const say = (session: string, text: string) => stage.api('POST', `/sessions/${session}/messages`, { text });

/** Sends the plan back once, with a comment, and comments on a line of the next version. */
async function plan(session: string): Promise<string> {
  const first = await upTo(session, (one) => one.kind === 'plan');
  const asked = (await open()).find((one) => one.id === first);
  await stage.api('POST', `/approvals/${first}/decision`, {
    saw: asked?.digest,
    decision: 'plan',
    choice: 'keep-planning',
    comments: [{ line: 9, text: 'Two of us would rotate at once. Is there a lock?' }],
  });
  const next = await upTo(session, (one) => one.kind === 'plan' && one.id !== first);
  const draft = 'Ninety days are two of our releases. Make it 120.';
  await stage.api('PUT', `/plans/${next}/comments`, [{ line: 10, text: draft }]);
  return next;
}

/** Allows what a session asks, until it asks for this. */
async function upTo(session: string, wanted: (one: Approval) => boolean): Promise<string> {
  return stage.until('the question of the picture', async () => {
    const one = (await open()).find((it) => it.session === session);
    if (!one) return null;
    if (wanted(one)) return one.id;
    await stage.api('POST', `/approvals/${one.id}/decision`, { saw: one.digest, decision: 'allow' });
    return null;
  });
}

const WANTED = 'Refunds that the mobile app sends again are paid twice. Add idempotency keys to POST /refunds, with tests.';
const SOURCE = `export async function retrySettlement(batch: Batch, cutoff: number) {
  if (Date.now() > cutoff) return 'expired';
  await attempt(batch);
  return Date.now() > cutoff ? 'expired' : 'retrying';
}
`;

beforeAll(async () => {
  await window.open();
  empty = await new Stage().start();
  stage = await new Stage({ scenario: join(here, 'shots.scenario') }).start();
  mkdirSync(join(project, 'src'), { recursive: true });
  writeFileSync(join(project, 'src/retry.ts'), SOURCE);
  for (const rule of RULES) await stage.api('POST', '/rules', rule);
  const begin = async (name: string, prompt: string, more = {}) =>
    (ids[name] = await stage.begin(prompt, { cwd: project, name: prompt.split(':')[0], ...more }));
  await begin('idle', 'Why does reconciliation drift?');
  await begin('driver', 'Postgres driver 8.13: clean up first, the driver needs it');
  await upTo(ids['driver'] ?? '', (one) => one.tool === 'Bash');
  await begin('currencies', 'Backfill payout currencies: ask me about currencies');
  await begin('signatures', 'Webhook signatures v2: plan the signatures');
  await begin('refunds', 'Idempotency keys for refunds: refunds are paid twice');
  await begin('image', 'Smaller worker image: make the image smaller');
  const flaky = await begin('flaky', 'Fix the flaky settlement test: which tests retry a settlement?', { budget_usd: 5 });
  await idle(flaky);
  await say(flaky, 'It is flaky on CI, about one run in three. Find the cause, fix it, prove it with 50 repeats.');
  ids['plan'] = await plan(ids['signatures'] ?? '');
  ids['question'] = await upTo(ids['currencies'] ?? '', (one) => one.kind === 'questions');
  ids['card'] = await upTo(flaky, (one) => one.tool === 'Bash');
  await say(flaky, 'Do the same for the two suspects in ledger/close.test.ts');
  await say(flaky, 'Then open a draft pull request');
  await upTo(ids['refunds'] ?? '', (one) => one.tool === 'Write');
}, 120_000);

afterAll(async () => {
  await window.close();
  await Promise.all([stage.end(), empty.end()]);
  rmSync(project, { recursive: true, force: true });
}, 60_000);

const SCREENS: [string, string][] = [
  ['inbox', '/inbox'],
  ['session', '/s/:flaky'],
  ['plan', '/s/:signatures/plan/:plan'],
  ['question', '/inbox/:question'],
  ['new', '/new'],
  ['insights', '/insights?session=:flaky'],
  ['rules', '/rules'],
  ['audit', '/audit'],
  ['search', '/search?q=rounding'],
  ['settings', '/settings'],
];
const fill = (path: string) => path.replace(/:(\w+)/g, (_, name: string) => ids[name] ?? '');

async function take(context: BrowserContext, on: Stage, screens: [string, string][], ending: string): Promise<void> {
  const { page, faults } = await signedIn(on, context);
  for (const [name, path] of screens) {
    // As somebody sees them who was out for coffee. Lanes are drawn up to now, and would be nothing but that wait.
    await page.clock.setSystemTime(Date.now() + (name === 'insights' ? 0 : AWAY));
    await page.goto(on.url + path);
    await page.getByRole('heading').first().waitFor();
    if (name === 'new') await page.getByLabel('What should it do?').fill(WANTED);
    // Ages and arcs move by themselves; everything else has come to rest.
    await page.evaluate(() => document.fonts.ready);
    await page.waitForTimeout(900);
    await page.screenshot({ path: join(pictures, `${name}-${ending}.png`), animations: 'disabled' });
  }
  expect(faults).toEqual([]);
}

it.each(
  Object.keys(SIZES).flatMap((size) => (['light', 'dark'] as const).map((scheme) => [size as keyof typeof SIZES, scheme] as const)),
)('pictures on a %s, %s', async (size, scheme) => {
  const context = await window.context({ ...SIZES[size], colorScheme: scheme });
  const screens = SCREENS.map(([name, path]): [string, string] => [name, fill(path)]);
  await take(context, stage, size === 'phone' ? [...screens, ['sessions', '/sessions']] : screens, `${size}-${scheme}`);
  await context.close();
  const fresh = await window.context({ ...SIZES[size], colorScheme: scheme });
  await take(fresh, empty, [['start', '/']], `${size}-${scheme}`);
  await fresh.close();
}, 120_000);
