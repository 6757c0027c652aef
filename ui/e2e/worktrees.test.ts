// Sessions in worktrees on the page: the repository's name everywhere, a title and a menu that can be reached, where a fork works, and
// what goes along into the trash. No page scrolls sideways, on a desk or a phone.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { openOf, visit } from './answering';
import { PHONE, Stage, Window, signedIn } from './stage';

const here = dirname(fileURLToPath(import.meta.url));
const window = new Window();
const stage = new Stage({ scenario: join(here, 'worktrees.scenario') });
const NAME = 'Rewrite the reconciliation of ledgers so that it never counts a settlement twice';
let repository = '';
let session = '';
const ids: Record<string, string> = {};

interface View {
  id: string;
  name: string;
  cwd: string;
  branch: string;
  state: string;
  trashed: number | null;
}

const folder = process.env['COUNTERSIGN_PICTURES'];
/** For whoever looks at the pictures. */
const picture = async (page: Page, name: string) => void (folder && (await page.screenshot({ path: join(folder, `${name}.png`) })));

const view = (id: string) => stage.api<View>('GET', `/sessions/${id}`);
const idle = (id: string) => stage.until('the turn is over', async () => (await view(id)).state === 'idle');

function git(folder: string, ...words: string[]): string {
  const who = ['-c', 'user.name=A', '-c', 'user.email=a@example.org'];
  return execFileSync('git', [...who, ...words], { cwd: folder, env: { PATH: '/usr/bin:/bin', HOME: stage.home }, encoding: 'utf8' });
}

beforeAll(async () => {
  await window.open();
  await stage.start();
  repository = join(stage.folder, 'payments-service');
  mkdirSync(repository, { recursive: true });
  writeFileSync(join(repository, 'readme'), 'one\n');
  git(repository, 'init', '-q', '-b', 'main');
  git(repository, 'add', '.');
  git(repository, 'commit', '-qm', 'first');
  session = await stage.begin('Begin', { cwd: repository, name: NAME, worktree: {} });
  await idle(session);
}, 60_000);

afterAll(async () => {
  await window.close();
  await stage.end();
}, 60_000);

const bar = (page: Page) => page.getByRole('main').getByRole('banner').or(page.locator('main header.bar')).first();

async function menu(page: Page, item: RegExp) {
  await page.getByRole('button', { name: 'More' }).first().click();
  await page.getByRole('menuitem', { name: item }).first().click();
}

describe('a session in a worktree', () => {
  it('shows its title and its menu on a desk, and is called by its repository', async () => {
    const context = await window.context();
    const { page } = await signedIn(stage, context);
    await page.goto(`${stage.url}/s/${session}`);
    await page.locator('main h1').waitFor();
    const title = await page.locator('main h1').boundingBox();
    expect(title?.width).toBeGreaterThan(200);
    const more = await page.getByRole('button', { name: 'More' }).first().boundingBox();
    expect((more?.x ?? 9999) + (more?.width ?? 0)).toBeLessThanOrEqual(1440);
    expect(await bar(page).innerText()).toContain('payments-service');
    const row = page.getByRole('region', { name: 'Sessions' }).getByRole('link', { name: new RegExp(NAME) });
    expect(await row.innerText()).toContain('payments-service');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('payments');
    await page.getByRole('option', { name: /payments-service/ }).first().waitFor();
    await context.close();
  });

  it('stands below its repository in a list that is grouped so, also when the page is opened again', async () => {
    const context = await window.context();
    const { page } = await signedIn(stage, context);
    await page.getByRole('heading', { name: /^Idle/ }).waitFor();
    // What is chosen is shown at once, although the pointer is in the list, which holds its order for a while: here for ever.
    await page.clock.pauseAt(Date.now() + 60_000);
    await page.getByRole('button', { name: 'By repository' }).click();
    await page.getByRole('heading', { name: /^payments-service/ }).waitFor();
    await page.clock.resume();
    await page.reload();
    await page.getByRole('heading', { name: /^payments-service/ }).waitFor();
    await page.getByRole('button', { name: 'By state' }).click();
    await page.getByRole('heading', { name: /^Idle/ }).waitFor();
    await context.close();
  });

  it.each([['desk', {}] as const, ['phone', PHONE] as const])('is called by its repository in the inbox and on its card, on a %s', async (size, how) => {
    const names = [`First in a worktree, ${size}`, `Second in a worktree, ${size}`];
    const begun = [];
    for (const name of names) begun.push(await stage.begin('asks', { cwd: repository, name, worktree: {} }));
    const asked = [];
    for (const id of begun) asked.push(await openOf(stage, id));
    const context = await window.context(how);
    const { page, faults } = await signedIn(stage, context);
    await page.goto(`${stage.url}/inbox`);
    const row = page.locator('.qrow').filter({ hasText: names[0] ?? '' });
    await row.waitFor();
    const { branch, cwd } = await view(begun[0] ?? '');
    await row.locator('.from').getByText(`${names[0]} · payments-service · main`, { exact: true }).waitFor();
    expect(await row.innerText()).not.toContain(cwd.split('/').at(-1));
    await picture(page, `worktree-row-${size}`);
    await visit(page, stage, asked[0]?.id ?? '');
    const facts = page.locator(`[data-approval="${asked[0]?.id}"] .ask-facts`).filter({ hasText: 'worktree' }).first();
    expect((await facts.innerText()).replace(/\s+/g, ' ')).toContain(`in payments-service, worktree ${branch}`);
    await picture(page, `worktree-card-${size}`);
    expect(faults).toEqual([]);
    // One stays open and one is decided, for the pages that show such ones.
    const [first, second] = asked;
    if (first && second) {
      ids['decision'] = first.id;
      ids['approval'] = second.id;
      await stage.api('POST', `/approvals/${first.id}/decision`, { saw: first.digest, decision: 'allow' });
    }
    await context.close();
  });

  it('is forked into a worktree of its own, unless the same one is chosen', async () => {
    const context = await window.context();
    const { page, faults } = await signedIn(stage, context);
    await page.goto(`${stage.url}/s/${session}`);
    await menu(page, /^Fork/);
    await page.getByRole('radio', { name: /worktree of its own/ }).waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Fork' }).click();
    const forked = await stage.until('the fork is there', async () => {
      const { items } = await stage.api<{ items: View[] }>('GET', '/sessions');
      return items.find((one) => one.name.endsWith('(fork)'));
    });
    const old = await view(session);
    expect(forked.branch).not.toBe(old.branch);
    expect(forked.cwd).not.toBe(old.cwd);
    expect(faults).toEqual([]);
    await context.close();
  });

  it('goes into the trash with its worktree only when nothing would be lost', async () => {
    const context = await window.context();
    const { page } = await signedIn(stage, context);
    const { cwd } = await view(session);
    writeFileSync(join(cwd, 'new.txt'), 'work\n');
    await page.goto(`${stage.url}/s/${session}`);
    await menu(page, /^Move to the trash/);
    await page.getByRole('dialog').getByText(/new\.txt/).waitFor();
    expect(await page.getByRole('button', { name: 'Remove both' }).count()).toBe(0);
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    git(cwd, 'add', '.');
    git(cwd, 'commit', '-qm', 'work');
    git(repository, 'merge', '-q', (await view(session)).branch);
    await menu(page, /^Move to the trash/);
    await page.getByRole('button', { name: 'Remove both' }).click();
    await stage.until('the worktree is gone', async () => !existsSync(cwd));
    expect((await view(session)).trashed).not.toBeNull();
    await page.getByRole('button', { name: 'Undo' }).click();
    await stage.until('the worktree is back', async () => existsSync(join(cwd, 'new.txt')));
    await stage.until('the session is back', async () => (await view(session)).trashed === null);
    await context.close();
  });
});

