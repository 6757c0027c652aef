// The browser tests: one file after the other, on the built program.
import { defineConfig } from 'vitest/config';

const what = process.env['COUNTERSIGN_SHOTS'] ? 'e2e/shots.ts' : 'e2e/**/*.test.ts';

export default defineConfig({
  test: {
    include: [what],
    environment: 'node',
    fileParallelism: false,
    testTimeout: 45_000,
    hookTimeout: 45_000,
    // A failure is shown once, by its own words.
    retry: 0,
  },
});
