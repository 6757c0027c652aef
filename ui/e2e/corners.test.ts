// Corners of the page: what is typed there is neither lost nor a trap, and nothing stands there that the server does not have.
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { onAnswering } from './answering';
import { Window, type Stage } from './stage';

let stage: Stage;
let cwd: string;
let page: Page;
const window = new Window();
onAnswering(window, (on) => ({ stage, cwd, page } = on));

const problem = (detail: string) => ({
  status: 422,
  contentType: 'application/problem+json',
  body: JSON.stringify({ type: 'about:blank', title: 'Not so', status: 422, code: 'invalid', detail }),
});

describe('the page of search', () => {
  const words = () => page.getByPlaceholder('Words in all transcripts');
  const shows = (wanted: string) => stage.until(`the field has ${wanted}`, async () => (await words().inputValue()) === wanted);
  const asks = (wanted: string) => page.waitForURL((url) => url.pathname === '/search' && (url.searchParams.get('q') ?? '') === wanted);

  it('takes an apostrophe, typed or from the address, and lets one go on from there', async () => {
    await page.goto(`${stage.url}/search?q=it%27s`);
    await shows("it's");
    await words().fill('');
    await asks('');
    await words().pressSequentially("don't");
    await asks("don't");
    await page.getByText('Nothing for ‘don\'t’').waitFor();
    await page.locator('a[href="/settings"]').first().click();
    await page.waitForURL((url) => url.pathname === '/settings');
    await words().waitFor({ state: 'detached' });
  });

  it('follows the palette and the way back, and leaves what is typed as it is', async () => {
    await page.goto(`${stage.url}/search?q=first`);
    await shows('first');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Go to, find or do' }).fill('second');
    await page.getByRole('option', { name: /Search transcripts for “second”/ }).click();
    await shows('second');
    await asks('second');
    await page.getByText('Nothing for ‘second’').waitFor();
    await page.goBack();
    await shows('first');
    await words().press('End');
    await words().pressSequentially('  of all ');
    await asks('first  of all');
    expect(await words().inputValue()).toBe('first  of all ');
  });

  it('is as wide as the window, however long a name is', async () => {
    const session = await stage.begin('say the word heliotrope', { cwd });
    await stage.api('PATCH', `/sessions/${session}`, { name: 'n'.repeat(190) });
    await stage.until('the words are found', async () => {
      const places = await stage.api<{ session_name: string }[]>('GET', '/search?q=heliotrope');
      return places.some((one) => one.session_name.length === 190);
    });
    const overflow = () =>
      page.evaluate(() => {
        const all = [document.documentElement, ...document.querySelectorAll('main, main .scroll, main .page')];
        return all.filter((one) => one.scrollWidth > one.clientWidth).map((one) => `${one.tagName} ${one.className} ${one.scrollWidth}`);
      });
    for (const width of [1440, 360]) {
      await page.setViewportSize({ width, height: 800 });
      await page.goto(`${stage.url}/search?q=heliotrope`);
      await page.locator('a.hit', { hasText: 'n'.repeat(190) }).first().waitFor();
      expect(await overflow(), `${width} px`).toEqual([]);
      await words().fill('x'.repeat(190));
      await page.getByText(/^Nothing for ‘x/).waitFor();
      expect(await overflow(), `${width} px, nothing found`).toEqual([]);
    }
  });
});

describe('a call that is tried', () => {
  const section = () => page.locator('section', { has: page.getByRole('heading', { name: 'Try a call' }) });
  const verdict = () => section().getByText(/^(It would run|You would be asked|It would not run)$/);
  const ask = () => section().getByRole('button', { name: 'Ask' }).click();

  it('has its own verdict, and none when it changes', async () => {
    await page.goto(`${stage.url}/rules`);
    const changes = [
      () => section().getByLabel('What the call names').fill('rm -rf /'),
      () => section().getByLabel('In which folder').fill('/'),
      () => section().getByLabel('Tool').selectOption('Read'),
    ];
    await section().getByLabel('What the call names').fill('ls');
    for (const change of changes) {
      await ask();
      await verdict().waitFor();
      await change();
      await verdict().waitFor({ state: 'detached', timeout: 5_000 });
    }
  });

  it('gets no verdict that was asked for before it was changed', async () => {
    let letGo = (): void => {};
    const held = new Promise<void>((done) => (letGo = done));
    await page.route('**/api/v1/rules/explain', async (route) => {
      if (route.request().postData()?.includes('first')) await held;
      await route.continue();
    });
    await page.goto(`${stage.url}/rules`);
    await section().getByLabel('What the call names').fill('echo first');
    const asked = page.waitForRequest('**/api/v1/rules/explain');
    const told = page.waitForResponse((one) => one.url().endsWith('/rules/explain') && Boolean(one.request().postData()?.includes('first')));
    await ask();
    await asked;
    await section().getByLabel('What the call names').fill('rm -rf /');
    await ask();
    await verdict().waitFor();
    const before = await section().innerText();
    letGo();
    await (await told).finished();
    // What was heard is drawn by the second frame.
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    expect(await section().innerText()).toBe(before);
  });
});

