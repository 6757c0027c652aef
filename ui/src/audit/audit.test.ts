// Filters of the record: as an address, as a question to the host; and what a row says.
import { describe, expect, it } from 'vitest';
import type { Approval } from '../api/types';
import { dated } from '../approval/times';
import { shownCall } from '../record/rules';
import { decisionOf, exportHref, filterOf, outcomeWords, pathIn, queryOf, searchOf, waitedOf, NO_FILTER } from './decisions';
import { decision } from './testing';

describe('the record', () => {
  it('is asked for by what is filtered, and exported by the same', () => {
    const query = queryOf({ ...NO_FILTER, who: 'denied', tool: ' Bash ', since: 'hour' }, 3_660_500);
    expect(query).toEqual({ effect: 'deny', tool: 'Bash', since: 60e6 });
    expect(exportHref(query, 'csv')).toBe('/api/v1/decisions/export?effect=deny&tool=Bash&since=60000000&format=csv');
    expect(queryOf({ ...NO_FILTER, since: 'ever' }, 0)).toEqual({});
  });

  it('asks the host for people, kinds and names', () => {
    const ever = { ...NO_FILTER, since: 'ever' as const };
    expect(queryOf({ ...ever, who: 'people', text: ' rm ' }, 0)).toEqual({ people: true, text: 'rm' });
    expect(queryOf({ ...ever, who: 'mode' }, 0)).toEqual({ by: 'mode' });
    expect(queryOf({ ...ever, who: 'rule', by: 'ana', outcome: 'failed' }, 0)).toEqual({ by: 'ana', outcome: 'failed' });
  });

  it('has an address for each filter, and takes nothing from one that it does not know', () => {
    const filter = { ...NO_FILTER, who: 'people' as const, tool: 'Bash', text: 'a&b=c ü', since: 'ever' as const, rule: 'allow Bash(make:*)' };
    expect(filterOf(searchOf(filter))).toEqual(filter);
    expect(searchOf(NO_FILTER)).toBe('');
    expect(filterOf('?who=everyone&since=tomorrow&outcome=eaten&colour=red')).toEqual(NO_FILTER);
  });

  it('shows an approval as a decision once there is one', () => {
    const open = { ...decision('a', 'ana'), decided: null } as unknown as Approval;
    expect(decisionOf(open)).toBeNull();
    expect(decisionOf(decision('a', 'ana') as unknown as Approval)?.decided.by).toBe('ana');
  });

  it('says what came of it and how long it took', () => {
    expect(outcomeWords(decision('a', 'ana'))).toBe('ran');
    expect(waitedOf(decision('a', 'ana'))).toBe(4000);
    expect(waitedOf(decision('a', 'rule'))).toBeNull();
  });

  it('says of each decision on which day it was made', () => {
    const noon = new Date(2026, 10, 18, 12, 5).getTime();
    expect(dated(noon, noon)).toBe('18 Nov 12:05');
    expect(dated(noon, new Date(2027, 1, 1).getTime())).toBe('18 Nov 2026 12:05');
  });

  it('keeps the name of a file in sight, and shows the call as it was sent', () => {
    const edit = { ...decision('a', 'ana'), tool: 'Edit', input: { file_path: '/srv/app/src/very/deep/name.ts' } };
    expect(pathIn(edit, '/srv/app')).toEqual({ head: 'src/very/deep/', name: 'name.ts', whole: '/srv/app/src/very/deep/name.ts' });
    const other = { ...edit, edited_input: { file_path: '/srv/app/b.ts' } };
    expect(pathIn(other, '/srv/app')?.name).toBe('b.ts');
    expect(pathIn(decision('ls', 'ana'), '')).toBeNull();
    expect(shownCall({ ...decision('make', 'ana'), edited_input: { command: 'make test' } })).toBe('make test');
  });
});
