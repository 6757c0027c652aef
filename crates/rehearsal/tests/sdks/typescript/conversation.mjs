// Talking: one-shot queries, streams of prompts, partial messages, structured output, limits.

import { Run, cases, failure, fits, has, prompts, same, user } from "./kit.mjs";
import { ok } from "node:assert";

cases({
  async a_one_shot_query_gives_init_text_and_result(box) {
    const run = await box.run("remember violet");
    same(run.kinds(), ["system/init", "assistant:text", "result/success"]);
    fits(run.init, { cwd: box.cwd, permissionMode: "default", claude_code_version: "2.1.327" });
    for (const tool of ["Bash", "Read", "Write", "Edit"]) ok(run.init.tools.includes(tool), tool);
    const { result } = run;
    fits(result, { is_error: false, num_turns: 1, terminal_reason: "completed", result: run.text });
    const [said] = run.of("assistant");
    fits(said, { session_id: result.session_id, parent_tool_use_id: null });
    fits(said.message, { model: run.init.model, role: "assistant" });
    same(run.init.session_id, result.session_id);
    ok(result.usage.input_tokens > 0 && result.total_cost_usd >= 0 && result.duration_ms >= 0);
    ok(run.init.model in result.modelUsage, JSON.stringify(result.modelUsage));
  },

  async prompts_from_a_stream_are_answered_one_after_the_other(box) {
    const run = await box.run(prompts("think about rivers", "what did I say first?"));
    const turn = ["system/init", "assistant:thinking", "assistant:text", "result/success"];
    same(run.kinds(), [...turn, "system/init", "assistant:text", "result/success"]);
    const results = run.of("result");
    same(new Set(results.map((result) => result.session_id)).size, 1);
    same(results[1].result, "think about rivers");
  },

  async a_conversation_is_held_over_an_open_input(box) {
    const chat = box.chat();
    const first = await chat.turn("remember violet");
    const second = await chat.turn("what did I say first?");
    same(second.kinds(), ["system/init", "assistant:text", "result/success"]);
    same([second.text, second.result.session_id], ["remember violet", first.result.session_id]);
    await chat.end();
  },

  async further_prompts_are_streamed_into_a_query(box) {
    const chat = box.chat();
    await chat.turn("remember violet");
    await chat.query.streamInput(prompts("what did I say first?"));
    const second = await chat.response();
    same(second.text, "remember violet");
    chat.query.close();
  },

  async a_prompt_may_be_a_list_of_blocks(box) {
    async function* one() {
      yield user([{ type: "text", text: "write a.txt: from a block" }]);
    }
    const run = await box.run(one(), { permissionMode: "acceptEdits" });
    same([run.result.subtype, box.read("a.txt")], ["success", "from a block"]);
  },

  async partial_messages_add_up_to_the_text(box) {
    const run = await box.run("count to 12 slowly", { includePartialMessages: true });
    const events = run.of("stream_event").map((message) => message.event);
    const deltas = events.filter((event) => event.delta?.type === "text_delta").map((event) => event.delta.text);
    ok(deltas.length >= 12, JSON.stringify(deltas));
    same(deltas.join(""), run.text);
    const types = events.map((event) => event.type);
    same([types[0], types[1], ...types.slice(-2)],
      ["message_start", "content_block_start", "message_delta", "message_stop"]);
    const kinds = run.kinds();
    const at = kinds.indexOf("assistant:text");
    ok(kinds.slice(0, at).includes("stream_event") && kinds.slice(at).includes("stream_event"), kinds);
  },

  async without_partial_messages_there_are_none(box) {
    const run = await box.run("count to 3 slowly");
    same(run.of("stream_event"), []);
    has(run.text, "3");
  },

  async thinking_is_a_block_of_its_own(box) {
    const run = await box.run("think about rivers");
    same(run.kinds(), ["system/init", "assistant:thinking", "assistant:text", "result/success"]);
    const [thought] = run.blocks("thinking");
    ok(thought.thinking && thought.signature, JSON.stringify(thought));
    const [first, second] = run.of("assistant");
    same(first.message.id, second.message.id, "two blocks of one message");
  },

  async structured_output_fits_its_schema(box) {
    const schema = {
      type: "object",
      properties: {
        colour: { type: "string", enum: ["red", "blue"] },
        count: { type: "integer", minimum: 3 },
        nested: { type: "object", properties: { done: { type: "boolean" } }, required: ["done"] },
      },
      required: ["colour", "count", "nested"],
      additionalProperties: false,
    };
    const run = await box.run("describe the box", { outputFormat: { type: "json_schema", schema } });
    const value = run.result.structured_output;
    same(Object.keys(value).sort(), ["colour", "count", "nested"]);
    ok(["red", "blue"].includes(value.colour) && value.count >= 3, JSON.stringify(value));
    same(typeof value.nested.done, "boolean");
    has(run.tools, "StructuredOutput");
    fits(run.result, { subtype: "success", is_error: false });
  },

  async a_limit_of_turns_ends_the_run_with_its_own_error(box) {
    const query = box.query("run `echo one`, then run `echo two`", { maxTurns: 1 });
    const seen = [];
    const error = await failure((async () => {
      for await (const message of query) seen.push(message);
    })());
    has(String(error), "maximum number of turns (1)");
    const run = new Run(seen);
    same(run.tools, ["Bash"], "the second call was not made");
    fits(run.result, { subtype: "error_max_turns", is_error: true, terminal_reason: "max_turns" });
    has(run.result.errors, "maximum number of turns (1)");
  },

  async the_tools_option_decides_what_the_model_has(box) {
    const run = await box.run("remember violet", { tools: ["Read", "Bash"] });
    same(run.init.tools.sort(), ["Bash", "Read"]);
    const none = await box.run("remember violet", { tools: [] });
    same(none.init.tools, []);
  },

  async two_queries_at_once_are_two_sessions(box) {
    const [one, two] = [box.chat(), box.chat()];
    await Promise.all([one.turn("remember violet"), two.turn("remember amber")]);
    const [first, second] = await Promise.all([one.turn("what did I say first?"), two.turn("what did I say first?")]);
    same([first.text, second.text], ["remember violet", "remember amber"]);
    ok(first.result.session_id !== second.result.session_id);
    await Promise.all([one.end(), two.end()]);
  },
});
