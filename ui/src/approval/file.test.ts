// The file that a question would change: the lines it has there, and what is to be known of it.
import { flushSync, mount, unmount } from 'svelte';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Approval } from '../api/types';
import { approvals } from '../state/approvals.svelte';
import Card from './Card.svelte';
import Thing from './Thing.svelte';
import { asked } from './testing';

let shown: Record<string, unknown> | null = null;

afterEach(async () => {
  if (shown) await unmount(shown);
  shown = null;
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

type Known = NonNullable<Approval['file']>;
const part = { line: 40, new_line: 41, before: 'one\ntwo\nthree', after: 'one\n2\nthree' };
const change = (file: Known | null, tool = 'Edit') => {
  const input = tool === 'Write' ? { file_path: '/srv/a.txt', content: 'x\n' } : { file_path: '/srv/a.txt', old_string: 'two', new_string: '2' };
  return asked({ tool, input, file });
};
function show(one: Approval): string {
  shown = mount(Thing, { target: document.body, props: { asked: one, cwd: '/srv' } });
  flushSync();
  return document.body.textContent ?? '';
}
const numbers = () => [...document.querySelectorAll('.dl')].map((row) => [...row.querySelectorAll('i')].map((one) => one.textContent).join(':'));
const NOT_THEIRS = 'The line numbers below are not those of the file.';

describe('a change', () => {
  it('has the line numbers of the file, with the lines around it', () => {
    const said = show(change({ state: 'read', parts: [part], changed: false }));
    expect(numbers()).toEqual(['40:41', '41:', ':42', '42:43']);
    expect(said).not.toContain('has changed since');
    expect(said).not.toContain(NOT_THEIRS);
  });

  it('says so when the file has changed since', () => {
    expect(show(change({ state: 'read', parts: [part], changed: true }))).toContain('The file has changed since the agent asked.');
  });

  it('says why the file was not read, and that its numbers are not those of the file', () => {
    const said = show(change({ state: 'unknown', says: 'The file is not text.', changed: false }));
    expect(said).toContain(`The file is not text. ${NOT_THEIRS}`);
    expect(numbers()).toEqual(['1:', ':1']);
  });

  it('says whether it makes a file or replaces a whole one', () => {
    expect(show(change({ state: 'new', changed: false }, 'Write'))).toContain('new file');
    void unmount(shown ?? {});
    shown = null;
    const said = show(change({ state: 'read', parts: [part], changed: false }, 'Write'));
    expect(said).toContain('replaces the whole file');
    expect(said).not.toContain('new file');
  });
});

it('an open card looks again whether its file has changed', async () => {
  vi.useFakeTimers();
  vi.stubGlobal('IntersectionObserver', class { observe() {} disconnect() {} });
  const looked: string[] = [];
  vi.stubGlobal('fetch', async (request: Request) => {
    looked.push(new URL(request.url).pathname);
    return Response.json(change({ state: 'read', parts: [part], changed: true }));
  });
  const one = change({ state: 'read', parts: [part], changed: false });
  shown = mount(Card, { target: document.body, props: { asked: one } });
  flushSync();
  expect(looked).toEqual([]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(looked[0]).toBe(`/api/v1/approvals/${one.id}`);
  expect(approvals.get(one.id)?.file?.changed).toBe(true);
});
