// Terminal output becomes spans of sixteen colours, and nothing in it moves or hides anything.
import { describe, expect, it } from 'vitest';
import { classesOf, parseAnsi, plain } from './ansi';

const words = (text: string) => parseAnsi(text).map((line) => line.map((span) => span.text).join(''));

describe('terminal output', () => {
  it('gives colours and weights to spans, over lines', () => {
    const lines = parseAnsi('\u001b[1;31mbad\u001b[0m ok\n\u001b[92mgreen\nstill\u001b[39m no');
    expect(lines[0]).toEqual([{ text: 'bad', bold: true, fg: 1 }, { text: ' ok' }]);
    expect(lines[1]).toEqual([{ text: 'green', fg: 10 }]);
    expect(lines[2]).toEqual([{ text: 'still', fg: 10 }, { text: ' no' }]);
  });

  it('brings many colours to the sixteen of the theme', () => {
    expect(parseAnsi('\u001b[38;5;196mx')[0]?.[0]?.fg).toBe(1);
    expect(parseAnsi('\u001b[38;2;10;200;10mx')[0]?.[0]?.fg).toBe(2);
    expect(parseAnsi('\u001b[48;5;4mx')[0]?.[0]?.bg).toBe(4);
    expect(classesOf({ text: 'x', fg: 3, inverse: true })).toBe('b3 inv');
  });

  it('drops cursor movements, titles and links', () => {
    expect(words('\u001b[2J\u001b[10;3Ha\u001b]0;title\u0007b\u001b]8;;http://x\u001b\\c\u001b]8;;\u001b\\')).toEqual(['abc']);
    expect(plain('\u001b[1mx\u001b[0m')).toBe('x');
  });

  it('shows what a line was last, where it was written over', () => {
    expect(words('10 %\r50 %\r100 %\ndone\r\n')).toEqual(['100 %', 'done']);
    expect(words('abx\bc')).toEqual(['abc']);
    expect(words('old\u001b[2Knew')).toEqual(['new']);
  });

  it('shows characters that turn text around as marks', () => {
    const line = parseAnsi('a\u202eb\u0001')[0];
    expect(line).toEqual([{ text: 'a' }, { text: 'RLO', mark: true }, { text: 'b' }, { text: '^A', mark: true }]);
  });
});
