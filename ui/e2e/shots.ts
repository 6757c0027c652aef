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

const open = async () => (await stage.api<{ items: Approval[] }>('GET', '/approvals?state=open')).items;

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
  const begin = async (name: string, prompt: string, more = {}) =>
    (ids[name] = await stage.begin(prompt, { cwd: project, name: prompt.split(':')[0], ...more }));
  await begin('idle', 'Why does reconciliation drift?');
  await begin('driver', 'Postgres driver 8.13: clean up first, the driver needs it');
  await begin('currencies', 'Backfill payout currencies: ask me about currencies');
  await begin('signatures', 'Webhook signatures v2: plan the signatures');
  await begin('refunds', 'Idempotency keys for refunds: refunds are paid twice');
  await begin('image', 'Smaller worker image: make the image smaller');
  await begin('flaky', 'Fix the flaky settlement test: it is flaky on CI, about one run in three. Find the cause, fix it, prove it with 50 repeats.', { budget_usd: 5 });
  ids['plan'] = await upTo(ids['signatures'] ?? '', (one) => one.kind === 'plan');
  ids['question'] = await upTo(ids['currencies'] ?? '', (one) => one.kind === 'questions');
  let commands = 0;
  ids['card'] = await upTo(ids['flaky'] ?? '', (one) => one.tool === 'Bash' && (commands += 1) > 1);
  await upTo(ids['driver'] ?? '', (one) => one.tool === 'Bash');
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
  ['insights', '/insights'],
  ['rules', '/rules'],
  ['audit', '/audit'],
  ['search', '/search?q=rounding'],
  ['settings', '/settings'],
];
const fill = (path: string) => path.replace(/:(\w+)/g, (_, name: string) => ids[name] ?? '');

async function take(context: BrowserContext, on: Stage, screens: [string, string][], ending: string): Promise<void> {
  const { page, faults } = await signedIn(on, context);
  for (const [name, path] of screens) {
    await page.goto(on.url + path);
    await page.getByRole('heading').first().waitFor();
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
