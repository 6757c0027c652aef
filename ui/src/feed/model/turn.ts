// How a turn ended, in words.
import type { TurnEnd } from '../../api/types';
import type { Glyphs } from '../../state/groups';

const SUBTYPES: Record<string, string> = {
  error_max_turns: 'Stopped at the step limit',
  error_max_budget_usd: 'Stopped at the budget',
  error_during_execution: 'Failed',
  error_max_structured_output_retries: 'Stopped: no answer had the required format',
};

export function turnWords(turn: TurnEnd, me: string): { words: string; glyph: Glyphs } {
  if (turn.is_interrupted) {
    const by = turn.interrupted_by;
    return { words: by ? `Interrupted by ${by === me ? 'You' : by}` : 'Interrupted', glyph: 'idle' };
  }
  if (turn.is_success) return { words: 'Turn done', glyph: 'done' };
  const status = turn.api_status ? ` (${turn.api_status})` : '';
  return { words: (SUBTYPES[turn.subtype] ?? 'The turn failed') + status, glyph: 'fail' };
}
