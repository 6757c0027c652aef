// A list that does not re-sort under the pointer or the focus: the new order waits until they have left, at most three seconds. What
// was asked for, it does at once.

const PATIENCE = 3000;

/** What to show of `source` while somebody may be about to press something inside `element`. `order`: what the reader chose. */
export function steady<T>(source: () => T, element: () => HTMLElement | undefined, order?: () => unknown): { readonly value: T } {
  let shown = $state.raw(source());
  let heldSince = 0;
  let chosen = order?.();

  $effect(() => {
    const next = source();
    const at = element();
    const isHeld = () => Boolean(at?.matches(':hover, :focus-within'));
    const isChosen = chosen !== order?.();
    if (isChosen || !isHeld()) {
      chosen = order?.();
      heldSince = 0;
      shown = next;
      return;
    }
    heldSince ||= Date.now();
    const take = () => {
      heldSince = 0;
      shown = next;
    };
    const timer = setTimeout(take, Math.max(0, heldSince + PATIENCE - Date.now()));
    const left = () => {
      if (!isHeld()) take();
    };
    at?.addEventListener('pointerleave', left);
    at?.addEventListener('focusout', left);
    return () => {
      clearTimeout(timer);
      at?.removeEventListener('pointerleave', left);
      at?.removeEventListener('focusout', left);
    };
  });

  return {
    get value() {
      return shown;
    },
  };
}
