// A question for tests. Says nothing that a host would not say.
import type { Approval } from '../api/types';

type Open = Extract<Approval, { life: 'open' }>;

/** An open question, but for what is named. */
export function asked(but: Partial<Omit<Approval, 'life'>> = {}): Open {
  return {
    id: '01J00000000000000000000001',
    session: '01J00000000000000000000000',
    session_name: 'Fix tests',
    kind: 'tool',
    life: 'open',
    asked: 1_000_000_000,
    record: '1-7',
    request_id: 'r1',
    tool_use_id: 'toolu_1',
    tool: 'Bash',
    input: { command: 'npm test' },
    digest: 'd1',
    path: [],
    reason: 'No rule means it.',
    remark: null,
    offers: [],
    expires: null,
    decided: null,
    needs_restart: false,
    ...but,
  } as Open;
}
