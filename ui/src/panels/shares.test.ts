// Figures add up.
import { describe, expect, it } from 'vitest';
import type { Totals } from '../api/types';
import { cacheShare, deciders, models } from './shares';

const none = { input: 0, output: 0, cache_read: 0, cache_write: 0 };
const totals = {
  approvals: { by: { rule: 20, mode: 4, owner: 5, Mara: 1, expired: 2 }, denied: 1, open: 1, cancelled: 0, interrupted: 1, agent_gone: 0 },
  models: { 'claude-haiku-4-5': { tokens: none, cost_usd: 0.44 }, 'claude-sonnet-4-5': { tokens: none, cost_usd: 1.4 } },
} as unknown as Totals;

describe('shares', () => {
  it('tell rules from people, and the reader from others', () => {
    expect(deciders(totals, 'owner', 37).map((share) => [share.label, share.value])).toEqual([['By rule or mode', 24], ['You 5, Mara 1', 6], ['Waiting for an answer', 1], ['Nobody answered', 2], ['Taken back', 1], ['Needed no answer', 3], ['Denied', 1]]);
    const alone = { ...totals, approvals: { ...totals.approvals, by: { owner: 5 } } } as Totals;
    expect(deciders(alone, 'owner', 5)[0]).toMatchObject({ label: 'You', value: 5 });
    expect(deciders(totals, 'owner', 2).some((share) => share.label === 'Needed no answer')).toBe(false);
  });
  it('name the dearest model first', () => {
    expect(models(totals).map((share) => share.label)).toEqual(['Sonnet 4.5', 'Haiku 4.5']);
  });
  it('say how much was read from the cache, where anything was read', () => {
    expect(cacheShare({ ...none, input: 10, cache_read: 90 })).toBe(0.9);
    expect(cacheShare(none)).toBeNull();
  });
});
