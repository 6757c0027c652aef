// The one polite live region of the page. Shell draws it; whoever has something to say to a screen reader says it here.

export const announced = $state({ words: '' });

/** Says it once. The same words twice in a row are heard twice. */
export function announce(words: string): void {
  announced.words = announced.words === words ? `${words}\u00a0` : words;
}
