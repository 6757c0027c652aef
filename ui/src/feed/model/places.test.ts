// Only what works is offered for a path.
import { expect, it } from 'vitest';
import { waysOf } from './places';

it('a_path_is_opened_where_a_program_is_there_and_copied_everywhere', () => {
  const both = { editor: true, terminal: true };
  const labels = (...of: Parameters<typeof waysOf>) => waysOf(...of).map((way) => way.label);
  expect(labels('/src/a.ts', '/src', both, true)).toEqual(['Open in editor', 'Open terminal', 'Copy path']);
  expect(labels('/src', '/src', { editor: false, terminal: true }, true)).toEqual(['Open terminal', 'Copy path']);
  const none = ['Copy path'];
  expect(labels('/src/a.ts', '/src', { editor: false, terminal: false }, true)).toEqual(none);
  expect(labels('/src/a.ts', '/src', both, false)).toEqual(none);
  expect(labels('/srcs/a.ts', '/src', both, true)).toEqual(none);
  expect(labels('/src/../etc', '/src', both, true)).toEqual(none);
  expect(labels('/src/a.ts', undefined, both, true)).toEqual(none);
  expect(labels('/src/a.ts', '/src', undefined, true)).toEqual(none);
});
