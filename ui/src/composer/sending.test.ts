// The button says what happens.
import { describe, expect, it } from 'vitest';
import type { Session } from '../api/types';
import { doing, sends } from './sending';

const session = (state: object): Session => ({ id: 's', name: 'n', trashed: null, ...state }) as unknown as Session;

describe('the button of the composer', () => {
  it('sends, queues, resumes, or waits for the connection', () => {
    const label = (state: object, away = false) => doing(session(state), away, true).label;
    expect(label({ state: 'idle', asleep: false })).toBe('Send');
    expect(label({ state: 'running' })).toBe('Queue');
    expect(label({ state: 'needs_you', open: 1 })).toBe('Queue');
    expect(label({ state: 'failed', stderr: '' })).toBe('Resume and send');
    expect(label({ state: 'running' }, true)).toBe('Send when back');
    expect(doing(session({ state: 'stopped' }), true, true).hint).toContain('It resumes');
  });

  it('interrupts only what runs, and does nothing for those who may only watch', () => {
    expect(doing(session({ state: 'running' }), false, true).canInterrupt).toBe(true);
    expect(doing(session({ state: 'idle', asleep: true }), false, true).canInterrupt).toBe(false);
    expect(doing(session({ state: 'running' }), false, false)).toMatchObject({ way: 'none', canInterrupt: false });
  });
});

describe('enter_sends_by_a_setting_and_never_on_an_on_screen_keyboard', () => {
  const press = (more: object = {}) => ({ key: 'Enter', shiftKey: false, altKey: false, ctrlKey: false, metaKey: false, ...more });

  it('sends, and breaks the line with Shift', () => {
    expect(sends(press(), true, false)).toBe(true);
    expect(sends(press({ shiftKey: true }), true, false)).toBe(false);
    expect(sends(press({ altKey: true }), true, false)).toBe(false);
    expect(sends(press({ key: 'a' }), true, false)).toBe(false);
  });

  it('breaks the line where it is set so, or a finger types', () => {
    expect(sends(press(), false, false)).toBe(false);
    expect(sends(press(), true, true)).toBe(false);
    for (const mod of [{ ctrlKey: true }, { metaKey: true }]) {
      expect(sends(press(mod), false, true)).toBe(true);
      expect(sends(press({ ...mod, shiftKey: true }), false, true)).toBe(false);
    }
  });
});
