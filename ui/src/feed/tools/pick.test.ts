// The whole of a long text is found in the record that holds it.
import { describe, expect, it } from 'vitest';
import { inputIn, printedIn, resultIn, textIn } from './pick';

describe('in a record', () => {
  const line = {
    type: 'user',
    message: { content: [{ type: 'tool_result', tool_use_id: 'a', content: 'one' }, { type: 'tool_result', tool_use_id: 'b', content: [{ type: 'text', text: 'x' }, { type: 'text', text: 'y' }] }] },
    tool_use_result: { stdout: 'out', stderr: 'err' },
  };
  it('the result of one call is found, in either form', () => {
    expect(resultIn('a')(line)).toBe('one');
    expect(resultIn('b')(line)).toBe('x\ny');
    expect(resultIn('c')(line)).toBeNull();
    expect(printedIn('a')(line)).toBe('out\nerr');
  });

  it('input and text are found, and nothing where there is none', () => {
    const said = { message: { content: [{ type: 'text', text: 'hi' }, { type: 'tool_use', id: 'a', input: { n: 1 } }] } };
    expect(inputIn('a')(said)).toBe('{\n  "n": 1\n}');
    expect(textIn(said)).toBe('hi');
    expect(textIn({})).toBeNull();
    expect(inputIn('a')(null)).toBeNull();
  });
});
