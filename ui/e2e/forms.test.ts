// Forms of MCP servers and dialogs of the CLI: filled in, declined, closed, taken back. What the agent hears is what the scripted
// one waits for: where it hears something else it ends with an error, and never says the words that each test waits for.
import { describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import type { Approval } from '../src/api/types';
import { become, onAnswering, openOf, visit } from './answering';
import { Window, type Stage } from './stage';

const FORM = {
  type: 'object',
  required: ['name', 'size', 'level'],
  properties: {
    name: { type: 'string', title: 'Name', minLength: 2, description: 'As on the door.' },
    mail: { type: 'string', title: 'Mail', format: 'email' },
    site: { type: 'string', title: 'Site', format: 'uri' },
    note: { type: 'string', title: 'Note', maxLength: 2000 },
    size: { type: 'integer', title: 'Size', minimum: 1, maximum: 9 },
    share: { type: 'number', title: 'Share', default: 0.5 },
    level: { type: 'string', title: 'Level', enum: ['lo', 'hi'], enumNames: ['Low', 'High'] },
    month: { type: 'string', title: 'Month', enum: ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul'] },
    tags: { type: 'array', title: 'Tags', items: { type: 'string', enum: ['red', 'blue', 'green'] } },
    news: { type: 'boolean', title: 'Send news', default: true },
    hidden: { type: 'boolean', title: 'Keep it hidden' },
  },
};
const FILLED = {
  name: 'Ada',
  note: 'One line.\nAnother.',
  size: 4,
  share: 0.25,
  level: 'hi',
  month: 'feb',
  tags: ['red', 'green'],
  news: false,
  hidden: true,
};

const hears = (reply: unknown) => `expect control_response ${JSON.stringify({ response: { response: reply } })} within 60s`;
const SCENARIO = `
turn always when "the form"
  elicit library "Who are you?" ${JSON.stringify(FORM)} nowait
  ${hears({ action: 'accept', content: FILLED })}
  say "Thank you, Ada."
turn always when "to decline"
  elicit library "Who are you?" {"type":"object","properties":{"name":{"type":"string"}}} nowait
  ${hears({ action: 'decline' })}
  say "Then not."
turn always when "nothing but a yes"
  elicit library "May I go on?" {"type":"object","properties":{}} nowait
  ${hears({ action: 'accept', content: {} })}
  say "I go on."
turn always when "the page"
  elicit library "Sign in there." nowait with {"mode":"url","url":"https://library.example/sign-in?x=1","elicitation_id":"e-1"}
  ${hears({ action: 'accept' })}
  say "You were there."
turn always when "the bad address"
  elicit library "Sign in there." nowait with {"mode":"url","url":"javascript:alert(1)","elicitation_id":"e-2"}
  ${hears({ action: 'decline' })}
  say "No page."
turn always when "taken back"
  elicit library "Quick?" {"type":"object","properties":{"name":{"type":"string"}}} as quick nowait
  wait user
  cancel quick
  say "Never mind."
turn always when "the dialog"
  dialog refusal_fallback_prompt {"original_model":"one","fallback_model":"other"} nowait
  ${hears({ behavior: 'completed', result: 'retry_fallback' })}
  say "The other model it is."
turn always when "to close"
  dialog refusal_fallback_prompt {"original_model":"one","fallback_model":"other"} nowait
  ${hears({ behavior: 'cancelled' })}
  say "It was closed."
turn always when "unheard of"
  dialog of_tomorrow {"title":"Where to?"} nowait
  ${hears({ behavior: 'cancelled' })}
  say "Closed unseen."
turn always
  say "I heard you."
`;

let stage: Stage;
let cwd: string;
let page: Page;
onAnswering(new Window(), (on) => ({ stage, cwd, page } = on), SCENARIO);

/** A question of this kind, with the focus on its card. */
async function asked(prompt: string, kind: Approval['kind']): Promise<Approval> {
  const one = await openOf(stage, await stage.begin(prompt, { cwd }), kind);
  await visit(page, stage, one.id);
  return one;
}

/** The agent has heard what it waited for. */
async function went(one: Approval, words: string): Promise<Record<string, unknown>> {
  const after = await become(stage, one.id, 'settled');
  await page.goto(`${stage.url}/s/${one.session}`);
  await page.locator('article', { hasText: words }).first().waitFor();
  return after.decided?.decision as Record<string, unknown>;
}

const isOpen = async (one: Approval) => (await stage.api<Approval>('GET', `/approvals/${one.id}`)).life === 'open';

describe('a form of a server', () => {
  it('is sent once it has what it must have, in the kinds it wants', async () => {
    const one = await asked('Show me the form.', 'elicitation');
    await page.getByRole('heading', { name: 'library asks for something' }).waitFor();
    await page.getByText('Who are you?').first().waitFor();

    const card = page.locator(`[data-approval="${one.id}"]`);
    const field = (name: string) => card.getByRole('textbox', { name });

    // What is missing or wrong is said, and nothing is sent.
    await page.keyboard.press('Control+Enter');
    await card.getByText('Needed.').nth(2).waitFor();
    expect(await card.getByText('Needed.').count()).toBe(3);
    await field('Name').fill('A');
    await field('Size').fill('10');
    await field('Mail').fill('nobody');
    await field('Site').fill('somewhere');
    for (const words of ['At least 2 letters.', 'At most 9.', 'An address with an @.', 'A whole address']) {
      await card.getByText(words).waitFor();
    }
    await page.keyboard.press('Control+Enter');
    expect(await isOpen(one)).toBe(true);

    await field('Name').fill('Ada');
    await field('Mail').fill('');
    await field('Site').fill('');
    await field('Note').fill('One line.\nAnother.');
    await field('Size').fill('4');
    await field('Share').fill('0.25');
    await card.getByRole('radio', { name: 'High' }).check();
    await card.getByRole('combobox', { name: 'Month' }).selectOption('feb');
    await card.getByRole('checkbox', { name: 'red' }).check();
    await card.getByRole('checkbox', { name: 'green' }).check();
    await card.getByRole('checkbox', { name: 'Send news' }).uncheck();
    await card.getByRole('checkbox', { name: 'Keep it hidden' }).check();
    await page.keyboard.press('Control+Enter');
    expect(await went(one, 'Thank you, Ada.')).toEqual({ decision: 'answer', answers: FILLED });
  });

  it('is declined', async () => {
    const one = await asked('A form to decline.', 'elicitation');
    await page.getByRole('button', { name: 'Decline' }).click();
    expect(await went(one, 'Then not.')).toMatchObject({ decision: 'decline' });
  });

  it('that asks for nothing but a yes says so', async () => {
    const one = await asked('I want nothing but a yes.', 'elicitation');
    await page.getByText('It asks for nothing but a yes.').waitFor();
    await page.getByRole('button', { name: /^Send/ }).click();
    expect(await went(one, 'I go on.')).toEqual({ decision: 'answer', answers: {} });
  });

  it('is answered in the page of its session, too', async () => {
    const session = await stage.begin('A form to decline.', { cwd });
    await openOf(stage, session, 'elicitation');
    await page.goto(`${stage.url}/s/${session}`);
    await page.getByRole('main').getByRole('button', { name: 'Decline' }).click();
    await page.locator('article', { hasText: 'Then not.' }).first().waitFor();
  });

  it('goes away when the agent takes it back', async () => {
    const one = await asked('A form that is taken back.', 'elicitation');
    await stage.api('POST', `/sessions/${one.session}/messages`, { text: 'Go on.' });
    const queue = await stage.api<{ id: string }[]>('GET', `/sessions/${one.session}/queue`);
    await stage.api('POST', `/sessions/${one.session}/queue/${queue[0]?.id}/send-now`);
    await page.getByText('Withdrawn by the agent').waitFor();
    await page.getByText('The agent no longer needs an answer. Nothing ran.').waitFor();
    expect(await page.locator(`[data-approval="${one.id}"]`).getByRole('button').count()).toBe(0);
  });
});

describe('a page that a server wants opened', () => {
  it('is shown with its whole address, opened elsewhere, and said to be done', async () => {
    const one = await asked('Show me the page.', 'elicitation');
    await page.getByRole('heading', { name: 'library wants you to open a page' }).waitFor();
    await page.getByText('https://library.example/sign-in?x=1', { exact: true }).waitFor();
    const link = page.getByRole('link', { name: 'Open library.example' });
    expect(await link.getAttribute('target')).toBe('_blank');
    expect(await link.getAttribute('rel')).toContain('noopener');
    expect(await link.getAttribute('href')).toBe('https://library.example/sign-in?x=1');
    await page.getByRole('button', { name: /^I did it/ }).click();
    expect(await went(one, 'You were there.')).toMatchObject({ decision: 'answer' });
  });

  it('that is not of the web can only be declined', async () => {
    const one = await asked('Show me the bad address.', 'elicitation');
    const card = page.locator(`[data-approval="${one.id}"]`);
    await card.getByText('it is not of the web').waitFor();
    expect(await card.locator('a[target=_blank]').count()).toBe(0);
    expect(await card.getByRole('button').allInnerTexts()).toEqual(['Decline']);
    // Not by the key that sends a form either.
    await page.keyboard.press('Control+Enter');
    await card.getByRole('button', { name: 'Decline' }).click();
    expect(await went(one, 'No page.')).toMatchObject({ decision: 'decline' });
  });
});

describe('a dialog of the CLI', () => {
  it('is answered by the key of a choice', async () => {
    const one = await asked('Show me the dialog.', 'dialog');
    await page.getByRole('button', { name: /^Try again with the other model/ }).waitFor();
    await page.keyboard.press('1');
    expect(await went(one, 'The other model it is.')).toEqual({ decision: 'answer', answers: { choice: 'retry_fallback' } });
  });

  it('is closed', async () => {
    const one = await asked('A dialog to close.', 'dialog');
    await page.getByRole('button', { name: 'Close it' }).click();
    expect(await went(one, 'It was closed.')).toMatchObject({ decision: 'decline' });
  });

  it('that the page does not know is shown as it came, and can only be closed', async () => {
    const one = await asked('Something unheard of.', 'dialog');
    const card = page.locator(`[data-approval="${one.id}"]`);
    await card.getByText('"title": "Where to?"').waitFor();
    expect(await card.getByRole('button').allInnerTexts()).toEqual(['Close it']);
    await card.getByRole('button', { name: 'Close it' }).click();
    expect(await went(one, 'Closed unseen.')).toMatchObject({ decision: 'decline' });
  });
});
