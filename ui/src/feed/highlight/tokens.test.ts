// Colours never change what a line says.
import { describe, expect, it } from 'vitest';
import { linesOf, overlay, type Tok } from './tokens';

describe('coloured code', () => {
  it('cuts a tree into lines, also inside of a scope', () => {
    const root = { children: [{ scope: 'keyword', children: ['let'] }, ' a = ', { scope: 'string', children: ['`x\n', { scope: 'subst', children: ['y'] }, '`'] }] };
    expect(linesOf(root)).toEqual([
      [['let', 'key'], [' a = ', ''], ['`x', 'str']],
      [['y', ''], ['`', 'str']],
    ]);
  });

  it('lays colours over changed words', () => {
    const tokens: Tok[] = [['const', 'key'], [' cut = ', ''], ['50', 'num']];
    const pieces = overlay([{ text: 'const cut' }, { text: ' = 5', changed: true }, { text: '0' }], tokens);
    expect(pieces).toEqual([
      { text: 'const', meaning: 'key', changed: false }, { text: ' cut', meaning: '', changed: false },
      { text: ' = ', meaning: '', changed: true }, { text: '5', meaning: 'num', changed: true }, { text: '0', meaning: 'num', changed: false },
    ]);
  });

  it('lets the line win where the colours are of another text', () => {
    expect(overlay([{ text: 'abc' }], [['abd', 'key']])).toEqual([{ text: 'abc', meaning: '', changed: false }]);
    expect(overlay([{ text: 'abc' }], undefined)).toEqual([{ text: 'abc', meaning: '', changed: false }]);
  });
});