describe('what the server does', () => {
  const section = () => page.locator('section', { has: page.getByRole('heading', { name: 'The server' }) });
  const agents = () => section().getByLabel('Maximum number of agents');
  const tick = () => section().getByLabel('Continue turns that were cut off when this computer or the server crashed');
  interface Held {
    max_agents: number;
    resumes_cut_off: boolean;
    asks_again_after_crash: boolean;
  }
  const held = () => stage.api<Held>('GET', '/settings');

  /** What the controls show. */
  const shown = async () => ({
    choices: await section().locator('select').evaluateAll((all) => all.map((one) => (one as HTMLSelectElement).value)),
    agents: await agents().inputValue(),
    tick: await tick().isChecked(),
  });

  it('is at most a whole number of agents, which the page says before it asks', async () => {
    const sent: string[] = [];
    page.on('request', (one) => one.method() === 'PATCH' && sent.push(one.url()));
    await page.goto(`${stage.url}/settings`);
    const before = await agents().inputValue();
    for (const bad of ['2.5', '-3', '0', '1001', '']) {
      await agents().fill(bad);
      await agents().press('Tab');
      await section().getByText('Not saved: enter a whole number from 1 to 1000.').waitFor();
      expect(await agents().inputValue(), bad).toBe(before);
    }
    expect(sent).toEqual([]);
    await agents().fill('1000');
    await agents().press('Tab');
    await stage.until('it is kept', async () => (await held()).max_agents === 1000);
    await page.getByText('Kept.').first().waitFor();
    expect(await section().getByText(/Not saved/).count()).toBe(0);
    expect(await agents().inputValue()).toBe('1000');
    await stage.api('PATCH', '/settings', { max_agents: Number(before) });
  });

  it('asks an agent that crashes again only where that is ticked', async () => {
    await page.goto(`${stage.url}/settings`);
    const again = section().getByLabel('Continue a turn when its agent crashes, once');
    await again.waitFor();
    expect(await again.isChecked()).toBe(false);
    await again.click();
    await stage.until('it is kept', async () => (await held()).asks_again_after_crash);
    await page.reload();
    await stage.until('it is ticked', () => again.isChecked());
    await stage.api('PATCH', '/settings', { asks_again_after_crash: false });
  });

  for (const [how, says] of [
    ['refused', 'Not this one.'],
    ['away', 'The server is not responding.'],
  ] as const) {
    it(`is shown as it is when a change is ${how === 'away' ? 'not heard' : how}`, async () => {
      await page.goto(`${stage.url}/settings`);
      await agents().waitFor();
      const before = await shown();
      await page.route('**/api/v1/settings', async (route) => {
        if (how === 'away') await route.abort('connectionrefused');
        else if (route.request().method() === 'PATCH') await route.fulfill(problem('not this one'));
        else await route.continue();
      });
      const chooseOther = async (nth: number) => {
        const select = section().locator('select').nth(nth);
        const chosen = await select.evaluate((one) => (one as HTMLSelectElement).selectedIndex);
        await select.selectOption({ index: chosen === 1 ? 2 : 1 });
      };
      const changes = [
        () => chooseOther(0),
        () => chooseOther(1),
        () => agents().fill('7').then(() => agents().press('Tab')),
        () => tick().click(),
      ];
      for (const change of changes) {
        await change();
        await section().getByRole('alert').getByText(says).waitFor();
        await stage.until('the controls show what the server has', async () => JSON.stringify(await shown()) === JSON.stringify(before), 5_000);
      }
    });
  }
});

