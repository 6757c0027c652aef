// The real CLI for the browser tests: where it is, a scripted model for it, and an environment in which it reaches nothing else.
// Rules: no variable, home or credential of the caller is in its environment, and the model in it is on loopback; these are the
// names and values of `rehearsal::real`. What is not there is skipped with a word, and fails where COUNTERSIGN_REQUIRE lists it.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Stage, program } from './stage';

const VERSION = 'newest';

/** The program that COUNTERSIGN_REAL_CLI names. `cargo xtask test page` fetches one and names it. */
export function realCli(): string | null {
  const named = process.env['COUNTERSIGN_REAL_CLI'];
  if (named && !existsSync(named)) throw new Error(`COUNTERSIGN_REAL_CLI names ${named}, and nothing is there`);
  if (named) return named;
  const required = (process.env['COUNTERSIGN_REQUIRE'] ?? '').split(/[\s,]+/);
  if (required.includes(`claude-${VERSION}`)) throw new Error(`claude ${VERSION} is required: name it in COUNTERSIGN_REAL_CLI`);
  console.warn(`skipped: the page on the real CLI (COUNTERSIGN_REAL_CLI names no claude ${VERSION})`);
  return null;
}

/** What the model says of itself when it ends. */
interface Report {
  replies: { line: number; used: number; left: number | null }[];
  unexpected: { path: string; why: string }[];
}

/** The scripted model, on loopback. */
export class Model {
  #process: ChildProcess;
  #lines: AsyncIterator<string>;
  url = '';

  private constructor(stage: Stage, script: string) {
    const file = join(stage.folder, 'script.model');
    writeFileSync(file, script);
    const values = ['--var', `cwd=${stage.project}`, '--var', `home=${stage.home}`];
    this.#process = spawn(program(), ['rehearse', 'model', '--json', '--script', file, ...values], {
      cwd: stage.folder,
      env: { HOME: stage.home, PATH: '/usr/bin:/bin', LANG: 'C.UTF-8' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const { stdout } = this.#process;
    if (!stdout) throw new Error('the model has no output');
    this.#lines = createInterface(stdout)[Symbol.asyncIterator]();
  }

  static async start(stage: Stage, script: string): Promise<Model> {
    const model = new Model(stage, script);
    model.url = (await model.#said<{ base_url: string }>()).base_url;
    return model;
  }

  async #said<T>(): Promise<T> {
    const { value, done } = await this.#lines.next();
    if (done) throw new Error('the model has ended: is its script well written?');
    return JSON.parse(value) as T;
  }

  /** Ends it; what it was asked. */
  async end(): Promise<Report> {
    const gone = once(this.#process, 'exit');
    this.#process.kill('SIGTERM');
    const report = await this.#said<Report>();
    await gone;
    return report;
  }

  /** Ends it, whatever it has to say. */
  kill(): void {
    this.#process.kill('SIGKILL');
  }
}

/** The built program with agents of the real CLI, whose model says what the script says. */
export async function realStage(cli: string, script: string): Promise<{ stage: Stage; model: Model }> {
  const stage = new Stage({ claude: `'${cli}'`, patience: 30_000 });
  const tmp = join(stage.folder, 'tmp');
  for (const folder of [stage.home, stage.project, tmp]) mkdirSync(folder, { recursive: true });
  const model = await Model.start(stage, script);
  Object.assign(stage.env, {
    PATH: '/usr/bin:/bin',
    TMPDIR: tmp,
    CLAUDE_CODE_TMPDIR: tmp,
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: 'not-a-key',
    DISABLE_TELEMETRY: '1',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_ERROR_REPORTING: '1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    SHELL: '/bin/bash',
    TZ: 'UTC',
    USER: 'user',
  });
  try {
    await stage.start();
  } catch (error) {
    model.kill();
    throw error;
  }
  return { stage, model };
}
