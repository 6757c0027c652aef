// The form for a new token says what is missing, and where.
import { flushSync, mount, unmount } from 'svelte';
import { afterEach, expect, it, vi } from 'vitest';
import { me } from '../../state/me.svelte';
import Tokens from './Tokens.svelte';

afterEach(() => {
  me.who = null;
  vi.unstubAllGlobals();
});

it('a token without a name is not created, and the field says what is missing until it has one', async () => {
  me.who = { name: 'me', scope: 'full', via: 'cookie' };
  const posted: unknown[] = [];
  vi.stubGlobal('fetch', async (request: Request) => {
    if (request.method !== 'POST') return Response.json([]);
    posted.push(await request.json());
    return Response.json({ id: 't', name: 'laptop', scope: 'answer', created: 1, token: 'cs_x' });
  });
  const section = mount(Tokens, { target: document.body });
  const says = 'Give the token a name, such as the program or device that uses it.';
  const field = await vi.waitFor(() => {
    flushSync();
    const input = document.querySelector('input');
    if (!input) throw new Error('no field');
    return input;
  });
  const button = document.querySelector<HTMLButtonElement>('form button[type="submit"]');
  const write = (text: string) => {
    field.value = text;
    field.dispatchEvent(new InputEvent('input', { bubbles: true }));
    flushSync();
  };
  expect(button?.disabled).toBe(false);
  expect(document.body.textContent).not.toContain(says);

  for (const nothing of ['', '   ']) {
    write(nothing);
    field.blur();
    button?.click();
    flushSync();
    const described = field.getAttribute('aria-describedby');
    expect(described && document.getElementById(described)?.textContent).toBe(says);
    expect(field.getAttribute('aria-invalid')).toBe('true');
    expect(document.activeElement).toBe(field);
    expect(button?.disabled).toBe(false);
  }
  expect(posted).toEqual([]);

  write('laptop');
  expect(document.body.textContent).not.toContain(says);
  button?.click();
  await vi.waitFor(() => expect(posted).toMatchObject([{ name: 'laptop' }]));
  await vi.waitFor(() => {
    flushSync();
    expect(field.value).toBe('');
  });
  expect(document.body.textContent).not.toContain(says);
  await unmount(section);
});
