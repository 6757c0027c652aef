// Where a path may be cut.
import { expect, it } from 'vitest';
import { splitPath } from './paths';

it('a_path_keeps_its_name_and_loses_its_middle', () => {
  expect(splitPath('src/refunds/handler.ts')).toEqual(['src/refunds', '/handler.ts']);
  expect(splitPath('/home/me/code/')).toEqual(['/home/me', '/code/']);
  expect(splitPath('C:\\work\\a.txt')).toEqual(['C:\\work', '\\a.txt']);
  for (const whole of ['handler.ts', '/etc', '/', '']) expect(splitPath(whole)).toEqual(['', whole]);
});
