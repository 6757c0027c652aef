// Keeps sessions and approvals as the server has them: loads both, then follows `/events`. Rules: the stream's first number is
// taken before the lists are read, so nothing falls between; a gap means everything anew; refreshes of one thing are joined, and a
// busy session is read a few times a second, not with each of its events; questions that never waited for anybody are not read;
// a read that failed is tried again, for the stream tells everything once.
import { Refused } from '../api/client';
import { follow, isFinal, waitOf, type Followed } from '../api/stream';
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
/** Ends what this following has begun: reads that wait for their next try. */
let ending = new AbortController();

/** Hears everything that happens. Queues, rules and totals of pages are renewed by it. */
export function onHappened(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Between two refreshes of one session, in milliseconds. */
const PAUSE = 150;

function rest(wait: number, signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const over = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', over);
      done();
    };
    const timer = setTimeout(over, wait);
    signal.addEventListener('abort', over);
  });
}

/** Joins refreshes: one runs, at most one more waits for it and for the pause. One that failed runs again. */
function joined(run: (id: string) => Promise<unknown>, pause = 0) {
  const running = new Map<string, { again: boolean; signal: AbortSignal }>();
  const isRunning = (id: string) => running.get(id)?.signal === ending.signal;
  const renew = async (id: string): Promise<void> => {
    const before = running.get(id);
    if (before && isRunning(id)) {
      before.again = true;
      return;
    }
    const { signal } = ending;
    const mine = { again: false, signal };
    running.set(id, mine);
    let failed = 0;
    do {
      mine.again = false;
      try {
        await run(id);
        failed = 0;
        if (pause > 0) await rest(pause, signal);
      } catch (error) {
        if (!(error instanceof Refused && isFinal(error))) mine.again = true;
        if (mine.again) await rest(waitOf(failed++, Math.random()), signal);
      }
    } while (mine.again && !signal.aborted);
    if (running.get(id) === mine) running.delete(id);
  };
  return { renew, isRunning };
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

/** Questions that were told of while the list was read, and were not known: the list may be older than that. */
const toldMeanwhile = new Set<string>();

const ALL = '';
const everything = joined(async () => {
  toldMeanwhile.clear();
  // Both to their end, so that none of a try that failed comes behind the next one.
  const read = await Promise.allSettled([sessions.load(), approvals.load()]);
  for (const id of toldMeanwhile) if (approvals.get(id)?.life === 'open') void byApproval.renew(id);
  for (const one of read) if (one.status === 'rejected') throw one.reason;
});

function happened(told: Told): void {
  let data: Happened;
  try {
    data = { ...(JSON.parse(told.data) as Happened), event: told.event } as Happened;
  } catch {
    return;
  }
  switch (data.event) {
    case 'caught-up':
      if (!hasHistory) void everything.renew(ALL);
      hasHistory = true;
      break;
    case 'gap':
      void everything.renew(ALL);
      break;
    case 'session':
    case 'queue':
    case 'turn':
      void bySession.renew(data.session);
      break;
    case 'approval':
      if (concerns(data)) void byApproval.renew(data.approval);
      else if (everything.isRunning(ALL)) toldMeanwhile.add(data.approval);
      void bySession.renew(data.session);
      break;
  }
  for (const listener of listeners) listener(data);
}

/** Begins. The page is signed in by then. */
export function startFeed(): void {
  stopFeed();
  ending = new AbortController();
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
  ending.abort();
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
