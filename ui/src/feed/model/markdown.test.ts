// Markdown gives a tree; nothing in it is HTML, and no link leads elsewhere than it may.
import { describe, expect, it } from 'vitest';
import { blocksOf, openBlock, safeHref, splitOpen } from './markdown';

describe('markdown', () => {
  it('knows paragraphs, headings, code, lists, ticks, quotes, tables', () => {
    const blocks = blocksOf('# Head\n\nSome `code` and **bold**.\n\n```ts\nlet a;\n```\n\n- [x] done\n- [ ] open\n\n> q\n\n|a|b|\n|-|-:|\n|1|2|\n\n---\n');
    expect(blocks.map((block) => block.is)).toEqual(['h', 'p', 'code', 'list', 'quote', 'table', 'rule']);
    expect(blocks[2]).toEqual({ is: 'code', lang: 'ts', text: 'let a;' });
    const list = blocks[3];
    expect(list?.is === 'list' && list.items.map((item) => item.tick)).toEqual([true, false]);
    expect(JSON.stringify(list)).toContain('done');
    const table = blocks[5];
    expect(table?.is === 'table' && table.align).toEqual([null, 'right']);
  });

  it('shows tags as the text they are', () => {
    const text = 'a <img src=x onerror=alert(1)> b\n\n<script>alert(1)</script>\n';
    const told = JSON.stringify(blocksOf(text));
    expect(told).toContain('<img src=x onerror=alert(1)>');
    expect(told).toContain('<script>alert(1)</script>');
    expect(told).not.toContain('"is":"html"');
  });

  it('links only to addresses of the web and of mail', () => {
    expect(safeHref('https://example.org/a')).toBe('https://example.org/a');
    expect(safeHref('MAILTO:a@example.org')).toBe('MAILTO:a@example.org');
    for (const bad of ['javascript:alert(1)', 'java\nscript:alert(1)', ' \u0001javascript:x', 'data:text/html,x', '/relative', '//host', 'vbscript:x']) {
      expect(safeHref(bad), bad).toBeNull();
    }
    expect(JSON.stringify(blocksOf('[x](javascript:alert(1))'))).not.toContain('link');
    expect(JSON.stringify(blocksOf('![p](https://example.org/p.png)'))).toContain('"is":"link"');
  });

  it('keeps letters that HTML would escape', () => {
    expect(blocksOf('`a < b && c`')).toEqual([{ is: 'p', of: [{ is: 'code', text: 'a < b && c' }] }]);
    expect(blocksOf('a < b & "c"')).toEqual([{ is: 'p', of: [{ is: 'text', text: 'a < b & "c"' }] }]);
  });

  it('parses what is finished and leaves the open block as text', () => {
    expect(splitOpen('one\n\ntwo **b')).toEqual({ done: 'one\n\n', open: 'two **b' });
    expect(splitOpen('one\n\n```js\na\n\nb')).toEqual({ done: 'one\n\n', open: '```js\na\n\nb' });
    expect(splitOpen('```js\na\n```\nx')).toEqual({ done: '```js\na\n```\n', open: 'x' });
    expect(openBlock('```js\na\n\nb')).toEqual({ is: 'code', lang: 'js', text: 'a\n\nb' });
    expect(openBlock('two **b')).toEqual({ is: 'raw', text: 'two **b' });
    expect(openBlock('  ')).toBeNull();
  });

  it('is not slow on what was written to make it slow', () => {
    const began = performance.now();
    blocksOf('['.repeat(8000));
    blocksOf('*a '.repeat(4000));
    blocksOf('> '.repeat(2000) + 'x');
    expect(performance.now() - began).toBeLessThan(3000);
  });
});
