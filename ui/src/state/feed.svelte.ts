// Keeps sessions and approvals as the server has them: loads both, then follows `/events`. Rules: the stream's first number is
// taken before the lists are read, so nothing falls between; a gap means everything anew; refreshes of one thing are joined, and a
// busy session is read a few times a second, not with each of its events; questions that never waited for anybody are not read.
import { follow, type Followed } from '../api/stream';
import type { Told } from '../api/sse';
import { announce } from './announce.svelte';
import { approvals } from './approvals.svelte';
import { connection } from './connection.svelte';
import { me } from './me.svelte';
import { sessions } from './sessions.svelte';
import type { Approval, Happened } from '../api/types';

type Listener = (happened: Happened) => void;
const listeners = new Set<Listener>();
let stream: Followed | null = null;
let hasHistory = false;

/** Hears everything that happens. Queues, rules and totals of pages are renewed by it. */
export function onHappened(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Between two refreshes of one session, in milliseconds. */
const PAUSE = 150;

/** Joins refreshes: one runs, at most one more waits for it and for the pause. */
function joined(run: (id: string) => Promise<unknown>, pause = 0) {
  const running = new Map<string, { again: boolean }>();
  const renew = async (id: string): Promise<void> => {
    const before = running.get(id);
    if (before) {
      before.again = true;
      return;
    }
    const mine = { again: false };
    running.set(id, mine);
    try {
      do {
        mine.again = false;
        await run(id);
        if (pause > 0) await new Promise((done) => setTimeout(done, pause));
      } while (mine.again);
    } catch {
      // The connection broke: the next gap or event asks again.
    } finally {
      running.delete(id);
    }
  };
  return { renew, isRunning: (id: string) => running.has(id) };
}

const bySession = joined((id) => sessions.refresh(id), PAUSE);
const byApproval = joined(async (id) => {
  const before = approvals.get(id);
  const now = await approvals.refresh(id);
  if (now && !before && now.life === 'open') announce(`Question from ${now.session_name}: ${sayOf(now)}`);
});

/** Whether the page has to know of it: it is open, or it was. A rule decides thousands that nobody ever sees as a question. */
function concerns({ approval, life }: Extract<Happened, { event: 'approval' }>): boolean {
  return life === 'open' || approvals.get(approval) !== undefined || byApproval.isRunning(approval);
}

function sayOf(approval: Approval): string {
  return approval.kind === 'plan' ? 'a plan to review.' : `${approval.tool}.`;
}

async function loadAll(): Promise<void> {
  await Promise.all([sessions.load(), approvals.load()]);
}

function happened(told: Told): void {
  let data: Happened;
  try {
    data = { ...(JSON.parse(told.data) as Happened), event: told.event } as Happened;
  } catch {
    return;
  }
  if (hasHistory && connection.back && data.event !== 'caught-up') connection.caughtUp();
  switch (data.event) {
    case 'caught-up':
      if (!hasHistory) void loadAll().catch(() => {});
      hasHistory = true;
      break;
    case 'gap':
      void loadAll().catch(() => {});
      break;
    case 'session':
    case 'queue':
    case 'turn':
      void bySession.renew(data.session);
      break;
    case 'approval':
      if (concerns(data)) void byApproval.renew(data.approval);
      void bySession.renew(data.session);
      break;
  }
  for (const listener of listeners) listener(data);
}

/** Begins. The page is signed in by then. */
export function startFeed(): void {
  stopFeed();
  hasHistory = false;
  stream = follow('/api/v1/events', {
    onEvent: happened,
    onSign: () => connection.heard(),
    onState: (state, refused) => {
      if (state === 'live') connection.up();
      if (state === 'lost') connection.down();
      if (refused?.code === 'not_signed_in') void me.load().catch(() => {});
    },
  });
}

export function stopFeed(): void {
  stream?.close();
  stream = null;
}

/** Tries at once: somebody pressed the button, or the network came back. */
export function retryNow(): void {
  stream?.now();
}

addEventListener('online', retryNow);
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) retryNow();
});
