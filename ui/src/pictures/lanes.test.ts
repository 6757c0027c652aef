// A session's timeline in lanes, in words and as a table.
import { describe, expect, it } from 'vitest';
import { lanesOf, metaOf, sentenceOf, tableOf } from './lanes';
import { approval, prompt, result, tool } from './testing';
import { timelineOf } from './timeline';

const entries = [
  prompt(0, 60_000),
  tool(2000, 4000, { state: 'failed' }),
  tool(6000, 50_000, { approval: approval(6000, 44_000, 'ann') }),
  result(60_000, 60_000),
  prompt(70_000, null),
  tool(71_000, null, { state: 'asking', approval: approval(71_000, null, null) }),
];
const timeline = timelineOf(entries, 90_000, true);

describe('lanes', () => {
  const lanes = lanesOf('s', timeline, 'me');
  const lane = (name: string) => lanes.find((one) => one.name === name)?.bars ?? [];
  it('say who was waited for and how long; the reader needs no name', () => {
    expect(lane('Waiting for people').map((one) => one.label)).toEqual(['38 s, ann', '19 s, open']);
    const mine = lanesOf('s', timeline, 'ann').find((one) => one.name === 'Waiting for people');
    expect(mine?.bars[0]?.label).toBe('38 s');
  });
  it('mark what failed and what runs, and lead to the entry', () => {
    expect(lane('Tools').map((one) => one.look)).toEqual(['fail', 'c3']);
    expect(lane('Turns').map((one) => one.label)).toEqual(['Turn 1', 'Turn 2, running']);
    expect(lane('Tools')[0]?.href).toBe(`/s/s/e/${entries[1]?.id}`);
  });
});

describe('words', () => {
  it('tell the picture to who does not see it', () => {
    expect(sentenceOf(timeline)).toBe('Timeline of the session: 2 turns, 3 tool calls, 2 waits for people of 57 s in all.');
    expect(metaOf(timeline)).toBe('1 m 20 s, 3 tool calls');
  });
  it('stand in a table, oldest first, each with its entry', () => {
    const { rows, head } = tableOf('s', timeline);
    expect(head).toHaveLength(5);
    expect(rows.map((row) => row[4])).toEqual(['over', 'failed', 'answered by ann', 'ran', 'running', 'open']);
  });
});
