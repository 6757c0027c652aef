// The page's own icons as path data on a grid of 16, stroke 1.5. `fill` marks those that are drawn full.

const circle = (cx: number, cy: number, r: number): string =>
  `M${cx - r} ${cy}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;

const box = (x: number, y: number, w: number, h: number, r: number): string =>
  `M${x + r} ${y}h${w - 2 * r}a${r} ${r} 0 0 1 ${r} ${r}v${h - 2 * r}a${r} ${r} 0 0 1 ${-r} ${r}` +
  `h${2 * r - w}a${r} ${r} 0 0 1 ${-r} ${-r}v${2 * r - h}a${r} ${r} 0 0 1 ${r} ${-r}z`;

interface Drawing {
  line?: string;
  fill?: string;
}

const shield = 'M8 2l4.8 1.7v3.8c0 3-2 5.2-4.8 6.500-2.800-1.300-4.800-3.500-4.800-6.500V3.700z';
const dot = (x: number, y: number, r: number) => circle(x, y, r);

export const ICONS = {
  inbox: { line: 'M2 9.5h3.2c.3 1.4 1.4 2 2.8 2s2.5-.6 2.8-2H14M2.5 9 4 3.500h8L13.500 9v3.500a1 1 0 0 1-1 1h-9a1 1 0 0 1-1-1z' },
  stack: { line: 'M2.500 4h11M2.500 8h11M2.500 12h7' },
  chart: { line: 'M2.500 13.500h11M4.500 11V8M8 11V3.500M11.500 11V6' },
  shield: { line: shield },
  shieldck: { line: `${shield}M5.900 7.800l1.500 1.500 2.800-3` },
  plus: { line: 'M8 3v10M3 8h10' },
  search: { line: `${circle(7, 7, 4.2)}M10.200 10.200 13.500 13.500` },
  term: { line: `${box(1.8, 2.8, 12.4, 10.4, 2)}M4.800 6.200 6.800 8l-2 1.800M8.600 10h2.600` },
  edit: { line: 'M3 13l.6-2.800 7-7a1.300 1.300 0 0 1 1.900 0l.3.3a1.300 1.300 0 0 1 0 1.900l-7 7z' },
  file: { line: 'M4 2h5l3.500 3.500V13a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1V3a1 1 0 0 1 1-1zM9 2v3.500h3.500' },
  globe: { line: `${circle(8, 8, 5.8)}M2.200 8h11.600M8 2.200c2 1.700 2.500 3.800 2.500 5.800S10 12.100 8 13.800C6 12.100 5.500 10 5.500 8S6 3.900 8 2.200z` },
  agents: { line: `${circle(4, 3.8, 1.6)}${circle(12, 7, 1.6)}${circle(12, 12.2, 1.6)}M4 5.400v4.800a2 2 0 0 0 2 2h4.400M4 7h6.400` },
  check: { line: 'M3.500 8.500l3 3 6-7' },
  x: { line: 'M4 4l8 8M12 4l-8 8' },
  chev: { line: 'M6 3.500 10.500 8 6 12.500' },
  back: { line: 'M10 3 5 8l5 5' },
  clock: { line: `${circle(8, 8, 5.8)}M8 4.800V8l2.200 1.400` },
  think: { line: 'M6 12.500h4M6.700 14.500h2.600M5.800 10.300A4.500 4.500 0 1 1 10.200 10.300c-.5.4-.7.8-.7 1.200h-3c0-.4-.2-.8-.7-1.200z' },
  plan: { line: 'M4 2h8a1 1 0 0 1 1 1v10a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1V3a1 1 0 0 1 1-1zM5.500 5.500h5M5.500 8h5M5.500 10.500h3' },
  quest: { line: `${circle(8, 8, 5.8)}M6.300 6.400c.1-1 .8-1.500 1.700-1.500s1.700.6 1.700 1.500c0 1.200-1.700 1.200-1.700 2.500M8 11.100v.1` },
  send: { line: 'M8 13V3.500M4 7.300 8 3.300l4 4' },
  stop: { fill: box(4, 4, 8, 8, 1.5) },
  clip: { line: 'M12.800 7.600 8 12.300a3 3 0 0 1-4.300-4.200l5-5a2 2 0 0 1 2.900 2.800l-5 5a1 1 0 0 1-1.500-1.400l4.400-4.400' },
  grip: { fill: [4, 8, 12].map((y) => dot(6, y, 1) + dot(10, y, 1)).join('') },
  trash: { line: 'M3 4.500h10M6.500 4.500V3h3v1.500M4.500 4.500l.6 8.500h5.800l.6-8.500' },
  panel: { line: `${box(2, 3, 12, 10, 1.8)}M10 3v10` },
  dots: { fill: [3.5, 8, 12.5].map((x) => dot(x, 8, 1.2)).join('') },
  warn: { line: 'M8 2.500 14.200 13H1.800zM8 6.500v3M8 11.200v.1' },
  copy: { line: `${box(5.5, 5.5, 8, 8, 1.5)}M3.500 10.500h-.5a1 1 0 0 1-1-1V3.500a1 1 0 0 1 1-1h6a1 1 0 0 1 1 1V4` },
  note: { line: 'M3 3h10a1 1 0 0 1 1 1v6a1 1 0 0 1-1 1H7.500L4.500 13.500V11H3a1 1 0 0 1-1-1V4a1 1 0 0 1 1-1z' },
  down: { line: 'M8 2.500v8M4.500 7.500 8 11l3.500-3.500M3 13.500h10' },
  up: { line: 'M4 10l4-4 4 4' },
  filter: { line: 'M2.500 4h11M4.500 8h7M6.500 12h3' },
  play: { line: 'M5 3.200v9.600l7.500-4.800z' },
  fresh: { line: 'M13 8a5 5 0 1 1-1.600-3.700M13 2.500V5h-2.500' },
  branch: { line: `${circle(4.5, 3.8, 1.5)}${circle(4.5, 12.2, 1.5)}${circle(11.5, 5.3, 1.5)}M4.500 5.300v5.400M11.500 6.800c0 2.400-3 2.200-5.500 3` },
  folder: { line: 'M2 4.500a1 1 0 0 1 1-1h3.200l1.300 1.500H13a1 1 0 0 1 1 1v6a1 1 0 0 1-1 1H3a1 1 0 0 1-1-1z' },
  phone: { line: `${box(4.5, 1.8, 7, 12.4, 1.6)}M7.300 12h1.400` },
  laptop: { line: `${box(3, 3.5, 10, 7, 1.2)}M1.500 12.800h13` },
  seal: { line: `${circle(8, 6.5, 4.2)}M6.200 6.600l1.300 1.300 2.300-2.500M5.800 10.200 5 14l3-1.500 3 1.500-.8-3.800` },
  model: { line: 'M8 2l1.500 4.500L14 8l-4.500 1.500L8 14l-1.500-4.500L2 8l4.500-1.500z' },
  bolt: { line: 'M9 2 4 9h3.500L7 14l5-7H8.500z' },
  eye: { line: `M1.800 8s2.200-4.200 6.200-4.200S14.200 8 14.200 8 12 12.200 8 12.200 1.800 8 1.800 8z${circle(8, 8, 1.8)}` },
  wifi: { line: 'M2 6.500c3.500-3.300 8.500-3.300 12 0M4.300 9.200c2.200-2 5.200-2 7.400 0M8 12v.1M3 2.500l10 11' },
  gear: { line: `${circle(8, 8, 2.2)}M8 1.800v2M8 12.200v2M1.800 8h2M12.200 8h2M3.600 3.600 5 5M11 11l1.400 1.400M12.400 3.600 11 5M5 11l-1.400 1.400` },
  bell: { line: 'M4.200 11V7.200a3.800 3.800 0 0 1 7.600 0V11l1.200 1.200H3zM6.700 14h2.600' },
  keys: { line: `${box(1.8, 4, 12.4, 8, 1.6)}M4.500 6.800h.1M7 6.800h.1M9.500 6.800h.1M12 6.800h-.1M5.500 9.500h5` },
} satisfies Record<string, Drawing>;

export type IconName = keyof typeof ICONS;
export const drawing = (name: IconName): Drawing => ICONS[name];
