// A decision as the host tells it, for tests.
import type { DecisionView } from '../api/types';

export function decision(command: string, by: string, rule = '', at = 5): DecisionView {
  return {
    id: command,
    session: 's',
    session_name: 'S',
    kind: 'tool',
    tool: 'Bash',
    tool_use_id: null,
    input: { command },
    digest: '',
    path: [],
    asked: 1_000_000,
    record: '1-1',
    decided: { effect: 'allow', by, why: '', client: '', at: at * 1_000_000, decision: { rule } },
    sent: null,
    life: 'settled',
    outcome: 'ran',
  } as DecisionView;
}
