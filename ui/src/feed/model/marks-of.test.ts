// Marks say what happened, and what is safe.
import { describe, expect, it } from 'vitest';
import { awayWords, endWords, limitWords, modeWords } from './marks-of';
import { turnWords } from './turn';

describe('marks', () => {
  it('say how an agent ended, and that nothing is lost', () => {
    expect(endWords({ unwritten: 0, code: 137 }).words).toContain('out of memory');
    expect(endWords({ unwritten: 0, signal: 11 })).toEqual({ words: 'The agent was ended by signal 11. The conversation is safe.', isBad: true });
    expect(endWords({ unwritten: 0, code: 0 })).toEqual({ words: 'The agent ended.', isBad: false });
    expect(endWords({ unwritten: 0, signal: 15, why: 'stop' }).isBad).toBe(false);
    expect(endWords({ unwritten: 0, code: 0, killed: [{ pid: 1, command: 'x' }] }).words).toBe('The agent ended. 1 process it left behind was ended, too.');
    expect(awayWords(0, 4_300_000)).toBe('Countersign was not there for 4.3 s. Questions waited.');
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
