// Who may do what: canUseTool with every answer, permission updates, rules, modes, questions and plans.

import { ok } from "node:assert";
import { mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { allow, asking, cases, deny, fits, has, same } from "./kit.mjs";

const rule = (toolName, ruleContent, destination, behavior = "allow") => ({
  type: "addRules",
  rules: [{ toolName, ...(ruleContent === undefined ? {} : { ruleContent }) }],
  behavior,
  destination,
});

cases({
  async an_allowed_tool_runs_and_the_question_says_what_it_is(box) {
    const asked = asking();
    const run = await box.run("run `touch made.txt`", { canUseTool: asked });
    same(box.read("made.txt"), "");
    const [{ tool, input, options }] = asked.questions;
    same([tool, input.command], ["Bash", "touch made.txt"]);
    const [use] = run.blocks("tool_use");
    fits(options, { toolUseID: use.id, agentID: undefined, displayName: "Bash", blockedPath: box.path("made.txt") });
    same(options.suggestions.map((suggestion) => suggestion.type), ["addRules", "addDirectories", "setMode"]);
    same(options.suggestions[0].rules, [{ toolName: "Bash", ruleContent: "touch made.txt" }]);
    same(options.signal.aborted, false);
    same(run.kinds(), ["system/init", "assistant:Bash", "user:tool_result", "assistant:text", "result/success"]);
    same(run.result.permission_denials, []);
  },

  async a_denied_tool_does_not_run_and_the_model_is_told_why(box) {
    const run = await box.run("write a.txt: no", { canUseTool: asking(deny("not on a Sunday")) });
    same(box.read("a.txt"), null);
    const [[told, isError]] = run.toolResults;
    has(told, "not on a Sunday");
    same(isError, true);
    has(run.text, "not on a Sunday");
    same(run.result.permission_denials.map((denial) => denial.tool_name), ["Write"]);
    fits(run.result, { subtype: "success", is_error: false });
  },

  async a_denial_that_interrupts_ends_the_turn(box) {
    const asked = asking(deny("stop here", { interrupt: true }));
    const chat = box.chat({ canUseTool: asked });
    const run = await chat.turn("write a.txt: no, then write b.txt: neither");
    same(asked.tools, ["Write"]);
    fits(run.result, { subtype: "error_during_execution", is_error: true, terminal_reason: "aborted_tools" });
    same((await chat.turn("remember violet")).result.subtype, "success");
    await chat.end();
    same([box.read("a.txt"), box.read("b.txt")], [null, null]);
  },

  async a_changed_input_is_what_runs(box) {
    const canUseTool = asking((tool, input) => ({ behavior: "allow", updatedInput: { ...input, content: "changed" } }));
    const run = await box.run("write a.txt: original", { canUseTool });
    same(box.read("a.txt"), "changed");
    const told = run.of("user").find((message) => message.tool_use_result);
    fits(told.tool_use_result, { type: "create", content: "changed" });
  },

  async a_callback_that_fails_denies(box) {
    const canUseTool = async () => {
      throw new Error("the host is confused");
    };
    const run = await box.run("write a.txt: no", { canUseTool });
    same(box.read("a.txt"), null);
    const [[told, isError]] = run.toolResults;
    has(told, "the host is confused");
    same(isError, true);
  },

  async without_a_callback_what_would_be_asked_is_denied(box) {
    const run = await box.run("write a.txt: no");
    same([box.read("a.txt"), run.result.subtype], [null, "success"]);
    same(run.result.permission_denials.map((denial) => denial.tool_name), ["Write"]);
  },

  async questions_of_one_turn_come_in_order(box) {
    const asked = asking((tool, input) => (tool === "Bash" ? allow()(tool, input) : deny("only commands")));
    const run = await box.run("run `touch a.txt`\nwrite b.txt: no\nrun `touch c.txt`", { canUseTool: asked });
    same(asked.tools, ["Bash", "Write", "Bash"]);
    same(["a.txt", "b.txt", "c.txt"].map((name) => box.read(name)), ["", null, ""]);
    same(run.toolResults.map(([, isError]) => isError), [false, true, false]);
  },

  async a_rule_for_the_session_spares_the_second_question(box) {
    const asked = asking(allow({ updatedPermissions: [rule("Write", undefined, "session")] }));
    const chat = box.chat({ canUseTool: asked });
    await chat.turn("write a.txt: one");
    await chat.turn("write b.txt: two");
    await chat.turn("run `touch c.txt`");
    await chat.end();
    same([asked.tools, box.read("b.txt")], [["Write", "Bash"], "two"]);
    same(box.read(".claude/settings.local.json"), null);
  },

  async a_rule_whose_content_is_null_is_passed_over_and_the_tool_runs(box) {
    // What the Python SDK sent for a rule about a whole tool before 0.2.184.
    const asked = asking(allow({ updatedPermissions: [rule("Write", null, "session")] }));
    const chat = box.chat({ canUseTool: asked });
    await chat.turn("write a.txt: one");
    await chat.turn("write b.txt: two");
    await chat.end();
    same([asked.tools, box.read("a.txt"), box.read("b.txt")], [["Write", "Write"], "one", "two"]);
  },

  async a_rule_for_the_local_settings_is_written_there(box) {
    const canUseTool = asking(allow({ updatedPermissions: [rule("Bash", "touch a.txt", "localSettings")] }));
    await box.run("run `touch a.txt`", { canUseTool });
    same(JSON.parse(box.read(".claude/settings.local.json")).permissions.allow, ["Bash(touch a.txt)"]);
  },

  async a_rule_for_the_user_settings_holds_in_the_next_session(box) {
    const canUseTool = asking(allow({ updatedPermissions: [rule("Write", undefined, "userSettings")] }));
    await box.run("write a.txt: one", { canUseTool });
    const stored = JSON.parse(readFileSync(join(box.home, ".claude/settings.json"), "utf8"));
    same(stored.permissions.allow, ["Write"]);
    const asked = asking();
    await box.run("write b.txt: two", { canUseTool: asked });
    same([asked.tools, box.read("b.txt")], [[], "two"]);
  },

  async a_deny_rule_of_an_answer_refuses_the_next_call(box) {
    const asked = asking(allow({ updatedPermissions: [rule("Write", undefined, "session", "deny")] }));
    const chat = box.chat({ canUseTool: asked });
    await chat.turn("write a.txt: one");
    const second = await chat.turn("write b.txt: two");
    await chat.end();
    same([asked.tools, box.read("a.txt"), box.read("b.txt")], [["Write"], "one", null]);
    same(second.toolResults[0][1], true);
  },

  async a_rule_that_is_taken_back_is_asked_about_again(box) {
    const add = rule("Write", undefined, "session");
    const asked = asking((tool, input) => ({
      behavior: "allow",
      updatedInput: input,
      updatedPermissions: [tool === "Write" ? add : { ...add, type: "removeRules" }],
    }));
    const chat = box.chat({ canUseTool: asked });
    for (const prompt of ["write a.txt: one", "write b.txt: two", "run `touch c.txt`", "write d.txt: four"]) {
      await chat.turn(prompt);
    }
    await chat.end();
    same(asked.tools, ["Write", "Bash", "Write"]);
  },

  async a_mode_in_an_answer_holds_for_the_rest_of_the_turn(box) {
    const mode = { type: "setMode", mode: "acceptEdits", destination: "session" };
    const asked = asking(allow({ updatedPermissions: [mode] }));
    const run = await box.run("write a.txt: one\nwrite b.txt: two", { canUseTool: asked });
    same([asked.tools, box.read("a.txt"), box.read("b.txt")], [["Write"], "one", "two"]);
    same(run.systems("status").map((status) => status.permissionMode).filter(Boolean), ["acceptEdits"]);
  },

  async a_folder_in_an_answer_opens_it(box) {
    const outside = join(dirname(box.home), "outside");
    mkdirSync(outside);
    const update = { type: "addDirectories", directories: [outside], destination: "session" };
    const asked = asking(allow({ updatedPermissions: [update] }));
    const chat = box.chat({ canUseTool: asked, permissionMode: "acceptEdits" });
    await chat.turn(`write ${outside}/a.txt: one`);
    await chat.turn(`write ${outside}/b.txt: two`);
    await chat.end();
    same(asked.tools, ["Write"]);
    same(readFileSync(join(outside, "b.txt"), "utf8"), "two");
    has(asked.questions[0].options.decisionReason, "outside");
  },

  async an_allowed_tool_of_the_options_is_not_asked_about(box) {
    const asked = asking();
    await box.run("run `touch a.txt`\nwrite b.txt: asked", { canUseTool: asked, allowedTools: ["Bash(touch:*)"] });
    same([asked.tools, box.read("a.txt"), box.read("b.txt")], [["Write"], "", "asked"]);
  },

  async a_disallowed_tool_is_not_there(box) {
    const asked = asking();
    const call = 'use the tool Bash with {"command": "touch a.txt"}';
    const run = await box.run(call, { canUseTool: asked, disallowedTools: ["Bash"] });
    ok(!run.init.tools.includes("Bash"));
    same([asked.tools, box.read("a.txt")], [[], null]);
    has(run.toolResults[0][0], "No such tool available: Bash");
  },

  async a_mode_that_never_asks_denies(box) {
    const asked = asking();
    const run = await box.run("write a.txt: no", { canUseTool: asked, permissionMode: "dontAsk" });
    same([asked.tools, box.read("a.txt"), run.init.permissionMode], [[], null, "dontAsk"]);
  },

  async bypassing_permissions_asks_nothing(box) {
    // As root only a sandbox may.
    const env = { ...process.env, IS_SANDBOX: "1" };
    const bypass = { permissionMode: "bypassPermissions", allowDangerouslySkipPermissions: true, env };
    const run = await box.run("write a.txt: one\nrun `touch .git`", bypass);
    same([box.read("a.txt"), box.read(".git"), run.init.permissionMode], ["one", "", "bypassPermissions"]);
  },

  async a_question_to_the_user_is_answered_through_the_input(box) {
    const asked = asking((tool, input) => {
      const [question] = input.questions;
      same(question.options.map((option) => option.label), ["red", "blue"]);
      return { behavior: "allow", updatedInput: { ...input, answers: { [question.question]: "blue" } } };
    });
    const run = await box.run("ask me Which colour?: red or blue", { canUseTool: asked });
    same(asked.tools, ["AskUserQuestion"]);
    has(run.toolResults[0][0], "blue");
    has(run.text, "blue");
  },

  async a_plan_is_shown_before_it_is_left(box) {
    const asked = asking();
    const chat = box.chat({ canUseTool: asked, permissionMode: "plan" });
    const run = await chat.turn("plan: Build a bridge");
    same([run.init.permissionMode, asked.tools], ["plan", ["ExitPlanMode"]]);
    const { plan, planFilePath } = asked.questions[0].input;
    same(plan.trim(), "Build a bridge");
    ok(planFilePath.startsWith(join(box.home, ".claude/plans")), planFilePath);
    const after = await chat.turn("remember violet");
    same(after.init.permissionMode, "default");
    await chat.end();
  },

  async a_plan_that_is_sent_back_keeps_the_mode(box) {
    const chat = box.chat({ canUseTool: asking(deny("of stone, please")), permissionMode: "plan" });
    const run = await chat.turn("plan: Build a bridge");
    has(run.toolResults.at(-1)[0], "of stone, please");
    const after = await chat.turn("remember violet");
    same(after.init.permissionMode, "plan");
    await chat.end();
  },
});
