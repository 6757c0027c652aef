// Short facts at the foot of the page. Never errors, never something that may be missed: those are banners and cards.
import { announce } from './announce.svelte';

export interface Toast {
  id: number;
  words: string;
  /** At most one thing to do next. */
  next: { label: string; act: () => void } | null;
}

export const TOAST_LASTS = 5000;
const MOST = 3;
let last = 0;

export const toasts = $state<Toast[]>([]);

export function toast(words: string, next: Toast['next'] = null): number {
  const id = ++last;
  toasts.push({ id, words, next });
  if (toasts.length > MOST) toasts.shift();
  announce(words);
  return id;
}

export function dismiss(id: number): void {
  const at = toasts.findIndex((one) => one.id === id);
  if (at >= 0) toasts.splice(at, 1);
}
