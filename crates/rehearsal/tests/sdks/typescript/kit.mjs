// What the cases of the TypeScript SDK stand on: the box a case runs in, and what it looks at.
//
// The box is made by the Rust side: HOME, the working folder and an environment with nothing of the caller in it. A
// case passes when the effect was seen: a file, the order of calls, the fields of the messages as the SDK hands them out.

import { deepStrictEqual, ok } from "node:assert";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

const entry = join(process.env.SDKS_PACKAGE, "sdk.mjs");
export const sdk = await import(pathToFileURL(entry));

/** The schema library that comes with the SDK. */
export const zod = () => createRequire(entry)("zod");

export const CASES = {};

/** Names the cases of a file after their functions. */
export function cases(functions) {
  for (const [name, run] of Object.entries(functions)) {
    ok(!(name in CASES), `two cases are called ${name}`);
    CASES[name] = run;
  }
}

/** Where one case runs. */
export class Box {
  cli = process.env.SDKS_CLI;
  home = process.env.HOME;
  cwd = process.cwd();

  options(changes = {}) {
    return { pathToClaudeCodeExecutable: this.cli, cwd: this.cwd, ...changes };
  }

  path(name) {
    return join(this.cwd, name);
  }

  /** Writes a file of the project, or of the home if the name begins with `~/`. */
  write(name, text) {
    const path = name.startsWith("~/") ? join(this.home, name.slice(2)) : this.path(name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, typeof text === "string" ? text : JSON.stringify(text));
    return path;
  }

  read(name) {
    return existsSync(this.path(name)) ? readFileSync(this.path(name), "utf8") : null;
  }

  query(prompt, changes) {
    return sdk.query({ prompt, options: this.options(changes) });
  }

  /** One call of `query()`, to its end. */
  async run(prompt, changes) {
    const messages = [];
    for await (const message of this.query(prompt, changes)) messages.push(message);
    return new Run(messages);
  }

  /** A session with an open input. */
  chat(changes) {
    return new Chat(this, changes);
  }
}

/** A query whose prompts come one by one. */
export class Chat {
  constructor(box, changes) {
    this.waiting = [];
    this.wake = () => {};
    this.over = false;
    this.query = box.query(this.#prompts(), changes);
  }

  async *#prompts() {
    for (;;) {
      while (this.waiting.length) yield this.waiting.shift();
      if (this.over) return;
      await new Promise((wake) => (this.wake = wake));
    }
  }

  send(prompt, fields = {}) {
    this.waiting.push({ ...user(prompt), ...fields });
    this.wake();
  }

  /** The messages up to the first that is wanted. */
  async until(wanted) {
    const seen = [];
    for (;;) {
      const { value, done } = await this.query.next();
      ok(!done, `the messages ended: ${new Run(seen).kinds()}`);
      seen.push(value);
      if (wanted(value)) return new Run(seen);
    }
  }

  response() {
    return this.until((message) => message.type === "result");
  }

  turn(prompt, fields) {
    this.send(prompt, fields);
    return this.response();
  }

  /** Closes the input and reads to the end. */
  async end() {
    this.over = true;
    this.wake();
    for await (const _ of this.query);
  }
}

export const user = (content) => ({
  type: "user",
  message: { role: "user", content },
  parent_tool_use_id: null,
  session_id: "",
});

export async function* prompts(...texts) {
  for (const text of texts) yield user(text);
}

// These may come at any time, or not at all, and say nothing about the course.
const PROGRESS = new Set([
  "system/status",
  "system/thinking_tokens",
  "system/session_title_changed",
  "system/informational",
  "system/session_state_changed",
  "rate_limit_event",
]);

/** The messages of a turn, or of several. */
export class Run {
  constructor(messages) {
    this.messages = messages;
  }

  of(type) {
    return this.messages.filter((message) => message.type === type);
  }

  get result() {
    const result = this.of("result").at(-1);
    ok(result, `no result among ${this.kinds()}`);
    return result;
  }

  get init() {
    const init = this.systems("init").at(-1);
    ok(init, `no init among ${this.kinds()}`);
    return init;
  }

  systems(subtype) {
    return this.of("system").filter((message) => message.subtype === subtype);
  }

  /** The content blocks of one type, of assistant and user messages. */
  blocks(type) {
    const contents = this.messages.map((message) => message.message?.content);
    return contents.filter(Array.isArray).flat().filter((block) => block.type === type);
  }

  /** What the assistant said last. */
  get text() {
    const said = this.of("assistant").flatMap((message) => message.message.content);
    const text = said.filter((block) => block.type === "text").at(-1)?.text;
    ok(text !== undefined, `no text among ${this.kinds()}`);
    return text;
  }

  get tools() {
    return this.blocks("tool_use").map((block) => block.name);
  }

  /** What each tool gave, and whether it was an error. */
  get toolResults() {
    return this.blocks("tool_result").map((block) => [plain(block.content), Boolean(block.is_error)]);
  }

  /** The course of the conversation; what only reports progress is left out. */
  kinds() {
    return this.messages.map(kindOf).filter((kind) => !PROGRESS.has(kind));
  }
}

export function kindOf(message) {
  if (message.type === "system" || message.type === "result") return `${message.type}/${message.subtype}`;
  const content = message.message?.content;
  if (typeof content === "string") return `${message.type}:text`;
  if (!Array.isArray(content)) return message.type;
  return `${message.type}:${content.map((block) => (block.type === "tool_use" ? block.name : block.type)).join("+")}`;
}

/** The text of a tool's result, which is a text or a list of blocks. */
export function plain(content) {
  return typeof content === "string" ? content : (content ?? []).map((block) => block.text ?? "").join("");
}

/** A `canUseTool` that notes each question and answers by a function, or always the same. */
export function asking(answer = (tool, input) => ({ behavior: "allow", updatedInput: input })) {
  const asked = async (tool, input, options) => {
    asked.questions.push({ tool, input, options });
    return typeof answer === "function" ? answer(tool, input, options) : answer;
  };
  asked.questions = [];
  Object.defineProperty(asked, "tools", { get: () => asked.questions.map((question) => question.tool) });
  return asked;
}

export const allow = (fields = {}) => (tool, input) => ({ behavior: "allow", updatedInput: input, ...fields });
export const deny = (message, fields = {}) => ({ behavior: "deny", message, ...fields });

export const same = (actual, expected, what) => deepStrictEqual(actual, expected, what);

export function has(whole, part) {
  const text = typeof whole === "string" ? whole : JSON.stringify(whole);
  ok(text?.includes(part), `expected ${JSON.stringify(part)} in\n  ${text}`);
}

/** Whether the fields are there with these values; further ones may be. */
export function fits(actual, expected) {
  const found = Object.fromEntries(Object.keys(expected).map((key) => [key, actual?.[key]]));
  same(found, expected);
}

/** What the promise fails with. */
export async function failure(promise) {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("it succeeded");
}

/** Waits until `holds` does. For what no message tells: files and processes. */
export async function until(holds) {
  while (!holds()) await new Promise((wake) => setTimeout(wake, 10));
}
