// What the agent of the benchmark says: conversations as working sessions have them, the flood of the scenario `long`, and one long
// answer that comes word by word. Pure: numbers in, a scenario out.

/** Events of a flood, as in the scenario `long`. */
export const FLOOD = 100_000;
/** Words of the long answer, and the time between them in milliseconds. */
export const WORDS = 2_000;
export const PACE = 4;

const SENTENCE = 'The two readings of the clock can fall on either side of the cut-off, so the batch is retried once more than it may be. ';

/** One of them stands in each round: what it thinks, says and does. */
const ROUND = `
  think "The settlement of the batch is late. I look at where the clock is read, then at who calls it, before anything is changed."
  stream <<END
  Round \${n}. ${SENTENCE.repeat(3)}

  - \`retry.ts\` reads it **twice**
  - \`ledger.ts\` is given it

  \`\`\`ts
  export async function retry(batch: Batch, cutoff: number) {
    const now = clock.now();
    return now > cutoff ? 'expired' : attempt(batch, now);
  }
  \`\`\`
  END
  tool Read {"file_path":"\${cwd}/src/retry.ts"} gives "1\\texport async function retry() {}"
  tool Grep {"pattern":"clock.now","path":"\${cwd}/src"} gives "src/retry.ts:2: const now = clock.now();"
  tool Bash {"command":"npm test -- retry","description":"Run the tests"} gives "\\u001b[32m✓\\u001b[0m 41 passed  \\u001b[90m12.4 s\\u001b[0m"
  tool Edit {"file_path":"\${cwd}/src/retry.ts","old_string":"Date.now()","new_string":"clock.now()"} gives "The file has been updated."`;

/** A piece of the long answer: prose, a list, code. */
const PIECE = [
  `### Why it fails\n\n${SENTENCE.repeat(2)}\n\n`,
  '1. read the clock **once**\n2. hand it down to [the ledger](https://example.com/)\n3. compare with what was `due`\n\n',
  '```ts\nconst now = clock.now(); // once\nif (now > due) return expire(batch);\n```\n\n',
];

/** So many words of Markdown. */
export function longAnswer(words: number): string {
  let text = '';
  for (let at = 0, count = 0; count < words; at += 1) {
    const piece = PIECE[at % PIECE.length] ?? '';
    text += piece;
    count += piece.split(/\s+/).length - 1;
  }
  return text;
}

/** The scenario: what a message contains chooses the turn. A round of work says its number. */
export function scenario(rounds: number): string {
  return [
    '# Made by ui/bench.',
    'turn always when "work"',
    `  repeat ${rounds}${ROUND}`,
    '  end',
    'turn always when "flood"',
    `  flood ${FLOOD}`,
    '  say "That was the flood."',
    'turn always when "slowly"',
    `  pace ${PACE}ms`,
    `  stream ${JSON.stringify(longAnswer(WORDS))}`,
    'turn always',
    '  say "I heard: ${prompt}"',
    '',
  ].join('\n');
}
