// public/*.png anew from public/icon.svg: for places that take no SVG (home screens, older installers). Run by hand, after the sign has
// changed; what it makes is kept with the sources. CHROMIUM names the browser.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const svg = readFileSync(new URL('public/icon.svg', import.meta.url), 'utf8');
const folder = new URL('public/', import.meta.url).pathname;
/** Cut to a shape by whoever shows it: the ground fills the square, the sign stays in the safe middle. */
const FULL = 'background:#1b1e24';
const ICONS = [
  { file: 'icon-192.png', size: 192, inner: 192, ground: '' },
  { file: 'icon-512.png', size: 512, inner: 512, ground: '' },
  { file: 'icon-maskable-512.png', size: 512, inner: 410, ground: FULL },
  { file: 'apple-touch-icon.png', size: 180, inner: 150, ground: FULL },
];

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });
for (const { file, size, inner, ground } of ICONS) {
  const page = await browser.newPage({ viewport: { width: size, height: size } });
  const sized = svg.replace('<svg ', `<svg width="${inner}" height="${inner}" `);
  await page.setContent(`<body style="margin:0;height:100vh;display:grid;place-items:center;${ground}">${sized}</body>`);
  await page.screenshot({ path: join(folder, file), omitBackground: true });
  await page.close();
}
await browser.close();
