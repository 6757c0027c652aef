// The keyboard. Rules: single keys never act in text fields; a key bound to an element acts only while the focus is inside it;
// the innermost binding wins; while a dialog is open, only what is inside it hears keys, and where nothing has the focus, it has;
// Escape in a text field is what is around the field's, else it leaves the field: never the page's.
import { chordOf } from './chords';
import { prefs } from './prefs.svelte';

/** `page`: anywhere. `always`: also in text fields and over dialogs. An element: only while the focus is inside it. */
export type KeyScope = 'page' | 'always' | HTMLElement;

/** Keys, what each does, and what it says it does. */
export type KeyActs = Record<string, [Binding['act'], string]>;

interface Binding {
  scope: KeyScope;
  /** As in `chordOf`; several keys after each other with blanks: `g i`. */
  key: string;
  act: (event: KeyboardEvent) => void | false;
  words: string;
}

const bindings: Binding[] = [];
const modals: HTMLElement[] = [];
const SEQUENCE = 1000;
let begun = '';
let begunAt = 0;

/** Binds a key. Returns what takes it back. `act` may return false: not mine, ask the next one. */
export function onKey(scope: KeyScope, key: string, act: Binding['act'], words: string): () => void {
  const binding = { scope, key, act, words };
  bindings.push(binding);
  return () => {
    const at = bindings.indexOf(binding);
    if (at >= 0) bindings.splice(at, 1);
  };
}

/** The key that does it: the reader's own, or the default. */
export const keyFor = (key: string): string => prefs.keys[key] ?? key;

/** For `use:` and `{@attach}`: binds keys to an element while it is there. */
export function keysOn(element: HTMLElement, map: KeyActs): () => void {
  const undo = Object.entries(map).map(([key, [act, words]]) => onKey(element, key, act, words));
  return () => undo.forEach((one) => one());
}

/** While it is open, only keys inside this element act. */
export function modal(element: HTMLElement): () => void {
  modals.push(element);
  return () => {
    const at = modals.indexOf(element);
    if (at >= 0) modals.splice(at, 1);
  };
}

export const hasModal = (): boolean => modals.length > 0;

/** A field that takes what is typed. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable) return true;
  if (target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement) return true;
  const silent = ['button', 'checkbox', 'radio', 'range', 'submit', 'reset', 'color', 'file'];
  return target instanceof HTMLInputElement && !silent.includes(target.type);
}

function depth(scope: KeyScope): number {
  if (scope === 'always' || scope === 'page') return 0;
  let n = 1;
  for (let at: HTMLElement | null = scope; at; at = at.parentElement) n += 1;
  return n;
}

function hears(binding: Binding, target: Node | null): boolean {
  const { scope } = binding;
  if (scope === 'always') return true;
  const top = modals.at(-1);
  if (scope === 'page') return top === undefined;
  return scope.contains(target) && (top === undefined || top.contains(scope));
}

function pressed(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing) return;
  const chord = chordOf(event);
  if (['Shift', 'Control', 'Alt', 'Meta'].includes(event.key)) return;
  const isFresh = event.timeStamp - begunAt < SEQUENCE;
  const whole = begun && isFresh ? `${begun} ${chord}` : chord;
  // A press on an empty place of a dialog takes the focus away from what is in it.
  const top = modals.at(-1);
  const pressedOn = event.target instanceof Node ? event.target : null;
  const target = top && pressedOn === document.body ? top : pressedOn;
  const isLeaving = chord === 'Escape' && isTyping(event.target);
  const isText = isTyping(event.target) && !chord.startsWith('mod+') && event.key !== 'Escape';
  begun = '';
  const able = bindings
    .filter((one) => hears(one, target) && (!isText || one.scope === 'always') && !(isLeaving && one.scope === 'page'))
    .reverse()
    .sort((a, b) => depth(b.scope) - depth(a.scope));
  const tries = whole === chord ? [chord] : [whole, chord];
  for (const wanted of tries) {
    for (const one of able) {
      if (keyFor(one.key) !== wanted) continue;
      if (one.act(event) === false) continue;
      event.preventDefault();
      return;
    }
  }
  // A dialog is closed by the browser, and its field goes with it.
  if (isLeaving && top === undefined && event.target instanceof HTMLElement) return event.target.blur();
  if (able.some((one) => keyFor(one.key).startsWith(`${whole} `))) {
    begun = whole;
    begunAt = event.timeStamp;
    event.preventDefault();
  }
}

export const isMac = /Mac|iPhone|iPad/.test(navigator.platform);

addEventListener('keydown', pressed);
