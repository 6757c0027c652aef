// Fails the build where the first view loads more than its budget: index.html, its script with all it imports at once, its styles.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const LIMIT = 300 * 1024;
const dist = process.env.COUNTERSIGN_UI_OUT ?? 'dist';
const manifest = JSON.parse(readFileSync(join(dist, '.vite/manifest.json'), 'utf8'));
const first = new Set(['index.html', 'theme.js']);
const seen = new Set();

function take(name) {
  if (seen.has(name)) return;
  seen.add(name);
  const chunk = manifest[name];
  first.add(chunk.file);
  for (const css of chunk.css ?? []) first.add(css);
  for (const next of chunk.imports ?? []) take(next);
}
for (const [name, chunk] of Object.entries(manifest)) if (chunk.isEntry) take(name);

let sum = 0;
for (const file of first) sum += gzipSync(readFileSync(join(dist, file))).length;
const kib = (bytes) => `${(bytes / 1024).toFixed(1)} KiB`;
console.log(`first view: ${kib(sum)} gzip in ${first.size} files, of ${kib(LIMIT)}`);
if (sum > LIMIT) {
  console.error('The first view is over its budget. Load what it does not need at once with import().');
  process.exit(1);
}
