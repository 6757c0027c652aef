// The stage of the browser tests: the built program with its agents in a folder of its own, and Debian's chromium. Rules:
// the program sees a cleared environment; everything that was started is ended by its id; tests wait for conditions, never for time.
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');

/** The program under test: `COUNTERSIGN_BIN`, or what cargo built last. */
export function program(): string {
  const target = process.env['CARGO_TARGET_DIR'] ?? join(root, 'target');
  const places = [process.env['COUNTERSIGN_BIN'], join(target, 'release/countersign'), join(target, 'debug/countersign')];
  const found = places.find((place) => place && existsSync(place));
  if (!found) throw new Error('no program to test: build it, or name it in COUNTERSIGN_BIN');
  return found;
}

export const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
const CHROMIUM_ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

interface Ready {
  link: string;
  url: string;
  pid: number;
}

export interface StageHow {
  /** The scenario of the scripted agent: a name that is built in, or a file. */
  scenario?: string;
  /** Another CLI than the scripted one, as the daemon takes it. */
  claude?: string;
  /** How long anything may take, in milliseconds. */
  patience?: number;
  /** Further options of the daemon. */
  args?: string[];
}

export interface Session {
  id: string;
  state: string;
  name: string;
}

export class Stage {
  readonly folder = mkdtempSync(join(tmpdir(), 'countersign-e2e-'));
  readonly how: StageHow;
  /** Variables of the daemon beside its own, which it hands on to its agents. */
  readonly env: Record<string, string> = {};
  url = '';
  #link = '';
  #daemon: ChildProcess | null = null;
  #port = 0;

  constructor(how: StageHow = {}) {
    this.how = how;
  }

  get data(): string {
    return join(this.folder, 'data');
  }

  /** The home of the daemon and its agents. */
  get home(): string {
    return join(this.folder, 'home');
  }

  /** The folder that agents work in: the rehearsal's own, or one beside it where an agent was named. */
  get project(): string {
    return join(this.folder, this.#claude ? 'project' : 'data-rehearsal/project');
  }

  get #claude(): string | undefined {
    const { claude, scenario } = this.how;
    return claude ?? (scenario && `${program()} rehearse cli --scenario ${scenario}`);
  }

  async start(): Promise<this> {
    if (this.#claude) mkdirSync(this.project, { recursive: true });
    this.#port ||= await freePort();
    const agent = this.#claude ? ['--claude', this.#claude] : ['--rehearsal'];
    const args = ['serve', '--no-open', '--json', '--data', this.data, '--listen', `127.0.0.1:${this.#port}`, ...agent];
    const ui = process.env['COUNTERSIGN_UI'] ?? join(root, 'ui/dist');
    this.#daemon = spawn(program(), [...args, ...(this.how.args ?? [])], {
      cwd: this.folder,
      env: { HOME: this.home, PATH: '/usr/local/bin:/usr/bin:/bin', LANG: 'C.UTF-8', COUNTERSIGN_UI: ui, ...this.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ready = await said(this.#daemon);
    this.url = ready.url;
    this.#link = ready.link;
    return this;
  }

  /** Ends the daemon as a crash would. Its agents go on. */
  async kill(): Promise<void> {
    const daemon = this.#daemon;
    this.#daemon = null;
    if (!daemon || daemon.exitCode !== null) return;
    const gone = new Promise((done) => daemon.once('exit', done));
    daemon.kill('SIGKILL');
    await gone;
  }

  /** The link the daemon printed. It works once. */
  get firstLink(): string {
    return this.#link;
  }

  /** A fresh login link. */
  async link(): Promise<string> {
    const made = await this.api<{ path: string }>('POST', '/login-links', {});
    return this.url + made.path;
  }

  /** Asks the API as a program would, with the daemon's own token. */
  async api<T>(method: string, path: string, body?: unknown): Promise<T> {
    const token = readFileSync(join(this.data, 'auth/token'), 'utf8').trim();
    const response = await fetch(`${this.url}/api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        'idempotency-key': `e2e-${Math.random().toString(36).slice(2)}${Date.now()}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    const text = await response.text();
    return (text === '' ? null : JSON.parse(text)) as T;
  }

  /** Begins a session; gives its id. */
  async begin(prompt: string, more: Record<string, unknown> = {}): Promise<string> {
    const body = { cwd: this.project, prompt, ...more };
    const receipt = await this.api<{ did: { session: string } }>('POST', '/sessions', body);
    return receipt.did.session;
  }

  /** Waits until this holds, and gives what it gave. */
  async until<T>(what: string, look: () => Promise<T | null | undefined | false>, within = this.how.patience ?? 15_000): Promise<T> {
    const deadline = Date.now() + within;
    for (;;) {
      const found = await look();
      if (found) return found;
      if (Date.now() > deadline) throw new Error(`not within ${within} ms: ${what}`);
      await new Promise((done) => setTimeout(done, 50));
    }
  }

  /** Ends agents, daemon and folder. */
  async end(): Promise<void> {
    try {
      if (this.#daemon) {
        const { items } = await this.api<{ items: Session[] }>('GET', '/sessions');
        const over = ['stopped', 'failed'];
        const live = items.filter((one) => !over.includes(one.state));
        await Promise.all(live.map((one) => this.api('POST', `/sessions/${one.id}/force-end`).catch(() => null)));
        await this.until('agents ended', async () => {
          const now = await this.api<{ items: Session[] }>('GET', '/sessions');
          return now.items.every((one) => over.includes(one.state) || one.state === 'idle');
        }).catch(() => null);
      }
    } finally {
      await this.kill();
      rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
    }
  }
}

/** A browser for one test file. */
export class Window {
  #browser: Browser | null = null;

  async open(): Promise<this> {
    this.#browser = await chromium.launch({ executablePath: CHROMIUM, args: CHROMIUM_ARGS });
    return this;
  }

  /** A browser of its own: own cookies, own storage. */
  async context(how: Parameters<Browser['newContext']>[0] = {}): Promise<BrowserContext> {
    if (!this.#browser) throw new Error('the window is not open');
    return this.#browser.newContext({ viewport: { width: 1440, height: 900 }, locale: 'en-GB', ...how });
  }

  async close(): Promise<void> {
    await this.#browser?.close();
  }
}

export const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 };

/** A page that is signed in. What it breaks of the policy or throws is collected in `faults`. */
export async function signedIn(stage: Stage, context: BrowserContext, link?: string): Promise<{ page: Page; faults: string[] }> {
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error' && /Content Security Policy|Uncaught/.test(message.text())) faults.push(message.text());
  });
  await page.goto(link ?? (await stage.link()));
  await page.getByRole('main').waitFor();
  return { page, faults };
}

async function freePort(): Promise<number> {
  return new Promise((done, fail) => {
    const server = createServer();
    server.once('error', fail);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' && address ? address.port : 0;
      server.close(() => done(port));
    });
  });
}

/** The one JSON object that the daemon says when it listens. */
async function said(daemon: ChildProcess): Promise<Ready> {
  return new Promise((done, fail) => {
    let out = '';
    let err = '';
    const timer = setTimeout(() => fail(new Error(`the daemon says nothing: ${err}`)), 30_000);
    daemon.stderr?.on('data', (piece: Buffer) => (err += piece.toString()));
    daemon.stdout?.on('data', (piece: Buffer) => {
      out += piece.toString();
      if (!out.includes('\n')) return;
      clearTimeout(timer);
      done(JSON.parse(out) as Ready);
    });
    daemon.once('exit', (code) => {
      clearTimeout(timer);
      fail(new Error(`the daemon ended with ${code}: ${err}`));
    });
  });
}
