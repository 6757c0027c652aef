// Only pictures the model can see go with a message.
import { describe, expect, it } from 'vitest';
import { blockOf, read, refusal } from './images';

describe('pictures', () => {
  it('are refused with a reason', () => {
    expect(refusal({ type: 'image/png', size: 10, name: 'a.png' }, 0)).toBeNull();
    expect(refusal({ type: 'application/pdf', size: 10, name: 'a.pdf' }, 0)).toContain('not a picture');
    expect(refusal({ type: 'image/png', size: 9e6, name: 'a.png' }, 0)).toContain('larger');
    expect(refusal({ type: 'image/png', size: 10, name: 'a.png' }, 10)).toContain('At most');
  });

  it('become blocks of the wire', async () => {
    const picture = await read(new File([new Uint8Array([1, 2, 3])], 'a.png', { type: 'image/png' }));
    expect(blockOf(picture)).toEqual({ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AQID' } });
  });
});
