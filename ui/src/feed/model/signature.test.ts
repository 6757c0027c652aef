// Every call says who let it run, in the reader's own words.
import { describe, expect, it } from 'vitest';
import type { AskAnswer as Answer, Tool } from '../../api/types';
import { markOf, stampOf, withdrawnWords } from './signature';

const answer = (more: Partial<Answer>): Answer => ({
  verdict: 'allow', word: 'allow', interrupts: false, at: 1_700_000_000_000_000, written: '1-2', waited: 38_000_000, ...more,
});
const tool = (more: Partial<Tool>): Tool => ({ tool_use_id: 't', name: 'Bash', role: 'plain', state: 'ran', ...more });
const asked = (one: Answer) => tool({
  approval: { request_id: 'r', kind: 'tool', asked: '1-1', asked_at: 1, needs_person: false, standing: { state: 'written' }, answer: one },
});

describe('a countersignature', () => {
  it('tells the reader from others, and people from rules', () => {
    expect(markOf(asked(answer({ by: 'owner' })), 'owner')).toMatchObject({ by: 'person', initials: 'ME' });
    expect(markOf(asked(answer({ by: 'Mara Lind' })), 'owner')).toMatchObject({ by: 'person', initials: 'ML' });
    expect(markOf(asked(answer({ by: 'rule', why: 'The profile allows this.' })), 'owner')).toEqual({ by: 'rule', title: 'The profile allows this.' });
    expect(markOf(tool({}), 'owner')).toBeNull();
    const open = asked(answer({}));
    const unanswered = tool({ signed: { decision: 'reject' }, approval: { ...(open.approval as NonNullable<Tool["approval"]>), answer: null } });
    expect(markOf(unanswered, 'owner')).toBeNull();
    expect(markOf(tool({ signed: { decision: 'accept', reason: 'mode' } }), 'owner')?.by).toBe('mode');
  });

  it('says who, when and after how long', () => {
    expect(stampOf(answer({ by: 'owner', client: 'phone' }), 'owner')).toMatch(/^Allowed by You · \d\d:\d\d · phone · waited 38 s$/);
    expect(stampOf(answer({ by: 'rule', verdict: 'deny' }), 'owner')).toMatch(/^Denied by a rule · \d\d:\d\d$/);
  });

  it('says that nothing ran where a question was withdrawn', () => {
    const one = asked(answer({}));
    expect(one.approval && withdrawnWords({ ...one.approval, standing: { state: 'withdrawn', how: 'interrupted' } })).toContain('Nothing ran');
    expect(one.approval && withdrawnWords(one.approval)).toBeNull();
  });
});
