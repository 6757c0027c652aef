// A bulk answer that the host refuses for one of its questions is given to the others.
import { afterEach, expect, it, vi } from 'vitest';
import { bulk } from './alike';
import { desk } from './desk.svelte';
import { asked } from './testing';

afterEach(() => vi.unstubAllGlobals());

it('answers alike ones one by one where somebody was quicker with one of them', async () => {
  const all = ['one', 'two', 'three'].map((id, at) => asked({ id, digest: `d-${id}`, asked: at }));
  const sent: string[] = [];
  const refusal = { code: 'conflict', detail: 'somebody was first', status: 409, title: 'No', type: 'x' };
  vi.stubGlobal('fetch', async (request: Request) => {
    const path = new URL(request.url).pathname.replace('/api/v1/approvals/', '');
    if (request.method === 'GET') return Response.json(all.find(({ id }) => id === path));
    sent.push(path);
    if (path.endsWith('/alike') || path === 'two/decision') return Response.json(refusal, { status: 409 });
    return Response.json({ did: { did: 'decided', approvals: [path.split('/')[0]] } });
  });
  const [sending] = bulk(all, 'once');
  if (!sending) throw new Error('nothing is sent');
  await desk.together(all, sending);
  expect(sent).toEqual(['one/decision/alike', 'one/decision', 'two/decision', 'three/decision']);
  expect(all.map(({ id }) => desk.of(id).phase)).toEqual(['sending', 'late', 'sending']);
});
