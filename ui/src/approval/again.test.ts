// The message after a question that nobody answered.
import { describe, expect, it } from 'vitest';
import { againText } from './again';
import { asked } from './testing';

describe('asking again', () => {
  it('names what was asked, and leaves it to the agent', () => {
    const text = againText(asked({ input: { command: 'npm test' } }));
    expect(text).toContain('Bash: npm test');
    expect(text).toContain('If you still need it, ask again.');
  });

  it('speaks of a plan as a plan, and cuts what is long', () => {
    expect(againText(asked({ kind: 'plan' }))).toContain('present it again');
    const long = againText(asked({ input: { command: 'x'.repeat(5000) } }));
    expect(long.length).toBeLessThan(700);
    expect(long).toContain('x…');
  });
});
