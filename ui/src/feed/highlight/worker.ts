// Colours code beside the page: highlight.js runs here and nowhere else. Gives back tokens, never HTML.
// Keeps: a language is loaded once; whatever goes wrong, there is an answer.

import hljs from 'highlight.js/lib/core';
import { LANGUAGES } from './languages';
import { linesOf, type Scope, type Tok } from './tokens';

interface Asked { id: number; code: string; language: string }
export interface Coloured { id: number; lines: Tok[][] | null }

const loading = new Map<string, Promise<void>>();

function load(name: string): Promise<void> {
  const known = loading.get(name);
  if (known) return known;
  const language = LANGUAGES[name];
  const started = language
    ? language().then((loaded) => hljs.registerLanguage(name, loaded.default))
    : Promise.reject(new Error(`no language ${name}`));
  loading.set(name, started);
  return started;
}

async function colour({ code, language }: Asked): Promise<Tok[][] | null> {
  try {
    await load(language);
    const { _emitter } = hljs.highlight(code, { language, ignoreIllegals: true }) as unknown as { _emitter: { root: Scope } };
    return linesOf(_emitter.root);
  } catch {
    return null;
  }
}

addEventListener('message', (event: MessageEvent<Asked>) => {
  void colour(event.data).then((lines) => postMessage({ id: event.data.id, lines } satisfies Coloured));
});
