// What is written on cards and not sent yet, by question. It outlives the card: one that is scrolled away is taken down, and so are its
// forms while an answer is on its way. Invariant: it is there until the question is open no longer.

import { untrack } from 'svelte';
import { approvals } from '../state/approvals.svelte';

class Unsent {
  #byId = new Map<string, Map<string, object>>();

  constructor() {
    $effect.root(() => {
      $effect(() => {
        const open = new Set(approvals.open.map((one) => one.id));
        untrack(() => this.#dropAllBut(open));
      });
    });
  }

  /** The state of a form of this question, made by `first` where there is none. Name it by the digest, too, where it is about what
      was shown. */
  of<T extends object>(id: string, form: string, first: () => T): T {
    const forms = this.#byId.get(id) ?? new Map<string, object>();
    this.#byId.set(id, forms);
    const before = forms.get(form);
    if (before) return before as T;
    const made = $state(first());
    forms.set(form, made);
    return made;
  }

  #dropAllBut(open: Set<string>): void {
    for (const id of this.#byId.keys()) if (!open.has(id)) this.#byId.delete(id);
  }
}

export const unsent = new Unsent();
