// Stretches of a session: who was at work, and who was waited for.
import { describe, expect, it } from 'vitest';
import { approval, prompt, result, tool } from './testing';
import { activeTime, timelineOf } from './timeline';

const span = ({ from, to }: { from: number; to: number }) => [from, to];

describe('a timeline', () => {
  it('gives the model what neither tools nor people take', () => {
    const entries = [prompt(0, 10_000), tool(2000, 4000), tool(6000, 9000, { approval: approval(6000, 8000, 'ann') }), result(10_000, 10_000)];
    const found = timelineOf(entries, 99_000, false);
    expect(found.turns.map(span)).toEqual([[0, 10_000]]);
    expect(found.tools.map(span)).toEqual([
      [2000, 4000],
      [8000, 9000],
    ]);
    expect(found.waits.map(span)).toEqual([[6000, 8000]]);
    expect(found.model.map(span)).toEqual([
      [0, 2000],
      [4000, 6000],
      [9000, 10_000],
    ]);
    expect(found.turns[0]).toMatchObject({ costUsd: 0.5, isRunning: false, isFailed: false });
    expect(found.tools[0]?.what).toBe('make test');
  });

  it('does not let a rule be waited for', () => {
    const found = timelineOf([tool(0, 3000, { approval: approval(0, 1, 'rule') })], 99_000, false);
    expect(found.waits).toEqual([]);
    expect(found.tools).toHaveLength(1);
  });

  it('lets what is not over last until now, while the agent lives', () => {
    const entries = [prompt(0, null), tool(1000, null, { state: 'asking', approval: approval(1000, null, null) })];
    const live = timelineOf(entries, 60_000, true);
    expect(live.turns[0]).toMatchObject({ to: 60_000, isRunning: true });
    expect(live.waits[0]).toMatchObject({ to: 60_000, isOpen: true, by: null });
    expect(live.tools).toEqual([]);
    const over = timelineOf(entries, 60_000, false);
    expect(over.turns[0]).toMatchObject({ to: 1000, isRunning: false });
  });

  it('counts a message that came into a running turn to that turn', () => {
    const found = timelineOf([prompt(0, 9000), prompt(4000, 9000), result(9000, 9000), prompt(20_000, 21_000), result(21_000, 1000)], 0, false);
    expect(found.turns.map((one) => [one.number, one.from, one.to])).toEqual([
      [1, 0, 9000],
      [2, 20_000, 21_000],
    ]);
    expect(activeTime(found)).toBe(10_000);
  });

  it('knows a turn by its end where its beginning is on an older page', () => {
    const found = timelineOf([tool(5000, 6000), result(8000, 8000, { is_success: false })], 0, false);
    expect(found.turns).toMatchObject([{ from: 0, to: 8000, isFailed: true }]);
  });

  it('leaves messages out that never began a turn', () => {
    const found = timelineOf([prompt(0, null, { state: 'cancelled' }), prompt(5, null, { state: 'refused' })], 100, true);
    expect(found.turns).toEqual([]);
  });

  it('shows sub-agents in a lane of their own, and what they wait for with the rest', () => {
    const agent = tool(1000, 9000, { name: 'Task', role: 'agent', agent: { description: 'Look around', state: 'completed', ended_at: 9_000_000 } });
    const nested = tool(2000, 5000, { approval: approval(2000, 4000, 'ann') }, { parent: agent.id });
    const found = timelineOf([prompt(0, 10_000), agent, nested], 0, false);
    expect(found.agents).toMatchObject([{ from: 1000, to: 9000, what: 'Look around' }]);
    expect(found.waits.map(span)).toEqual([[2000, 4000]]);
    expect(found.tools).toMatchObject([{ isNested: true }]);
    expect(found.calls).toBe(2);
    expect(found.model.map(span)).toEqual([
      [0, 1000],
      [9000, 10_000],
    ]);
  });
});
