// The pure parts of the page's state: addresses, groups, keys, settings.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Session } from '../api/types';
import { chordOf, shownKeys } from './chords';
import { folderName, glyphOf, groupOf, inOrder } from './groups';
import { FIXED, KEYMAP, takenBy } from './keymap';
import { isServers, parse, shown, to } from './paths';
import { DEFAULTS, clampWidth, readPrefs } from './prefs.svelte';
import { go, route } from './route.svelte';

const press = (key: string, more: Partial<Record<'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey', boolean>> = {}) => ({
  key,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  shiftKey: false,
  ...more,
});

const session = (id: string, state: Session['state'], more: Partial<Session> = {}) =>
  ({ id, state, since: 10, last_activity: 10, ...more }) as Session;

describe('addresses', () => {
  it('mean what they were made of', () => {
    const back = (path: string) => {
      const [pathname = '', search = ''] = path.split('?');
      return parse(pathname, search && `?${search}`);
    };
    expect(back('/')).toEqual({ page: 'inbox', approval: null });
    expect(back(to.approval('a/b'))).toEqual({ page: 'inbox', approval: 'a/b' });
    expect(back(to.session('x'))).toEqual({ page: 'session', id: 'x', entry: null });
    expect(back(to.entry('x', '1-9.2'))).toEqual({ page: 'session', id: 'x', entry: '1-9.2' });
    expect(back(to.plan('x', 'p'))).toEqual({ page: 'plan', id: 'x', approval: 'p' });
    expect(back(to.search('a & b'))).toEqual({ page: 'search', q: 'a & b' });
    expect(back('/s/x/y')).toEqual({ page: 'nowhere', path: '/s/x/y' });
    expect(back('/inbox/%E0%A4%A')).toEqual({ page: 'inbox', approval: '%E0%A4%A' });
  });

  it('are compared as the browser writes them', () => {
    expect(shown(to.search("it's"), 'http://x.test/inbox')).toBe('/search?q=it%27s');
    expect(shown(to.search('a & “b”'), 'http://x.test/')).toBe(to.search('a & “b”'));
    for (const q of ["it's", "''", 'a b', '(ü)*!~', '']) {
      go(to.search(q));
      const [at, length] = [route.at, history.length];
      expect(at).toEqual({ page: 'search', q });
      go(to.search(q));
      go(to.search(q), { replace: true });
      expect(route.at).toBe(at);
      expect(history.length).toBe(length);
    }
  });

  it('leaves what the server answers to the server', () => {
    expect(['/plain', '/api/openapi.json', '/login', '/healthz'].every(isServers)).toBe(true);
    expect(['/inbox', '/planet', '/apiary'].some(isServers)).toBe(false);
  });
});

describe('sessions', () => {
  it('stand in four groups with six glyphs', () => {
    expect(groupOf(session('a', 'needs_you'))).toBe('needs');
    expect(groupOf(session('a', 'stalled'))).toBe('running');
    expect(glyphOf(session('a', 'stalled'))).toBe('stall');
    expect(glyphOf(session('a', 'failed'))).toBe('fail');
    expect(groupOf(session('a', 'stopped'))).toBe('done');
  });

  it('that need you are in the order in which they began to wait, all others newest first', () => {
    const waiting = [session('b', 'needs_you', { since: 2 }), session('a', 'needs_you', { since: 1 })];
    expect(inOrder('needs', waiting).map((one) => one.id)).toEqual(['a', 'b']);
    const idle = [session('a', 'idle', { last_activity: 1 }), session('b', 'idle', { last_activity: 2 })];
    expect(inOrder('idle', idle).map((one) => one.id)).toEqual(['b', 'a']);
  });

  it('are called by the last part of their folder', () => {
    expect(['/srv/app', '/srv/app/', 'C:\\code\\app', '/'].map(folderName)).toEqual(['app', 'app', 'app', '/']);
  });
});

describe('keys', () => {
  it('are named by what was pressed', () => {
    expect(chordOf(press('a'))).toBe('a');
    expect(chordOf(press('A', { shiftKey: true }))).toBe('A');
    expect(chordOf(press('?', { shiftKey: true }))).toBe('?');
    expect(chordOf(press('K', { ctrlKey: true, shiftKey: true }))).toBe('mod+shift+k');
    expect(chordOf(press('k', { metaKey: true }))).toBe('mod+k');
    expect(chordOf(press('Enter', { ctrlKey: true, shiftKey: true }))).toBe('mod+shift+Enter');
  });

  it('are shown as the machine calls them', () => {
    expect(shownKeys('mod+k', false)).toEqual(['Ctrl', 'K']);
    expect(shownKeys('mod+k', true)).toEqual(['⌘', 'K']);
    expect(shownKeys('g i', false)).toEqual(['G', 'I']);
    expect(shownKeys('X', false)).toEqual(['⇧', 'X']);
  });

  it('mean one thing each, and a key that is taken is told by what it does', () => {
    const all = KEYMAP.flatMap((group) => group.keys.map((one) => one.key));
    expect(new Set(all).size).toBe(all.length);
    expect(takenBy('a', 'd', {})).toBe('Allow once');
    expect(takenBy('a', 'a', {})).toBeNull();
    expect(takenBy('a', 'd', { a: 'y' })).toBeNull();
    expect([...FIXED].every((key) => all.includes(key))).toBe(true);
  });
});

describe('settings', () => {
  it('are the defaults where what is stored cannot be read', () => {
    for (const bad of [null, '', '{', '7', 'null', '[]']) expect(readPrefs(bad)).toEqual(DEFAULTS);
    expect(readPrefs('{"theme":7,"sideWidth":300,"unknown":1}')).toEqual({ ...DEFAULTS, sideWidth: 300 });
  });

  it('keep columns within their widths', () => {
    expect([100, 300.4, 900].map(clampWidth)).toEqual([240, 300, 420]);
  });
});

describe('tokens.css', () => {
  it('says the dark scheme twice, the same both times', () => {
    const css = readFileSync('src/tokens.css', 'utf8');
    const blocks = [...css.matchAll(/:root(?:\[data-theme="dark"\]|:not\(\[data-theme="light"\]\)) \{\s*(--canvas[^}]*)\}/g)];
    const flat = blocks.map((block) => (block[1] ?? '').replace(/\s+/g, ' ').trim());
    expect(flat).toHaveLength(2);
    expect(flat[0]).toBe(flat[1]);
  });
});
