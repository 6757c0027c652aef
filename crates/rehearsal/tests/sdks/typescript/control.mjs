// What a host asks of a running session: mode, model, thinking, what there is, rewinding files, settings.

import { ok } from "node:assert";

import { asking, cases, failure, fits, has, same } from "./kit.mjs";

cases({
  async a_mode_is_set_between_turns(box) {
    const asked = asking();
    const chat = box.chat({ canUseTool: asked });
    const before = await chat.turn("write a.txt: one");
    await chat.query.setPermissionMode("acceptEdits");
    const after = await chat.turn("write b.txt: two");
    await chat.query.setPermissionMode("default");
    const back = await chat.turn("write c.txt: three");
    same([before, after, back].map((run) => run.init.permissionMode), ["default", "acceptEdits", "default"]);
    same(asked.questions.map((question) => question.input.file_path), [box.path("a.txt"), box.path("c.txt")]);
    await chat.end();
  },

  async a_mode_that_does_not_exist_is_refused(box) {
    const chat = box.chat();
    has(String(await failure(chat.query.setPermissionMode("banana"))), "must be one of");
    same((await chat.turn("remember violet")).init.permissionMode, "default");
    await chat.end();
  },

  async a_model_is_set_between_turns(box) {
    const chat = box.chat({ model: "claude-sonnet-4-5" });
    const before = await chat.turn("which model?");
    await chat.query.setModel("claude-haiku-4-5");
    const after = await chat.turn("which model?");
    same([before, after].map((run) => run.init.model), ["claude-sonnet-4-5", "claude-haiku-4-5"]);
    has(before.text, "claude-sonnet-4-5");
    has(after.text, "claude-haiku-4-5");
    same(after.of("assistant")[0].message.model, "claude-haiku-4-5");
    await chat.end();
  },

  async thinking_tokens_are_set_and_the_session_goes_on(box) {
    const chat = box.chat();
    await chat.query.setMaxThinkingTokens(2000);
    await chat.query.setMaxThinkingTokens(null);
    same((await chat.turn("remember violet")).result.subtype, "success");
    await chat.end();
  },

  async what_there_is_can_be_asked_for(box) {
    const chat = box.chat();
    const commands = await chat.query.supportedCommands();
    ok(commands.find((command) => command.name === "compact")?.description, JSON.stringify(commands));
    const models = await chat.query.supportedModels();
    ok(models.length > 0 && models.every((model) => model.value && model.displayName && model.description));
    const agents = await chat.query.supportedAgents();
    ok(agents.some((agent) => agent.name === "general-purpose" && agent.description), JSON.stringify(agents));
    fits(await chat.query.accountInfo(), { apiKeySource: "ANTHROPIC_API_KEY", apiProvider: "firstParty" });
    const all = await chat.query.initializationResult();
    same([all.commands, all.models, all.agents], [commands, models, agents]);
    fits(all, { output_style: "default", claude_code_version: "2.1.327" });
    await chat.end();
  },

  async a_session_can_be_initialised_again(box) {
    const chat = box.chat();
    await chat.turn("remember violet");
    const again = await chat.query.reinitialize();
    ok(again.commands.length > 0);
    same((await chat.turn("what did I say first?")).text, "remember violet");
    await chat.end();
  },

  async the_context_usage_has_its_categories(box) {
    const chat = box.chat();
    const run = await chat.turn("remember violet");
    const usage = await chat.query.getContextUsage();
    ok(usage.totalTokens > 0 && usage.maxTokens > usage.totalTokens, JSON.stringify(usage));
    same(usage.model, run.init.model);
    ok(usage.categories.some((category) => category.name === "Free space"), JSON.stringify(usage.categories));
    await chat.end();
  },

  async files_go_back_to_where_they_were_at_a_message(box) {
    box.write("a.txt", "zero");
    const uuid = "33333333-3333-4333-8333-333333333333";
    const chat = box.chat({ permissionMode: "acceptEdits", enableFileCheckpointing: true });
    await chat.turn("remember violet");
    await chat.turn("edit a.txt: replace `zero` with `one`\nwrite b.txt: new", { uuid });
    same([box.read("a.txt"), box.read("b.txt")], ["one", "new"]);
    const preview = await chat.query.rewindFiles(uuid, { dryRun: true });
    same([preview.canRewind, preview.filesChanged.sort()], [true, [box.path("a.txt"), box.path("b.txt")]]);
    same([box.read("a.txt"), box.read("b.txt")], ["one", "new"]);
    same((await chat.query.rewindFiles(uuid)).canRewind, true);
    same([box.read("a.txt"), box.read("b.txt")], ["zero", null]);
    await chat.end();
  },

  async a_message_that_never_was_cannot_be_rewound_to(box) {
    const chat = box.chat({ enableFileCheckpointing: true });
    await chat.turn("remember violet");
    const nobody = "00000000-0000-4000-8000-000000000000";
    const answer = await chat.query.rewindFiles(nobody, { dryRun: true });
    same(answer.canRewind, false);
    has(answer.error, "No file checkpoint found");
    await chat.end();
  },

  async a_file_of_the_project_is_read_through_the_session(box) {
    box.write("notes.txt", "the third word");
    const chat = box.chat();
    const file = await chat.query.readFile("notes.txt");
    same(file.contents, "the third word");
    same(await chat.query.readFile("nowhere.txt"), null);
    await chat.end();
  },

  async flag_settings_hold_from_the_next_turn(box) {
    const asked = asking();
    const chat = box.chat({ canUseTool: asked });
    await chat.turn("run `touch a.txt`");
    await chat.query.applyFlagSettings({ permissions: { allow: ["Bash(touch:*)"] } });
    await chat.turn("run `touch b.txt`");
    same([asked.tools, box.read("b.txt")], [["Bash"], ""]);
    await chat.end();
  },
});