/** A word that no line can break. */
const WIDE = 'reconciliation'.repeat(14);

const PAGES = ['/', '/sessions', '/s/:wide', '/inbox/:command', '/inbox', '/inbox/:approval', '/audit/:decision', '/s/:planner/plan/:plan', '/s/:id', '/s/:id/timeline', '/new', '/insights', '/rules', '/audit', '/search?q=begin', '/put-away', '/settings'];

/** What shows that the page itself is there, where a heading is there before it. */
const SIGNS: Record<string, string> = {
  // The long name, which nobody has opened yet.
  '/sessions': `.srow.unread:visible:has-text("${WIDE}")`,
  '/s/:wide': '.ask',
  '/inbox/:command': '.ask',
  '/inbox/:approval': '.ask',
  '/audit/:decision': '.facts .exact',
  '/s/:planner/plan/:plan': '.way',
};

it.each([['desk', {}, 1440] as const, ['phone', PHONE, 390] as const])('no page scrolls sideways on a %s', async (_, how, width) => {
  ids['id'] = session;
  if (!ids['plan']) {
    ids['planner'] = await stage.begin('plans', { cwd: repository, worktree: {}, mode: 'plan' });
    ids['plan'] = (await openOf(stage, ids['planner'], 'plan')).id;
    ids['wide'] = await stage.begin('words', { cwd: repository, worktree: {}, name: WIDE });
    ids['command'] = (await openOf(stage, ids['wide'])).id;
  }
  const context = await window.context(how);
  const { page } = await signedIn(stage, context);
  for (const path of PAGES) {
    await page.goto(stage.url + path.replace(/:(\w+)/g, (_, name: string) => ids[name] ?? `no-${name}`));
    await page.getByRole('main').getByRole('heading').first().waitFor();
    const sign = SIGNS[path];
    if (sign) await page.locator(sign).first().waitFor();
    const wide = await page.evaluate((most) => {
      const out = document.documentElement.scrollWidth > most ? ['the document scrolls'] : [];
      for (const one of document.body.querySelectorAll<HTMLElement>('*')) {
        const { left, right, width } = one.getBoundingClientRect();
        // Code keeps its lines in a frame of its own, a field moves with what is typed, and a row of filters is there to be swiped on a
        // phone.
        if (width === 0 || one.closest('pre, svg, input, .sr, .filters')) continue;
        const name = `${one.tagName}.${one.className}`;
        const { overflowX, textOverflow } = getComputedStyle(one);
        const isWider = one.scrollWidth > one.clientWidth + 1;
        if (isWider && /auto|scroll/.test(overflowX)) out.push(`${name} scrolls`);
        // What is cut off by the frame cannot be scrolled to, and is lost all the same.
        if (isWider && /hidden|clip/.test(overflowX) && textOverflow !== 'ellipsis') out.push(`${name} is cut`);
        if (left < -0.5 || right > most + 0.5) out.push(`${name} runs out of the page`);
      }
      return [...new Set(out)];
    }, width);
    expect(wide, path).toEqual([]);
  }
  await context.close();
});

it('settings are reached on a phone by touch alone', async () => {
  const context = await window.context(PHONE);
  const { page } = await signedIn(stage, context);
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Sessions' }).tap();
  await page.getByRole('main').getByRole('link', { name: 'Settings' }).tap();
  await page.getByRole('heading', { name: 'Settings' }).waitFor();
  await context.close();
});
