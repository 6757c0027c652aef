// A card that is taken down with something half written on it has it when it is there again, and takes no focus by that.
import { flushSync, mount, unmount, type ComponentProps } from 'svelte';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Approval } from '../api/types';
import { approvals } from '../state/approvals.svelte';
import { me } from '../state/me.svelte';
import Card from './Card.svelte';
import { asked } from './testing';

let card: Record<string, unknown> | null = null;

beforeEach(() => {
  me.who = { name: 'me', scope: 'full', via: 'cookie' };
  vi.stubGlobal('IntersectionObserver', class { observe() {} disconnect() {} });
  Element.prototype.scrollIntoView = () => {};
});
afterEach(async () => {
  await down();
  vi.unstubAllGlobals();
});

async function up(one: Approval): Promise<HTMLElement> {
  vi.stubGlobal('fetch', async () => Response.json(one));
  await approvals.refresh(one.id);
  const props: ComponentProps<typeof Card> = { asked: one };
  card = mount(Card, { target: document.body, props });
  flushSync();
  return document.querySelector('section') as HTMLElement;
}
async function down(): Promise<void> {
  if (card) await unmount(card);
  card = null;
}
function press(on: Element, key: string): void {
  on.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
  flushSync();
}
function write(field: HTMLInputElement | HTMLTextAreaElement | null, text: string): void {
  if (!field) throw new Error('no field');
  field.value = text;
  field.dispatchEvent(new InputEvent('input', { bubbles: true }));
  flushSync();
}
const area = () => document.querySelector('textarea');

it('the reason of a no', async () => {
  const one = asked({ id: 'no' });
  press(await up(one), 'd');
  expect(document.activeElement).toBe(area());
  write(area(), 'because it');
  await down();
  await up(one);
  expect(area()?.value).toBe('because it');
  expect(document.activeElement).toBe(document.body);
});

it('a changed input, while it is the input that was shown', async () => {
  const one = asked({ id: 'edit' });
  press(await up(one), 'e');
  write(area(), 'npm test -- --run');
  await down();
  await up(one);
  expect(area()?.value).toBe('npm test -- --run');
  await down();
  await up({ ...one, input: { command: 'rm x' }, digest: 'd2' });
  expect(area()?.value).toBe('rm x');
});

it('own words, and a form of a server', async () => {
  const own = () => document.querySelector<HTMLInputElement>('input[type=text]');
  const question = asked({ id: 'q', kind: 'questions', input: { questions: [{ question: 'Which?', options: [{ label: 'A' }] }] } });
  await up(question);
  write(own(), 'neither');
  await down();
  await up(question);
  expect(own()?.value).toBe('neither');
  await down();
  const form = asked({ id: 'f', kind: 'elicitation', tool: 'library', input: { requested_schema: { properties: { name: { type: 'string' } } } } });
  await up(form);
  write(own(), 'Ada');
  await down();
  await up(form);
  expect(own()?.value).toBe('Ada');
});

it('shows every field of the call', async () => {
  const input = { command: 'ls', dangerouslyDisableSandbox: true, shell: 'zsh' };
  const shown = await up(asked({ id: 'all', input }));
  expect(shown.querySelector('.unusual')?.textContent).toBe('runs outside the sandbox');
  expect(shown.querySelector('.ask-thing')?.textContent).toContain('shell: "zsh"');
});
