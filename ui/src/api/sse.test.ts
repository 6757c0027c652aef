// Events come out whole, wherever the text was cut.
import { describe, expect, it } from 'vitest';
import { Parser } from './sse';

const TEXT = ': hello\nretry: 1000\n\nid: 7\nevent: session\ndata: {"a":1}\n\n: beat\n\ndata: one\ndata: two\nid\n\nevent: empty\n\n';

describe('a stream of events', () => {
  it('is the same for every cut', () => {
    const whole = new Parser().push(TEXT);
    expect(whole).toEqual([
      { event: 'session', data: '{"a":1}', id: '7' },
      { event: 'message', data: 'one\ntwo', id: '' },
    ]);
    for (let cut = 0; cut <= TEXT.length; cut += 1) {
      const parser = new Parser();
      const told = [...parser.push(TEXT.slice(0, cut)), ...parser.push(TEXT.slice(cut))];
      expect(told, `cut at ${cut}`).toEqual(whole);
      expect(parser.retry).toBe(1000);
    }
  });

  it('takes lines that end as on Windows', () => {
    expect(new Parser().push('event: x\r\ndata: y\r\n\r\n')).toEqual([{ event: 'x', data: 'y', id: null }]);
  });
});
