// Rules that were suggested and not wanted. This browser's own; the newest hundred are kept.
import { SvelteSet } from 'svelte/reactivity';

const KEY = 'countersign.passed';
const MOST = 100;

class Passed {
  readonly #rules = new SvelteSet<string>(read());

  has(rule: string): boolean {
    return this.#rules.has(rule);
  }

  add(rule: string): void {
    this.#rules.add(rule);
    try {
      localStorage.setItem(KEY, JSON.stringify([...this.#rules].slice(-MOST)));
    } catch {
      // It is passed over as long as the page lasts.
    }
  }
}

function read(): string[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]');
    return Array.isArray(stored) ? stored.filter((one) => typeof one === 'string') : [];
  } catch {
    return [];
  }
}

export const passed = new Passed();
