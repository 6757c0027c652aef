// What is measured inside of a page and around it: when an entry was painted, tasks that hold everything up, frames, memory. Rules:
// the times of a page are by its own clock, from the beginning of its navigation; nothing of the page is changed but for an attribute
// on the one entry that is waited for.
import { readFileSync } from 'node:fs';
import type { BrowserContext, CDPSession, Page } from 'playwright-core';

/** A task that took longer than 50 ms; the browser tells of no others. */
interface Task {
  start: number;
  duration: number;
}

interface Watched {
  tasks: Task[];
  /** When the entry was painted. */
  painted: number | null;
}

declare global {
  var countersignBench: Watched;
}

/** Runs in the page before anything else of it. The browser tells when the first words of the entry are on the screen. */
function watchIn(wanted: string): void {
  const MARK = 'bench';
  const watched: Watched = { tasks: [], painted: null };
  globalThis.countersignBench = watched;
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) watched.tasks.push({ start: startTime, duration });
  }).observe({ type: 'longtask', buffered: true });
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries() as (PerformanceEntry & { identifier: string; renderTime: number })[]) {
      if (entry.identifier === MARK) watched.painted ??= entry.renderTime;
    }
  }).observe({ type: 'element', buffered: true });
  /** When it was on the screen for the first time, for where the browser does not tell: the frame behind the one that drew it. */
  let seen: number | null = null;
  const isSeen = (entry: Element) => {
    const { top, bottom, height } = entry.getBoundingClientRect();
    return height > 0 && bottom > 0 && top < innerHeight;
  };
  const frame = () => {
    const entry = document.querySelector(wanted);
    if (seen !== null) {
      const at = seen;
      setTimeout(() => (watched.painted ??= at), 500);
      return;
    }
    if (entry && isSeen(entry)) requestAnimationFrame((now) => (seen = now));
    requestAnimationFrame(frame);
  };
  let isBegun = false;
  const look = new MutationObserver(() => {
    if (watched.painted !== null) return look.disconnect();
    const entry = document.querySelector(wanted);
    if (!entry) return;
    // Words count for the element around them that is a block, wherever that is.
    for (const part of entry.querySelectorAll('*')) part.setAttribute('elementtiming', MARK);
    if (!isBegun) requestAnimationFrame(frame);
    isBegun = true;
  });
  look.observe(document, { childList: true, subtree: true });
}

/** Watches every page of this context, from its first moment on, for the entry that a selector names. */
export async function watchAll(context: BrowserContext, wanted: string): Promise<void> {
  await context.addInitScript(watchIn, wanted);
}

/** When the entry was painted, in milliseconds of the page's clock. */
export async function painted(page: Page): Promise<number> {
  const found = await page.waitForFunction(() => globalThis.countersignBench.painted, null, { timeout: 120_000 });
  return (await found.jsonValue()) ?? Number.NaN;
}

/** When the browser painted the first text, whatever it was. */
export async function firstPaint(page: Page): Promise<number> {
  const found = await page.waitForFunction(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime);
  return (await found.jsonValue()) ?? Number.NaN;
}

/** Waits until the page has nothing to do. */
export async function settled(page: Page): Promise<void> {
  await page.evaluate(async () => {
    for (let quiet = 0; quiet < 5; quiet += 1) await new Promise((done) => requestIdleCallback(done));
  });
}

/** The longest task since then, and how long all of them took beyond the 50 ms that nobody notices. */
export async function tasks(page: Page, since = 0): Promise<{ longest_ms: number; blocked_ms: number }> {
  const all = await page.evaluate(() => globalThis.countersignBench.tasks);
  const ours = all.filter((task) => task.start >= since).map((task) => task.duration);
  return {
    longest_ms: Math.max(0, ...ours),
    blocked_ms: ours.reduce((sum, duration) => sum + duration - 50, 0),
  };
}

/** What a page asked the server for up to then, and how long the first page of the transcript took. */
export async function asked(page: Page, until: number): Promise<Record<string, number>> {
  return page.evaluate((end) => {
    const all = (performance.getEntriesByType('resource') as PerformanceResourceTiming[]).filter((one) => one.responseEnd > 0 && one.responseEnd <= end);
    const transcript = all.find((one) => /\/transcript\?/.test(one.name));
    const sum = all.reduce((bytes, one) => bytes + one.transferSize, 0);
    return {
      requests: all.length,
      kib: sum / 1024,
      ...(transcript ? { asked_ms: transcript.startTime, answered_ms: transcript.responseEnd - transcript.startTime } : {}),
    };
  }, until);
}

/** What happened while something was scrolled through. */
export interface Scrolled {
  frames: number;
  seconds: number;
  frame_p50_ms: number;
  frame_p99_ms: number;
  frame_most_ms: number;
  /** Rows that were drawn, and the most of them at once. */
  rows: number;
  drawn: number;
  /** The rounds that were seen, each once. */
  rounds: number[];
}

