// How the benchmark of the page runs: one file, as long as it takes, and what it measures goes to the file of COUNTERSIGN_BENCH.
import { defineConfig } from 'vitest/config';

const LONG = 30 * 60_000;

export default defineConfig({
  test: {
    include: ['bench/long.ts'],
    environment: 'node',
    fileParallelism: false,
    testTimeout: LONG,
    hookTimeout: LONG,
    // What fails has no figures, and the parts behind it would measure another course.
    bail: 1,
    retry: 0,
  },
});
