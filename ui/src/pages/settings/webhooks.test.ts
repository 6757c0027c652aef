import { describe, expect, it } from 'vitest';
import type { Webhook, WebhookDelivery } from '../../api/types';
import { freshSecret, isAnswered, told, toldOfTest, wrongAddress, wrongName } from './webhooks';

const tried = (more: Partial<WebhookDelivery>): WebhookDelivery => ({ at: 5_000_000, about: 'test', tries: 1, outcome: 'arrived', ...more });
const webhook = (last?: WebhookDelivery): Webhook => ({
  name: 'team',
  on: ['failed'],
  kind: 'webhook',
  place: 'example.com',
  is_signed: true,
  headers: [],
  is_fixed: false,
  ...(last ? { last } : {}),
});

describe('what became of the last try', () => {
  it('is said with its reason and what comes next', () => {
    expect(told(tried({}), 0)).toEqual({ look: 'ok', before: '“a test” arrived', at: 5000, behind: '' });
    const waits = tried({ about: 'needs_you', tries: 2, outcome: 'waits', why: 'refused', next: 9_500_000 });
    expect(told(waits, 6_000)).toMatchObject({ look: 'wait', before: '“needs you” did not arrive', behind: ': refused (try 2; tried again in 4 s)' });
    expect(told(waits, 10_000).behind).toBe(': refused (try 2; being tried again)');
    const over = tried({ about: 'failed', tries: 8, outcome: 'gave_up', why: 'it answered 404' });
    expect(told(over, 0)).toMatchObject({ look: 'bad', before: '“failed” was given up', behind: ', after 8 tries: it answered 404' });
    expect(told({ ...over, tries: 1 }, 0).behind).toBe(', after one try: it answered 404');
  });

  it('is told of a test', () => {
    expect(toldOfTest('team', tried({}))).toBe('The test arrived at “team”.');
    expect(toldOfTest('team', tried({ outcome: 'waits', why: 'refused' }))).toBe('The test did not arrive at “team”: refused. It is tried again.');
    expect(toldOfTest('team', tried({ outcome: 'gave_up' }))).toBe('The test did not arrive at “team”.');
  });

  it('is an answer to a test only if it is newer, and of one', () => {
    const before = tried({ at: 1 });
    expect(isAnswered(before, webhook(tried({ at: 2 })))).toBe(true);
    expect(isAnswered(undefined, webhook(tried({ at: 2 })))).toBe(true);
    expect(isAnswered(before, webhook(before))).toBe(false);
    expect(isAnswered(before, webhook(tried({ at: 2, about: 'failed' })))).toBe(false);
    expect(isAnswered(undefined, webhook())).toBe(false);
    expect(isAnswered(undefined, undefined)).toBe(false);
  });
});

describe('a webhook to add', () => {
  it('has a name that is free, and an address of the web', () => {
    expect(wrongName('team-1_a.b', ['other'])).toBeNull();
    for (const bad of ['', 'two words', 'ü', 'a'.repeat(65), 'other']) expect(wrongName(bad, ['other']), bad).toBeTruthy();
    expect(wrongAddress('https://chat.example.com/x')).toBeNull();
    expect(wrongAddress('http://127.0.0.1:9/x')).toBeNull();
    for (const bad of ['', 'chat.example.com', 'ftp://x', 'javascript:alert(1)']) expect(wrongAddress(bad), bad).toBeTruthy();
  });

  it('has a secret of its own', () => {
    expect(freshSecret()).toMatch(/^[0-9a-f]{48}$/);
    expect(freshSecret()).not.toBe(freshSecret());
  });
});