describe('a login that may not do everything', () => {
  /** A page of somebody who may only watch. */
  async function watching(name: string, look: (guest: Page) => Promise<void>): Promise<void> {
    const made = await stage.api<{ id: string; token: string }>('POST', '/tokens', { name, scope: 'read' });
    const context = await window.context();
    try {
      const guest = await context.newPage();
      await guest.goto(stage.url);
      await guest.getByLabel('Or a token').fill(made.token);
      await guest.getByRole('button', { name: 'Sign in' }).click();
      // The page of those who are not signed in has a main part as well.
      await guest.locator('.foot', { hasText: 'Live' }).waitFor();
      await look(guest);
    } finally {
      await context.close();
      await stage.api('DELETE', `/tokens/${made.id}`);
    }
  }

  it('is greeted by no alert on the page of settings', () =>
    watching('watcher of settings', async (guest) => {
      const asked: string[] = [];
      guest.on('request', (one) => asked.push(new URL(one.url()).pathname));
      await guest.goto(`${stage.url}/settings`);
      const tokens = guest.locator('section', { has: guest.getByRole('heading', { name: 'Tokens' }) });
      await tokens.getByText('You need full access to see or create tokens.').waitFor();
      await guest.getByLabel('Maximum number of agents').waitFor();
      expect(asked).not.toContain('/api/v1/tokens');
      expect(await tokens.getByRole('alert').count()).toBe(0);
    }));

  it('exports no session, and sees why', async () => {
    const session = await stage.begin('hello', { cwd });
    await watching('watcher of a session', async (guest) => {
      await guest.goto(`${stage.url}/s/${session}`);
      await guest.getByRole('button', { name: 'More', exact: true }).first().click();
      const item = guest.getByRole('menuitem', { name: /^Export/ });
      await item.getByText('You need a token with full scope').waitFor();
      expect(await item.getAttribute('aria-disabled')).toBe('true');
    });
  });
});

describe('a token', () => {
  it('says of a token when it ends', async () => {
    const make = (name: string, more = {}) => stage.api<{ id: string }>('POST', '/tokens', { name, scope: 'read', ...more });
    const made = [await make('for a while', { expires: (Date.now() + 30 * 86_400_000) * 1000 }), await make('lasting')];
    await page.goto(`${stage.url}/settings`);
    const line = (name: string) => page.locator('li', { has: page.getByText(name, { exact: true }) });
    await line('for a while').getByText('ends in 30 days').waitFor();
    await line('lasting').getByText('never expires').waitFor();
    for (const one of made) await stage.api('DELETE', `/tokens/${one.id}`);
  });
});

describe('a new rule', () => {
  it('says what is missing of its place, there, before it is sent', async () => {
    const sent: string[] = [];
    page.on('request', (one) => one.method() === 'POST' && one.url().endsWith('/api/v1/rules') && sent.push(one.url()));
    await stage.begin('hello', { cwd, name: 'A place for rules' });
    await page.goto(`${stage.url}/rules`);
    await page.getByRole('button', { name: 'New rule' }).click();
    const dialog = page.getByRole('dialog', { name: 'New rule' });
    const add = dialog.getByRole('button', { name: /^Add the rule/ });
    const at = (label: string, words: string | RegExp) => dialog.locator('.f', { has: page.getByLabel(label, { exact: true }) }).getByText(words).waitFor();
    await dialog.getByLabel('Which calls').fill('Bash(true)');
    await dialog.getByRole('radio', { name: 'A session' }).check();
    expect(await dialog.getByText('Choose the session that it holds in.').count()).toBe(0);
    await add.click();
    await at('Session', 'Choose the session that it holds in.');
    await dialog.getByRole('radio', { name: 'A repository' }).check();
    await add.click();
    await at('Folder', 'Name the folder that it holds in.');
    expect(sent).toEqual([]);
    await dialog.getByLabel('Folder').fill('/not/there');
    await add.click();
    await at('Folder', /^\/not\/there is no folder/);
    await dialog.getByRole('radio', { name: 'A session' }).check();
    await dialog.getByLabel('Session', { exact: true }).selectOption({ label: 'A place for rules' });
    await add.click();
    await dialog.waitFor({ state: 'detached' });
    expect(sent).toHaveLength(2);
    for (const one of await stage.api<{ id: number }[]>('GET', '/rules')) await stage.api('DELETE', `/rules/${one.id}`);
  });
});

describe('a template', () => {
  it('that could not be kept is no trouble any more once it is', async () => {
    let isRefused = true;
    await page.route('**/api/v1/templates/*', async (route) => {
      if (isRefused) await route.fulfill(problem('not by this name'));
      else await route.continue();
    });
    await page.goto(`${stage.url}/new`);
    const dialog = page.getByRole('dialog', { name: 'New session' });
    await dialog.getByRole('button', { name: 'Templates' }).click();
    await page.getByRole('menuitem', { name: 'Save as template…' }).click();
    await dialog.getByLabel('Name of the template').fill('daily');
    await dialog.getByRole('button', { name: 'Keep', exact: true }).click();
    await dialog.getByText('Not by this name.').waitFor();
    isRefused = false;
    await dialog.getByRole('button', { name: 'Keep', exact: true }).click();
    await page.getByText('Saved as template “daily”.').first().waitFor();
    expect(await dialog.getByText('Not by this name.').count()).toBe(0);
    await stage.api('DELETE', '/templates/daily');
  });
});
