// Paths give way in their middle: wherever one stands, the name of the file is in sight, on a desk and on a phone.
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { expect, it } from 'vitest';
import type { Approval } from '../src/api/types';
import { become, onAnswering, openOf } from './answering';
import { PHONE, Window, signedIn, type Stage } from './stage';

const DEEP = 'src/settlements/reconciliation/of/ledgers/that/were/closed/twice/and/opened/again/by/hand/retry-handler.ts';
const SCENARIO = `
turn always when "deep"
  tool Write {"file_path":"\${cwd}/${DEEP}","content":"export {};\\n"}
  tool Write {"file_path":"\${cwd}/${DEEP}","content":"export const a = 1;\\n"}
  say "Done."
turn always
  follow
`;

let stage: Stage;
let cwd: string;
const window = new Window();
const folder = process.env['COUNTERSIGN_PICTURES'];
/** For whoever looks at the pictures. */
const picture = async (page: Page, name: string) => void (folder && (await page.screenshot({ path: join(folder, `${name}.png`) })));
onAnswering(window, (on) => ({ stage, cwd } = on), SCENARIO);
/** The end of the path is on the screen, and its middle is not. */
async function keepsItsName(inside: Locator, page: Page): Promise<void> {
  const name = inside.locator('.path .name').first();
  await name.waitFor();
  expect(await name.innerText()).toBe('/retry-handler.ts');
  const how = await name.evaluate((one) => {
    const box = one.getBoundingClientRect();
    const head = one.previousElementSibling as HTMLElement;
    return { right: box.right, isWhole: one.scrollWidth <= one.clientWidth, isCut: head.scrollWidth > head.clientWidth, clipped: box.right > (one.parentElement?.getBoundingClientRect().right ?? 0) + 1 };
  });
  expect(how).toMatchObject({ isWhole: true, isCut: true, clipped: false });
  expect(how.right).toBeLessThanOrEqual((await page.viewportSize())?.width ?? 0);
}

it.each([['desk', {}] as const, ['phone', PHONE] as const])('on a %s a row, a stamp and the last steps keep the name of a file', async (size, how) => {
  // Two that ask: the second one is a row of the inbox.
  const asked: Approval[] = [];
  for (const name of ['First', 'Second']) asked.push(await openOf(stage, await stage.begin('deep', { cwd, name })));
  const context = await window.context(how);
  const { page, faults } = await signedIn(stage, context);
  await page.goto(`${stage.url}/inbox`);
  const row = page.locator('.qrow').first();
  await keepsItsName(row, page);
  await picture(page, `paths-row-${size}`);
  if (size === 'desk') {
    await keepsItsName(page.getByRole('region', { name: 'Sessions' }).getByRole('link').first(), page);
    const led = page.getByRole('complementary', { name: 'What led here' });
    await keepsItsName(led.getByRole('listitem').last(), page);
  }
  const [{ id, digest } = { id: '', digest: '' }, other] = asked;
  await page.goto(`${stage.url}/inbox/${id}`);
  await page.locator(`[data-approval="${id}"].ask`).waitFor();
  await stage.api('POST', `/approvals/${id}/decision`, { decision: 'deny', saw: digest });
  await become(stage, id, 'settled');
  const stamp = page.locator(`[data-approval="${id}"] .stamp`);
  await keepsItsName(stamp, page);
  expect(await stamp.locator('.name').evaluate((one) => getComputedStyle(one).textDecorationLine)).toBe('line-through');
  await picture(page, `paths-stamp-${size}`);
  if (other) await stage.api('POST', `/approvals/${other.id}/decision`, { decision: 'deny', saw: other.digest, interrupt: true });
  expect(faults).toEqual([]);
  await context.close();
});

it.each([['desk', {}] as const, ['phone', PHONE] as const])('on a %s a row of the record keeps the name of a file', async (size, how) => {
  const session = await stage.begin('deep', { cwd });
  const asked = await openOf(stage, session);
  await stage.api('POST', `/approvals/${asked.id}/decision`, { decision: 'deny', saw: asked.digest, interrupt: true });
  await become(stage, asked.id, 'settled');
  const context = await window.context(how);
  const { page, faults } = await signedIn(stage, context);
  await page.goto(`${stage.url}/audit?session=${session}`);
  const call = page.locator('tr.line').first().locator('button.open code');
  await call.waitFor();
  const seen = await call.evaluate((one) => {
    const name = one.querySelector<HTMLElement>('.name') ?? (one as HTMLElement);
    const [box, cell] = [name.getBoundingClientRect(), one.closest('td')?.getBoundingClientRect()];
    return { name: name.innerText, isWhole: name.scrollWidth <= name.clientWidth, isInside: box.right <= Math.min(cell?.right ?? 0, innerWidth) + 0.5 };
  });
  await picture(page, `paths-record-${size}`);
  expect(seen).toEqual({ name: 'retry-handler.ts', isWhole: true, isInside: true });
  expect(faults).toEqual([]);
  await context.close();
});
