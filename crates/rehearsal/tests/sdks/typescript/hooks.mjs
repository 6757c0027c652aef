// Hooks as callbacks of the host: what each is told, and what its answer does.

import { ok } from "node:assert";

import { asking, cases, deny, fits, has, same } from "./kit.mjs";

/** A hook that notes what it is told and answers by a function, or always the same. */
function noting(answer = {}) {
  const hook = async (input, toolUseID, options) => {
    hook.inputs.push(input);
    hook.ids.push(toolUseID);
    hook.signals.push(options.signal);
    return typeof answer === "function" ? answer(input) : answer;
  };
  Object.assign(hook, { inputs: [], ids: [], signals: [] });
  Object.defineProperty(hook, "events", { get: () => hook.inputs.map((input) => input.hook_event_name) });
  return hook;
}

const on = (event, hook, matcher) => ({ [event]: [{ ...(matcher ? { matcher } : {}), hooks: [hook] }] });
const each = (events, hook) => Object.fromEntries(events.map((event) => [event, [{ hooks: [hook] }]]));
const decision = (word, fields = {}) => ({
  hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: word, ...fields },
});

cases({
  async a_hook_before_a_tool_denies_it_with_its_reason(box) {
    const hook = noting(decision("deny", { permissionDecisionReason: "not this folder" }));
    const asked = asking();
    const run = await box.run("write a.txt: no", { hooks: on("PreToolUse", hook, "Write"), canUseTool: asked });
    same([asked.tools, box.read("a.txt")], [[], null]);
    has(run.toolResults[0][0], "not this folder");
    same(run.toolResults[0][1], true);
    const [input] = hook.inputs;
    fits(input, { hook_event_name: "PreToolUse", tool_name: "Write", cwd: box.cwd, session_id: run.result.session_id });
    same([input.tool_input.content, input.tool_use_id], ["no", hook.ids[0]]);
    same(hook.signals[0].aborted, false);
  },

  async a_hook_before_a_tool_allows_it_without_a_question(box) {
    const asked = asking();
    await box.run("write a.txt: yes", { hooks: on("PreToolUse", noting(decision("allow"))), canUseTool: asked });
    same([asked.tools, box.read("a.txt")], [[], "yes"]);
  },

  async a_hook_makes_a_free_tool_asked_about(box) {
    const asked = asking(deny("no"));
    const hook = noting(decision("ask", { permissionDecisionReason: "please look" }));
    const run = await box.run("run `echo free`", { hooks: on("PreToolUse", hook, "Bash"), canUseTool: asked });
    same(asked.tools, ["Bash"]);
    has(asked.questions[0].options.decisionReason, "please look");
    same(run.toolResults[0][1], true);
  },

  async a_hook_changes_the_input(box) {
    const change = (input) => decision("allow", { updatedInput: { ...input.tool_input, content: "changed" } });
    await box.run("write a.txt: original", { hooks: on("PreToolUse", noting(change)) });
    same(box.read("a.txt"), "changed");
  },

  async a_matcher_chooses_the_tools(box) {
    const [writes, both, all] = [noting(), noting(), noting()];
    const PreToolUse = [
      { matcher: "Write", hooks: [writes] },
      { matcher: "Write|Bash", hooks: [both] },
      { hooks: [all] },
    ];
    const options = { hooks: { PreToolUse }, permissionMode: "acceptEdits" };
    await box.run("write a.txt: one\nrun `echo two`\nread a.txt", options);
    const seen = [writes, both, all].map((hook) => hook.inputs.map((input) => input.tool_name));
    same(seen, [["Write"], ["Write", "Bash"], ["Write", "Bash", "Read"]]);
  },

  async a_hook_after_a_tool_sees_its_result(box) {
    const hook = noting();
    await box.run("run `echo hello`", { hooks: on("PostToolUse", hook, "Bash") });
    const [input] = hook.inputs;
    same([input.tool_name, input.tool_input.command], ["Bash", "echo hello"]);
    fits(input.tool_response, { stdout: "hello", stderr: "", interrupted: false });
  },

  async a_hook_after_a_failed_tool_sees_the_error(box) {
    const [failed, succeeded] = [noting(), noting()];
    const hooks = { ...on("PostToolUseFailure", failed), ...on("PostToolUse", succeeded) };
    await box.run("run `echo gone >&2; exit 3`", { hooks, allowedTools: ["Bash"] });
    same([failed.inputs.length, succeeded.inputs.length], [1, 0]);
    has(failed.inputs[0].error, "Exit code 3");
  },

  async a_hook_sees_the_prompt_and_blocks_it(box) {
    const hook = noting({ decision: "block", reason: "not today" });
    const options = { hooks: on("UserPromptSubmit", hook), permissionMode: "acceptEdits" };
    const run = await box.run("write a.txt: no", options);
    same(hook.inputs[0].prompt, "write a.txt: no");
    same([box.read("a.txt"), run.tools], [null, []]);
    fits(run.result, { subtype: "success", num_turns: 0 });
  },

  async a_hook_at_the_end_can_keep_the_model_going_once(box) {
    const more = { decision: "block", reason: "write a.txt: one more" };
    const hook = noting((input) => (input.stop_hook_active ? {} : more));
    const run = await box.run("remember violet", { hooks: on("Stop", hook), permissionMode: "acceptEdits" });
    same(hook.inputs.map((input) => input.stop_hook_active), [false, true]);
    same(run.of("result").length, 1);
  },

  async a_hook_stops_everything(box) {
    const hook = noting({ continue: false, stopReason: "enough" });
    const options = { hooks: on("PostToolUse", hook), permissionMode: "acceptEdits" };
    await box.run("write a.txt: one\nwrite b.txt: two", options);
    same([box.read("a.txt"), box.read("b.txt"), hook.inputs.length], ["one", null, 1]);
  },

  async a_hook_answers_a_permission_request(box) {
    const answer = { hookSpecificOutput: { hookEventName: "PermissionRequest", decision: { behavior: "allow" } } };
    const run = await box.run("write a.txt: yes", { hooks: on("PermissionRequest", noting(answer)) });
    same([box.read("a.txt"), run.result.permission_denials], ["yes", []]);
  },

  async hooks_of_a_turn_come_in_their_order(box) {
    const hook = noting();
    const askedAfter = [];
    const canUseTool = asking((tool, input) => {
      askedAfter.push(hook.inputs.length);
      return { behavior: "allow", updatedInput: input };
    });
    const events = ["UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolBatch", "Stop"];
    await box.run("write a.txt: one\nread a.txt", { hooks: each(events, hook), canUseTool });
    same(hook.events, ["UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolBatch",
      "PreToolUse", "PostToolUse", "PostToolBatch", "Stop"]);
    same(askedAfter, [2], "the question comes after the hook");
  },

  async hooks_see_a_sub_agent_come_and_go(box) {
    const hook = noting();
    const agents = { writer: { description: "Writes files", prompt: "You write files." } };
    const hooks = each(["SubagentStart", "PreToolUse", "SubagentStop"], hook);
    await box.run("use the agent writer to write a.txt: one", { agents, hooks, permissionMode: "acceptEdits" });
    same(hook.events, ["PreToolUse", "SubagentStart", "PreToolUse", "SubagentStop"]);
    const [call, start, write, stop] = hook.inputs;
    same([start.agent_type, stop.agent_type, write.agent_id, stop.agent_id],
      ["writer", "writer", start.agent_id, start.agent_id]);
    ok(!("agent_id" in call), "the call itself is the main conversation's");
    same(box.read("a.txt"), "one");
  },

  async a_hook_sees_a_compaction_come(box) {
    const hook = noting();
    const chat = box.chat({ hooks: on("PreCompact", hook) });
    await chat.turn("remember violet");
    const compacted = await chat.turn("/compact keep the colours");
    fits(hook.inputs[0], { trigger: "manual", custom_instructions: "keep the colours" });
    same(compacted.systems("compact_boundary").length, 1);
    await chat.end();
  },
});
