// Begins a session from a draft. Also keeps what was typed when the dialog was closed, as long as the page lives.
import { api, take } from '../../api/client';
import { sessions } from '../../state/sessions.svelte';
import { bodyOf, type Draft } from './draft';

export const lastDraft = $state<{ value: Partial<Draft> }>({ value: {} });

/** Its id. */
export async function begin(draft: Draft, then: string[] = []): Promise<string> {
  const receipt = await take(api.POST('/api/v1/sessions', { body: bodyOf(draft, Date.now()) }));
  if (receipt.did.did !== 'session') throw new Error('The server did not start a session.');
  const id = receipt.did.session;
  const params = { path: { id } };
  for (const text of then) {
    await take(api.POST('/api/v1/sessions/{id}/messages', { params, body: { text } }));
  }
  await sessions.refresh(id);
  return id;
}
