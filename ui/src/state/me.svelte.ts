// Who the reader is and what they may do. A refusal with `not_signed_in` anywhere ends the login here.
import { api, onRefused, take } from '../api/client';
import type { Me, TokenScope } from '../api/types';

const ORDER: TokenScope[] = ['read', 'answer', 'full'];

class Reader {
  who = $state.raw<Me | null>(null);
  /** `unknown` until the server has said it. */
  status = $state<'unknown' | 'in' | 'out'>('unknown');
  /** There was a login, and it has ended: say so, not "welcome". */
  hasEnded = $state(false);

  constructor() {
    onRefused((refused) => {
      if (refused.code === 'not_signed_in') this.out();
    });
  }

  /** May answer questions. */
  get mayAnswer(): boolean {
    return this.has('answer');
  }

  /** May begin sessions, change rules and settings. */
  get mayAll(): boolean {
    return this.has('full');
  }

  async load(): Promise<void> {
    this.who = await take(api.GET('/api/v1/me'));
    this.status = 'in';
    this.hasEnded = false;
  }

  async signOut(): Promise<void> {
    await take(api.POST('/api/v1/logout'));
    this.who = null;
    this.status = 'out';
    this.hasEnded = false;
  }

  /** By a token, typed into the page. */
  async signIn(token: string): Promise<void> {
    this.who = await take(api.POST('/api/v1/login', { body: { token } }));
    this.status = 'in';
    this.hasEnded = false;
  }

  private out(): void {
    // Several requests may be refused at once: the second one is no other news.
    this.hasEnded ||= this.status === 'in';
    this.who = null;
    this.status = 'out';
  }

  private has(scope: TokenScope): boolean {
    return this.who !== null && ORDER.indexOf(this.who.scope) >= ORDER.indexOf(scope);
  }
}

export const me = new Reader();
