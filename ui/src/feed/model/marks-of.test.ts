// Marks say what happened, and what is safe.
import { describe, expect, it } from 'vitest';
import { awayWords, endWords, limitWords, modeWords, retryWords, startWords } from './marks-of';
import { turnWords } from './turn';

describe('marks', () => {
  it('say how an agent ended, and that nothing is lost', () => {
    expect(endWords({ unwritten: 0, code: 137 }).words).toContain('out of memory');
    expect(endWords({ unwritten: 0, signal: 11 })).toEqual({ words: 'The agent was killed by signal 11. The conversation is safe.', isBad: true });
    expect(endWords({ unwritten: 0, code: 0 })).toEqual({ words: 'The agent ended.', isBad: false });
    expect(endWords({ unwritten: 0, signal: 15, why: 'stop' }).isBad).toBe(false);
    expect(endWords({ unwritten: 0, code: 0, killed: [{ pid: 1, command: 'x' }] }).words).toBe('The agent ended. 1 process it left running was stopped too.');
    expect(awayWords(0, 4_300_000)).toBe('Countersign was not running for 4.3 s. Questions waited.');
  });

  it('a_stopped_agent_was_stopped_by_somebody_with_a_name', () => {
    const ended = { unwritten: 0, code: 0, step: 'stdin', why: 'a person ended it' };
    expect(endWords(ended).words).toBe('You stopped the agent.');
    // Who may only watch cannot have been the one.
    expect(endWords(ended, false).words).toBe('Someone stopped the agent.');
    expect(endWords({ ...ended, why: 'it was idle' }).words).toBe('The agent went to sleep. Your next message wakes it.');
    expect(endWords({ ...ended, why: 'a word of a newer host' }).words).toBe('The agent was stopped: a word of a newer host.');
  });

  it('a_resumed_agent_says_where', () => {
    const started = { cwd: '/home/me/payments-api', argv: [], generation: 2, is_resumed: true };
    expect(startWords(started)).toBe('Resumed in payments-api');
    expect(startWords({ ...started, is_resumed: false })).toBe('Started in payments-api');
    const worktree = { cwd: started.cwd, repository: '/srv/payments', branch: 'countersign/fix-it' };
    expect(startWords(started, worktree)).toBe('Resumed in payments, worktree countersign/fix-it');
    expect(startWords(started, { ...worktree, cwd: '/elsewhere' })).toBe('Resumed in payments-api');
  });

  it('a_refused_key_is_told_from_a_limit', () => {
    const retry = { attempt: 4, most: 10, delay_ms: 500, is_over: false, status: 401, error: 'invalid x-api-key' };
    expect(retryWords(retry, 0)).toBe('The API refused the key (401, invalid x-api-key). Retry 4 of 10.');
    expect(retryWords({ ...retry, status: 529, error: null }, 2000)).toBe('The API is overloaded (529). Retry 4 of 10 in 2.0 s.');
    expect(retryWords({ ...retry, is_over: true, attempt: 1 }, 0)).toBe('Retried once');
  });

  it('call modes by the words a person chooses', () => {
    expect(modeWords({ to: 'acceptEdits', by: 'owner' }, 'owner')).toBe('Mode: Accept edits by You');
    expect(modeWords({ to: 'plan' }, 'owner')).toBe('Mode: Plan');
  });

  it('tell limits in per cent', () => {
    expect(limitWords({ status: 'allowed_warning', used: 0.82 })).toBe('82 % of the usage limit is used.');
    expect(limitWords({ status: 'rejected' })).toBe('The usage limit is reached.');
  });

  it('tell an interrupt from a failure', () => {
    const turn = { subtype: 'success', is_success: true, is_interrupted: false, steps: 1, duration_ms: 1, api_ms: 1, cost_usd: 0, total_usd: 0, tokens: { input: 0, output: 0, cache_read: 0, cache_write: 0 }, denials: 0 };
    expect(turnWords(turn, 'owner')).toEqual({ words: 'Turn done', glyph: 'done' });
    expect(turnWords({ ...turn, is_success: false, is_interrupted: true, interrupted_by: 'owner' }, 'owner').words).toBe('Interrupted by You');
    expect(turnWords({ ...turn, is_success: false, subtype: 'error_max_turns' }, 'owner').glyph).toBe('fail');
  });
});
