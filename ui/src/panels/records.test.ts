// A frame is called by its type, and shown as it was.
import { describe, expect, it } from 'vitest';
import { before, frameOf } from './records.svelte';

describe('frames', () => {
  it('are named by type and subtype', () => {
    expect(frameOf({ cursor: '1-2', at: 0, kind: 'a', line: { type: 'system', subtype: 'init' } })).toMatchObject({ name: 'system/init', text: '{"type":"system","subtype":"init"}' });
    expect(frameOf({ cursor: '1-2', at: 0, kind: 'a', line: { type: 'control_request', request: { subtype: 'can_use_tool' } } }).name).toBe('control_request/can_use_tool');
    expect(frameOf({ cursor: '1-2', at: 0, kind: 'e', text: 'oops' })).toMatchObject({ name: '', text: 'oops' });
    expect(frameOf({ cursor: '1-2', at: 0, kind: 'a', len: 900_000 })).toMatchObject({ text: '', length: 900_000 });
  });

  it('begin some records before the newest', () => {
    expect(before('2-500', 300)).toBe('2-200');
    expect(before('1-5', 300)).toBe('1-0');
  });
});
