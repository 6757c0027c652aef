// How a turn ended, in words.
import type { TurnEnd } from '../../api/types';
import type { Glyphs } from '../../state/groups';

const SUBTYPES: Record<string, string> = {
  error_max_turns: 'Ended: it took as many steps as it may',
  error_max_budget_usd: 'Ended: it cost as much as it may',
  error_during_execution: 'Ended by a failure',
  error_max_structured_output_retries: 'Ended: no answer fitted the form',
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
