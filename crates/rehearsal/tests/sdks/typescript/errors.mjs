// What goes wrong, and how the SDK tells it.

import { cases, failure, fits, has, Run, same } from "./kit.mjs";

cases({
  async a_failing_model_is_an_error_result(box) {
    const seen = [];
    const error = await failure((async () => {
      for await (const message of box.query("fail with 400")) seen.push(message);
    })());
    has(String(error), "API Error: 400");
    const run = new Run(seen);
    fits(run.result, { subtype: "success", is_error: true, api_error_status: 400, terminal_reason: "api_error" });
    has(run.result.result, "API Error: 400");
    fits(run.of("assistant")[0], { error: "unknown" });
    same(run.of("assistant")[0].message.model, "<synthetic>");
  },

  async a_session_survives_a_failing_model(box) {
    const chat = box.chat();
    same((await chat.turn("fail with 400")).result.is_error, true);
    fits((await chat.turn("remember violet")).result, { subtype: "success", is_error: false });
    await chat.end();
  },

  async a_model_that_does_not_exist_is_an_error_result(box) {
    const chat = box.chat({ model: "no-such-model" });
    const run = await chat.turn("fail with 404");
    same(run.init.model, "no-such-model");
    fits(run.result, { is_error: true, api_error_status: 404 });
    has(run.result.result, "no-such-model");
    chat.query.close();
  },

  async a_failing_command_is_told_with_its_code(box) {
    const run = await box.run("run `echo gone >&2; exit 3`", { allowedTools: ["Bash"] });
    has(run.toolResults[0][0], "Exit code 3");
    has(run.toolResults[0][0], "gone");
    same([run.toolResults[0][1], run.result.subtype], [true, "success"]);
  },

  async a_tool_that_does_not_exist_is_a_tools_error(box) {
    const run = await box.run("use the tool Teleport with {}");
    has(run.toolResults[0][0], "No such tool available: Teleport");
    same(run.toolResults[0][1], true);
  },

  async an_unknown_flag_ends_the_cli(box) {
    const error = await failure(box.run("remember violet", { extraArgs: { "no-such-flag": null } }));
    has(String(error), "unknown option '--no-such-flag'");
  },

  async an_unknown_mode_ends_the_cli(box) {
    const error = await failure(box.run("remember violet", { permissionMode: "banana" }));
    has(String(error), "argument 'banana' is invalid");
  },

  async a_cli_that_is_not_there_is_named(box) {
    const error = await failure(box.run("remember violet", { pathToClaudeCodeExecutable: box.path("nowhere") }));
    has(String(error), "nowhere");
  },

  async stderr_reaches_the_callback(box) {
    const lines = [];
    const options = { extraArgs: { "no-such-flag": null }, stderr: (text) => lines.push(text) };
    await failure(box.run("remember violet", options));
    has(lines.join(""), "unknown option");
  },
});
