// What is written on a card outlives the card, and not the question.
import { flushSync } from 'svelte';
import { afterEach, expect, it, vi } from 'vitest';
import { approvals } from '../state/approvals.svelte';
import { asked } from './testing';
import { unsent } from './unsent.svelte';

afterEach(() => vi.unstubAllGlobals());

async function become(life: string): Promise<void> {
  vi.stubGlobal('fetch', async () => Response.json({ ...asked({ id: 'q' }), life }));
  await approvals.refresh('q');
  flushSync();
}

it('is there for the next card of an open question, and gone once that is answered', async () => {
  await become('open');
  const deny = () => unsent.of('q', 'deny', () => ({ reason: '' }));
  deny().reason = 'half a sen';
  await become('open');
  expect(deny().reason).toBe('half a sen');
  expect(unsent.of('q', 'edit', () => ({ reason: 'another' })).reason).toBe('another');
  expect(unsent.of('other', 'deny', () => ({ reason: '' })).reason).toBe('');
  await become('settled');
  expect(deny().reason).toBe('');
});
