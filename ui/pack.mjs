// Puts a gzip copy beside each script and style: packed once and well, instead of by the server at every load.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { constants, gzipSync } from 'node:zlib';

const assets = join(process.env.COUNTERSIGN_UI_OUT ?? 'dist', 'assets');
for (const name of readdirSync(assets).filter((file) => /\.(js|css)$/.test(file))) {
  const packed = gzipSync(readFileSync(join(assets, name)), { level: constants.Z_BEST_COMPRESSION });
  writeFileSync(join(assets, `${name}.gz`), packed);
}
