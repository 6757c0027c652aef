// Stopping what is under way: text, a question, a command, a background task, the whole query.

import { ok } from "node:assert";
import { existsSync } from "node:fs";

import { asking, cases, failure, fits, has, plain, same, until } from "./kit.mjs";

const delta = (message) => message.type === "stream_event" && message.event.type === "content_block_delta";
const marker = (run) => run.of("user").map((message) => plain(message.message.content)).join("\n");

cases({
  async an_interrupt_stops_a_text_and_the_session_goes_on(box) {
    const chat = box.chat({ includePartialMessages: true });
    chat.send("count to 400 slowly");
    await chat.until(delta);
    const receipt = await chat.query.interrupt();
    same(receipt.still_queued, []);
    const run = await chat.response();
    fits(run.result, { subtype: "error_during_execution", is_error: true, terminal_reason: "aborted_streaming" });
    has(marker(run), "[Request interrupted by user]");
    ok(run.messages.filter(delta).length < 400, "it was not stopped");
    const after = await chat.turn("remember violet");
    same([after.result.subtype, after.result.session_id], ["success", run.result.session_id]);
    await chat.end();
  },

  async an_interrupt_withdraws_a_question(box) {
    let waiting;
    const pending = new Promise((resolve) => (waiting = resolve));
    let aborted = false;
    const canUseTool = (tool, input, { signal }) => {
      signal.addEventListener("abort", () => (aborted = true));
      waiting();
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("withdrawn"))));
    };
    const chat = box.chat({ canUseTool });
    chat.send("write a.txt: no");
    await pending;
    await chat.query.interrupt();
    const run = await chat.response();
    fits(run.result, { subtype: "error_during_execution", terminal_reason: "aborted_tools" });
    same([aborted, box.read("a.txt")], [true, null]);
    same(run.result.permission_denials.map((denial) => denial.tool_name), ["Write"]);
    same((await chat.turn("remember violet")).result.subtype, "success");
    await chat.end();
  },

  async an_interrupt_ends_a_running_command(box) {
    const chat = box.chat({ allowedTools: ["Bash"] });
    chat.send("run `echo $$ > started; sleep 60; touch finished`");
    const answer = chat.response();
    await until(() => box.read("started")?.trim());
    await chat.query.interrupt();
    const run = await answer;
    fits(run.result, { subtype: "error_during_execution", terminal_reason: "aborted_tools" });
    has(marker(run), "[Request interrupted by user for tool use]");
    await until(() => !existsSync(`/proc/${box.read("started").trim()}`));
    same(box.read("finished"), null);
    chat.query.close();
  },

  async an_interrupt_of_nothing_is_harmless(box) {
    const chat = box.chat();
    await chat.turn("remember violet");
    await chat.query.interrupt();
    same((await chat.turn("what did I say first?")).text, "remember violet");
    await chat.end();
  },

  async a_prompt_that_waits_is_named_by_the_interrupt_and_runs_after_it(box) {
    const chat = box.chat({ includePartialMessages: true });
    chat.send("count to 400 slowly");
    await chat.until(delta);
    const uuid = "22222222-2222-4222-8222-222222222222";
    chat.send("what did I say first?", { uuid });
    await chat.until((message) => message.type === "command_lifecycle" || delta(message));
    const receipt = await chat.query.interrupt();
    await chat.response();
    const next = await chat.response();
    same([receipt.still_queued, next.text], [[uuid], "count to 400 slowly"]);
    await chat.end();
  },

  async a_query_that_is_closed_ends_the_cli(box) {
    const chat = box.chat({ allowedTools: ["Bash"] });
    chat.send("run `echo $PPID > parent; sleep 60`");
    const rest = failureOrEnd(chat);
    await until(() => box.read("parent")?.trim());
    chat.query.close();
    await rest;
    await until(() => !existsSync(`/proc/${box.read("parent").trim()}`));
  },

  async an_abort_controller_ends_a_query(box) {
    const abortController = new AbortController();
    const chat = box.chat({ abortController, includePartialMessages: true });
    chat.send("count to 400 slowly");
    await chat.until(delta);
    abortController.abort();
    const error = await failure((async () => {
      for await (const _ of chat.query);
    })());
    has(String(error), "abort");
  },

  async a_task_in_the_background_is_stopped(box) {
    const chat = box.chat({ allowedTools: ["Bash"] });
    const input = JSON.stringify({ command: "sleep 60", description: "Wait", run_in_background: true });
    const run = await chat.turn(`use the tool Bash with ${input}`);
    const [started] = run.systems("task_started");
    fits(started, { task_type: "local_bash", session_id: run.result.session_id });
    has(run.toolResults[0][0], started.task_id);
    await chat.query.stopTask(started.task_id);
    const seen = await chat.until((message) => message.subtype === "task_updated" && message.patch.status === "killed");
    same(seen.systems("task_updated").at(-1).task_id, started.task_id);
    chat.query.close();
  },

  async a_task_in_the_background_reports_its_end_in_a_turn_of_its_own(box) {
    const command = "until [ -e go ]; do sleep 0.05; done; echo went";
    const input = JSON.stringify({ command, description: "Wait for a sign", run_in_background: true });
    const chat = box.chat({ allowedTools: ["Bash"], canUseTool: asking() });
    const run = await chat.turn(`use the tool Bash with ${input}`);
    const [started] = run.systems("task_started");
    box.write("go", "");
    const seen = await chat.response();
    fits(seen.systems("task_notification")[0], { task_id: started.task_id, status: "completed" });
    same(seen.result.origin.kind, "task-notification");
    await chat.end();
  },
});

/** Reads to the end, however it comes. */
async function failureOrEnd(chat) {
  try {
    for await (const _ of chat.query);
  } catch {
    // A query that is closed may end so.
  }
}