/** Scrolls to the beginning or to the end, so many pixels a frame. */
export async function scroll(page: Page, way: 'up' | 'down', newest: string): Promise<Scrolled> {
  return page.evaluate(
    async ([toward, last]) => {
      const STEP = 1000;
      const DEADLINE = 600_000;
      const box = document.querySelector('.feed');
      if (!box) throw new Error('there is no conversation');
      const rows = new Set<string>();
      const rounds = new Set<number>();
      const gaps: number[] = [];
      const begun = performance.now();
      let drawn = 0;
      const note = () => {
        const now = box.querySelectorAll<HTMLElement>('article');
        drawn = Math.max(drawn, now.length);
        for (const row of now) {
          const key = row.dataset['key'] ?? '';
          if (rows.has(key)) continue;
          rows.add(key);
          const round = /Round (\d+)\./.exec(row.textContent ?? '')?.[1];
          if (round) rounds.add(Number(round));
        }
      };
      const isThere = () =>
        toward === 'up'
          ? box.scrollTop === 0 && (box.textContent ?? '').includes('Beginning of the conversation')
          : box.scrollHeight - box.scrollTop - box.clientHeight < 2 && box.querySelector(last) !== null;
      let before = begun;
      for (;;) {
        const now = await new Promise<number>((done) => requestAnimationFrame(done));
        gaps.push(now - before);
        before = now;
        note();
        if (isThere()) break;
        if (now - begun > DEADLINE) throw new Error(`no end of it after ${rows.size} rows`);
        box.scrollTop += toward === 'up' ? -STEP : STEP;
      }
      const sorted = gaps.slice(1).sort((a, b) => a - b);
      const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
      return {
        frames: gaps.length,
        seconds: (before - begun) / 1000,
        frame_p50_ms: at(0.5),
        frame_p99_ms: at(0.99),
        frame_most_ms: sorted.at(-1) ?? 0,
        rows: rows.size,
        drawn,
        rounds: [...rounds],
      };
    },
    [way, newest] as const,
  );
}

const MIB = 1024 * 1024;

/** Memory of a page after everything that nobody needs is gone. */
export async function memory(page: Page): Promise<Record<string, number>> {
  const own = await page.context().newCDPSession(page);
  try {
    // Twice: what the first round lets go of may hold more.
    for (let round = 0; round < 2; round += 1) await own.send('HeapProfiler.collectGarbage');
    const heap = (await own.send('Runtime.getHeapUsage')) as Record<string, number>;
    const counted = await own.send('Memory.getDOMCounters');
    const renderer = await rendererOf(page);
    return {
      heap_mib: (heap['usedSize'] ?? Number.NaN) / MIB,
      ...(heap['embedderHeapUsedSize'] === undefined ? {} : { embedder_mib: heap['embedderHeapUsedSize'] / MIB }),
      ...(renderer === null ? {} : { renderer_mib: renderer }),
      nodes: counted.nodes,
      listeners: counted.jsEventListeners,
    };
  } finally {
    await own.detach();
  }
}

/** The largest renderer's own memory, which is that of the one page that is open. */
async function rendererOf(page: Page): Promise<number | null> {
  const browser = page.context().browser();
  if (!browser) return null;
  const session: CDPSession = await browser.newBrowserCDPSession();
  try {
    const { processInfo } = await session.send('SystemInfo.getProcessInfo');
    const sizes = processInfo.filter((one) => one.type === 'renderer').map((one) => ownMemory(one.id));
    return Math.max(...sizes);
  } finally {
    await session.detach();
  }
}

/** Pages that no other process has, in MiB. A process that has just ended has none. */
function ownMemory(pid: number): number {
  try {
    const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
    const kib = [...rollup.matchAll(/^Private_(?:Clean|Dirty): +(\d+) kB$/gm)].map((line) => Number(line[1]));
    return kib.reduce((sum, one) => sum + one, 0) / 1024;
  } catch {
    return 0;
  }
}

/** What the browser traces of a thread. Times are in microseconds; those of the processor are not there for every task. */
interface Traced {
  name: string;
  ph: string;
  pid: number;
  tid: number;
  tdur?: number;
  args?: { name?: string };
}

/** Counts what the page's thread works from now on, in milliseconds of processor time, which does not follow the neighbours. */
export async function workOf(page: Page): Promise<() => Promise<{ worked_ms: number; cpu_longest_ms: number }>> {
  const session = await page.context().newCDPSession(page);
  const traced: Traced[] = [];
  session.on('Tracing.dataCollected', ({ value }) => void traced.push(...(value as unknown as Traced[])));
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  await session.send('Tracing.start', { transferMode: 'ReportEvents', traceConfig: { includedCategories: ['toplevel'] } });
  return async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    const worked_ms = (metrics.find((one) => one.name === 'TaskDuration')?.value ?? Number.NaN) * 1000;
    const done = new Promise((told) => session.once('Tracing.tracingComplete', told));
    await session.send('Tracing.end');
    await done;
    await session.detach();
    return { worked_ms, cpu_longest_ms: longestIn(traced) };
  };
}

function longestIn(traced: Traced[]): number {
  const thread = (one: Traced) => `${one.pid} ${one.tid}`;
  const pages = new Set(traced.filter((one) => one.name === 'thread_name' && one.args?.name === 'CrRendererMain').map(thread));
  let longest = 0;
  for (const one of traced) {
    if (one.ph === 'X' && one.name === 'ThreadControllerImpl::RunTask' && pages.has(thread(one))) longest = Math.max(longest, (one.tdur ?? 0) / 1000);
  }
  return longest;
}
