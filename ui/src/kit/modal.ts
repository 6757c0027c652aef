// How a dialog opens and closes, in the middle or at an edge: by the browser's own means, and keys of the page rest meanwhile.
import { modal } from '../state/keys.svelte';

export function shown(element: HTMLDialogElement): () => void {
  element.showModal();
  const undo = modal(element);
  return () => {
    undo();
    element.close();
  };
}
