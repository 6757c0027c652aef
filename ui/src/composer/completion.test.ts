// Completion replaces the word at the caret and nothing else.
import { describe, expect, it } from 'vitest';
import { commandsOf, complete, fitting, wantedAt } from './completion';

describe('completion', () => {
  it('sees a command only at the very beginning, and a file behind a space', () => {
    expect(wantedAt('/com', 4)).toEqual({ what: 'command', query: 'com', from: 0, to: 4 });
    expect(wantedAt('see /com', 8)).toBeNull();
    expect(wantedAt('see @src/a', 10)).toEqual({ what: 'file', query: 'src/a', from: 4, to: 10 });
    expect(wantedAt('a@b.org', 7)).toBeNull();
    expect(wantedAt('/compact now', 12)).toBeNull();
  });

  it('replaces the whole word, also behind the caret', () => {
    const text = 'see @srx/old then';
    const wanted = wantedAt(text, 7);
    expect(wanted && complete(text, wanted, 'src/new.ts')).toEqual({ text: 'see @src/new.ts then', caret: 15 });
  });

  it('goes on in a folder without a space', () => {
    const wanted = wantedAt('@s', 2);
    expect(wanted && complete('@s', wanted, 'src/')).toEqual({ text: '@src/', caret: 5 });
  });

  it('reads the list of the CLI leniently, best first', () => {
    const commands = commandsOf([{ name: 'recompact' }, { name: 'compact', description: 'Shorten' }, { nothing: 1 }, { name: 3 }]);
    expect(fitting(commands, 'com').map((command) => command.name)).toEqual(['compact', 'recompact']);
  });
});
