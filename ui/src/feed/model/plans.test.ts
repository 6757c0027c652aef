// A plan is open once in a conversation, however often it is said.
import { describe, expect, it } from 'vitest';
import type { Entry } from '../../api/types';
import { repeatsOf } from './plans';

let seq = 0;
const entry = (body: unknown): Entry => {
  seq += 1;
  const id = `1-${seq}`;
  return { id, first: id, last: id, at: 1_700_000_000_000_000, life: 'final', body } as Entry;
};
const tool = (name: string, input: object) =>
  entry({ kind: 'tool', is: { tool_use_id: `t${seq}`, name, role: 'plain', state: 'ran', input: { json: input, length: 0 } } });
const prompt = (text: string) => entry({ kind: 'prompt', is: { text: { text, length: 0 }, state: 'delivered' } });

describe('a_plan_is_open_once_in_the_feed', () => {
  it('folds its file, earlier offers, and the prompt of a fresh conversation', () => {
    const [first, second] = ['# One\n\n1. Do it', '# One\n\n1. Do it well'];
    const wrote = tool('Write', { file_path: '/p/one.md', content: `${first}\n` });
    const offered = tool('ExitPlanMode', { plan: first, planFilePath: '/p/one.md' });
    const edited = tool('Edit', { file_path: '/p/one.md', old_string: 'it', new_string: 'it well' });
    const again = tool('ExitPlanMode', { plan: second, planFilePath: '/p/one.md' });
    const fresh = prompt(`Implement this plan:\n\n${second}`);
    const other = tool('Write', { file_path: '/src/a.ts', content: 'x' });
    const repeats = repeatsOf([prompt('plan it'), wrote, offered, edited, again, fresh, other]);
    expect([...repeats].sort()).toEqual([wrote, offered, edited, fresh].map((one) => one.id).sort());
  });

  it('folds nothing where no plan was offered', () => {
    expect(repeatsOf([prompt('hello'), tool('Write', { file_path: 'a.md', content: '' })]).size).toBe(0);
  });
});
