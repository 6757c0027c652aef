// Underlined parts of a command.
import { expect, it } from 'vitest';
import { marked, visible } from './marks';

it('underlines whole words only', () => {
  expect(marked('rm -rf / a/b', ['/'])).toEqual([
    { text: 'rm -rf ', marked: false },
    { text: '/', marked: true },
    { text: ' a/b', marked: false },
  ]);
});

it('takes what stands in marks as it is, never as a pattern', () => {
  expect(marked('rm *.ts', ['*.ts'])).toEqual([
    { text: 'rm ', marked: false },
    { text: '*.ts', marked: true },
  ]);
  expect(marked('ls', [''])).toEqual([{ text: 'ls', marked: false }]);
});

it('shows signs that turn text around', () => {
  expect(visible('a\u202eb')).toBe('a⟨U+202E⟩b');
});
