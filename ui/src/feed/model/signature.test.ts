// Every call says who let it run, in the reader's own words.
import { describe, expect, it } from 'vitest';
import type { AskAnswer as Answer, Tool } from '../../api/types';
import { denialWords, markOf, stampOf, withdrawnWords } from './signature';

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
    expect(stampOf(answer({ by: 'owner', client: 'phone' }), 'owner', 'plain')).toMatch(/^Allowed by You · \d\d:\d\d · phone · waited 38 s$/);
    // As the audit rounds it.
    expect(stampOf(answer({ by: 'owner', waited: 700_000 }), 'owner', 'plain')).toMatch(/ · waited 1 s$/);
    expect(stampOf(answer({ by: 'rule', verdict: 'deny' }), 'owner', 'plain')).toMatch(/^Denied by a rule · \d\d:\d\d$/);
  });

  it('a_plan_that_was_sent_back_is_no_denial', () => {
    const back = answer({ by: 'owner', verdict: 'deny', message: { text: 'Shorter.', bytes: 8 } as never });
    expect(stampOf(back, 'owner', 'plan')).toMatch(/^You asked for changes · \d\d:\d\d · waited 38 s$/);
    expect(stampOf({ ...back, by: 'Mara' }, 'owner', 'plan')).toMatch(/^Mara asked for changes · /);
    expect(stampOf(back, 'owner', 'plain')).toMatch(/^Denied by You · /);
    expect(stampOf({ ...back, by: 'expired' }, 'owner', 'plan')).toMatch(/^Denied because nobody answered · /);
    expect(markOf({ ...asked(back), role: 'plan' }, 'owner')).toMatchObject({ by: 'person', title: expect.stringMatching(/^You asked for changes/) });
    expect(denialWords({ ...asked(back), role: 'plan' })).toBe('Shorter.');
  });

  it('a_plan_that_another_conversation_carries_out_was_approved', () => {
    const on = (text: string) => answer({ by: 'owner', verdict: 'deny', interrupts: true, message: { text, bytes: text.length } as never });
    const fresh = on('The plan is carried out in a fresh conversation.');
    expect(stampOf(fresh, 'owner', 'plan')).toMatch(/^Started fresh with the plan by You · /);
    expect(denialWords({ ...asked(fresh), role: 'plan' })).toBe('');
    expect(stampOf(on('The plan is approved. Another agent carries it out.'), 'owner', 'plan')).toMatch(/^Approved by You · /);
    expect(stampOf(on('Shorter, and compact first.'), 'owner', 'plan')).toMatch(/^You asked for changes · /);
  });

  it('a_question_is_answered_or_declined_but_never_allowed', () => {
    expect(stampOf(answer({ by: 'owner' }), 'owner', 'question')).toMatch(/^Answered by You · /);
    expect(stampOf(answer({ by: 'owner', verdict: 'deny' }), 'owner', 'question')).toMatch(/^Declined by You · /);
  });

  it('says that nothing ran where a question was withdrawn', () => {
    const one = asked(answer({}));
    expect(one.approval && withdrawnWords({ ...one.approval, standing: { state: 'withdrawn', how: 'interrupted' } })).toContain('Nothing ran');
    expect(one.approval && withdrawnWords(one.approval)).toBeNull();
  });
});
