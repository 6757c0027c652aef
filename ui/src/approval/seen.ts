// How much of a thing was on the screen. Pure but for the observer that feeds it.
// A button may only say "Allow once" alone when all of it was seen at some time.

/** Lines of a thing that were never on the screen, by how far down it was seen. */
export function unseen(lines: number, height: number, deepest: number): number {
  if (height <= 0 || lines <= 0) return 0;
  const left = 1 - Math.min(1, Math.max(0, deepest) / height);
  const missing = Math.round(lines * left);
  // Less than a line is a matter of borders.
  return missing < 1 ? 0 : missing;
}

/** Lines that a long change keeps folded: nobody has seen them, whatever is on the screen. */
function hidden(node: HTMLElement, lines: number): number {
  if (node.querySelector('button.more') === null) return 0;
  return Math.max(1, lines - node.querySelectorAll('.dl:not(.hunk)').length);
}

/** Tells how many lines of a node were never seen, as it is scrolled. */
export function watchSeen(node: HTMLElement, of: { lines: number; told: (unseen: number) => void }) {
  let deepest = 0;
  let current = of;
  const marks = Array.from({ length: 41 }, (_, step) => step / 40);
  const observer = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      deepest = Math.max(deepest, entry.intersectionRect.bottom - entry.boundingClientRect.top + 2);
      const folded = hidden(node, current.lines);
      current.told(folded + unseen(current.lines - folded, entry.boundingClientRect.height, deepest));
    }
  }, { threshold: marks });
  observer.observe(node);
  return {
    update(next: { lines: number; told: (unseen: number) => void }) {
      current = next;
    },
    destroy() {
      observer.disconnect();
    },
  };
}
