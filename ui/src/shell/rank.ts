// Which of many things somebody means by a few letters. Pure.

/** How well `words` fits `query`: 0 is not at all. Whole beginnings of words first, then letters in order. */
export function score(query: string, words: string): number {
  const wanted = query.trim().toLowerCase();
  if (wanted === '') return 1;
  const text = words.toLowerCase();
  if (text.startsWith(wanted)) return 100;
  const parts = wanted.split(/\s+/);
  const starts = text.split(/[\s/._-]+/);
  if (parts.every((part) => starts.some((start) => start.startsWith(part)))) return 80;
  if (parts.every((part) => text.includes(part))) return 60;
  let at = 0;
  for (const letter of wanted.replace(/\s/g, '')) {
    at = text.indexOf(letter, at) + 1;
    if (at === 0) return 0;
  }
  return 20;
}

/** The best ones, best first; equals stay in their order. */
export function rank<T>(query: string, items: readonly T[], words: (item: T) => string, most: number): T[] {
  return items
    .map((item, n) => ({ item, n, fits: score(query, words(item)) }))
    .filter((one) => one.fits > 0)
    .sort((a, b) => b.fits - a.fits || a.n - b.n)
    .slice(0, most)
    .map((one) => one.item);
}
