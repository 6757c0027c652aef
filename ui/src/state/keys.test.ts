// Escape in a text field leaves the field, and does nothing else: it must not end a turn because of an answer.
import { afterEach, describe, expect, it } from 'vitest';
import { keysOn, modal, onKey } from './keys.svelte';

let undo: (() => void)[] = [];
afterEach(() => {
  undo.forEach((one) => one());
  undo = [];
  document.body.replaceChildren();
});

/** A field with the focus in a form, on a page where Escape does something. */
function page() {
  const did: string[] = [];
  const form = document.body.appendChild(document.createElement('form'));
  const field = form.appendChild(document.createElement('textarea'));
  undo.push(onKey('page', 'Escape', () => void did.push('interrupted'), 'Interrupt'));
  field.focus();
  const press = (on: Element) => on.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true, cancelable: true }));
  return { did, form, field, press };
}

describe('Escape', () => {
  it('in a field only leaves it; the next one is the page’s', () => {
    const { did, field, press } = page();
    press(field);
    expect([did, document.activeElement]).toEqual([[], document.body]);
    press(document.body);
    expect(did).toEqual(['interrupted']);
  });

  it('is first of what is around the field', () => {
    const { did, form, field, press } = page();
    undo.push(keysOn(form, { Escape: [() => void did.push('closed'), 'Close'] }));
    press(field);
    expect([did, document.activeElement]).toEqual([['closed'], field]);
  });

  it('in a dialog is left to the browser, which closes it', () => {
    const { did, form, field, press } = page();
    undo.push(modal(form));
    expect(press(field)).toBe(true);
    expect([did, document.activeElement]).toEqual([[], field]);
  });
});
