// Names are said as people say them.
import { describe, expect, it } from 'vitest';
import { bytes, modelName, within } from './words';

describe('names', () => {
  it('of models are short, and unknown ones stay as they are', () => {
    expect(modelName('claude-sonnet-4-5-20250929')).toBe('Sonnet 4.5');
    expect(modelName('claude-opus-5-5')).toBe('Opus 5.5');
    expect(modelName('claude-3-5-haiku-20241022')).toBe('Haiku 3.5');
    expect(modelName('claude-opus-4-20250514')).toBe('Opus 4');
    expect(modelName('gpt-x')).toBe('gpt-x');
  });

  it('of files are told from their folder on', () => {
    expect(within('/a/b/c.ts', '/a/b')).toBe('c.ts');
    expect(within('/a/bc/c.ts', '/a/b')).toBe('/a/bc/c.ts');
    expect(bytes(2048)).toBe('2 KiB');
  });
});
