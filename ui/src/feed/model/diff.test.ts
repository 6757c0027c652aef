// A change is shown line by line with numbers on both sides, and its words marked where that helps.
import { describe, expect, it } from 'vitest';
import { created, diffTexts, ofPatch, parseUnified, placed } from './diff';

const shown = (file: ReturnType<typeof created> | null) =>
  file?.hunks.flatMap((hunk) => hunk.lines.map((line) => `${line.old ?? ''}:${line.new ?? ''}${line.sign}${line.parts.map((part) => (part.changed ? `[${part.text}]` : part.text)).join('')}`));

describe('a diff', () => {
  it('numbers both sides and marks the words that changed', () => {
    const file = diffTexts('a.ts', 'a\nlet cut = now() + 50;\nz\n', 'a\nlet cut = clock + 50;\nz\n', 10);
    expect(shown(file)).toEqual(['10:10 a', '11:-let cut = [now()] + 50;', ':11+let cut = [clock] + 50;', '12:12 z']);
    expect([file.added, file.removed]).toEqual([1, 1]);
  });

  it('stands where it stands in the file, part by part', () => {
    const file = placed('f', [
      { line: 7, new_line: 7, before: 'a\nb', after: 'a\nc' },
      { line: 40, new_line: 41, before: 'x\ny', after: 'x\nz\ny' },
    ]);
    expect(shown(file)).toEqual(['7:7 a', '8:-b', ':8+c', '40:41 x', ':42+z', '41:43 y']);
    expect([file.hunks.length, file.added, file.removed]).toEqual([2, 2, 1]);
  });

  it('marks nothing where two lines have nothing in common', () => {
    expect(shown(diffTexts('a', 'alpha\n', 'zzzzz\n'))).toEqual(['1:-alpha', ':1+zzzzz']);
  });

  it('takes the patch of the tool, which knows the true numbers, and refuses what is none', () => {
    const patch = [{ oldStart: 40, oldLines: 1, newStart: 40, newLines: 2, lines: [' x', '+y', '\\ No newline at end of file'] }];
    expect(shown(ofPatch('f', patch))).toEqual(['40:40 x', ':41+y']);
    expect(ofPatch('f', [])).toBeNull();
    expect(ofPatch('f', [{ lines: 3 }])).toBeNull();
  });

  it('shows a new file as added lines only', () => {
    expect(shown(created('n', 'one\ntwo\n'))).toEqual([':1+one', ':2+two']);
    expect(created('n', '').hunks).toEqual([]);
  });

  it('reads what git prints: several files, new, renamed, binary', () => {
    const files = parseUnified([
      'diff --git a/x.ts b/x.ts', 'index 1..2 100644', '--- a/x.ts', '+++ b/x.ts', '@@ -1,2 +1,2 @@ fn()', ' a', '-b', '+c',
      'diff --git a/n b/n', 'new file mode 100644', '--- /dev/null', '+++ b/n', '@@ -0,0 +1 @@', '+1',
      'diff --git a/o b/p', 'rename from o', 'rename to p', 'diff --git a/i.png b/i.png', 'Binary files a/i.png and b/i.png differ', '',
    ].join('\n'));
    expect(files.map((file) => [file.path, file.added, file.removed, file.note, file.from])).toEqual([
      ['x.ts', 1, 1, undefined, undefined], ['n', 1, 0, 'new', undefined], ['p', 0, 0, undefined, 'o'], ['i.png', 0, 0, 'binary', undefined],
    ]);
    expect(files[0]?.hunks[0]?.head).toBe('fn()');
  });
});
