// Begins a session from a draft. Also keeps what was typed when the dialog was closed, as long as the page lives.
import { api, take } from '../../api/client';
import { sessions } from '../../state/sessions.svelte';
import { bodyOf, type Draft } from './draft';

export const lastDraft = $state<{ value: Partial<Draft> }>({ value: {} });

/** Its id. A hands-off session gets its end right after the start. */
export async function begin(draft: Draft, then: string[] = []): Promise<string> {
  const receipt = await take(api.POST('/api/v1/sessions', { body: bodyOf(draft) }));
  if (receipt.did.did !== 'session') throw new Error('The server began no session.');
  const id = receipt.did.session;
  const params = { path: { id } };
  if (draft.mode === 'hands-off') {
    const until = (Date.now() + draft.minutes * 60_000) * 1000;
    await take(api.PUT('/api/v1/sessions/{id}/mode', { params, body: { mode: 'hands-off', until } }));
  }
  for (const text of then) {
    await take(api.POST('/api/v1/sessions/{id}/messages', { params, body: { text } }));
  }
  await sessions.refresh(id);
  return id;
}
