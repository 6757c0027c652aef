// Sessions by repository: a worktree belongs to the repository it is of.
import { expect, it } from 'vitest';
import type { Session } from '../api/types';
import { byRepository, repositoryName } from './groups';

const session = (id: string, cwd: string, repository?: string) => ({ id, cwd, repository }) as unknown as Session;
const told = (sessions: Session[]) => byRepository(sessions).map((one) => [one.label, one.items.map((item) => item.id)]);

it('a worktree is called by its repository, and what is in none by its folder', () => {
  expect(repositoryName(session('a', '/data/worktrees/k9v-fix', '/srv/payments'))).toBe('payments');
  expect(repositoryName(session('b', '/home/me/notes'))).toBe('notes');
});

it('sessions of one repository stand together, in the order in which the first of each comes', () => {
  const all = [session('a', '/srv/web'), session('b', '/data/worktrees/k9v-fix', '/srv/payments'), session('c', '/srv/payments', '/srv/payments'), session('d', '/srv/web')];
  expect(told(all)).toEqual([
    ['web', ['a', 'd']],
    ['payments', ['b', 'c']],
  ]);
});

it('two repositories of one name are told apart by the folder above', () => {
  expect(told([session('a', '/srv/old/app'), session('b', '/srv/new/app'), session('c', '/srv/web')])).toEqual([
    ['old/app', ['a']],
    ['new/app', ['b']],
    ['web', ['c']],
  ]);
});
