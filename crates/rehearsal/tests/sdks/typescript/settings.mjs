// Settings from disk and from the options: which files count, and what they decide.

import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { allow, asking, cases, has, same } from "./kit.mjs";

const DENY_TOUCH = { permissions: { deny: ["Bash(touch:*)"] } };
const ALLOW_WRITE = { permissions: { allow: ["Write"] } };

cases({
  async a_rule_of_the_users_settings_holds(box) {
    box.write("~/.claude/settings.json", ALLOW_WRITE);
    const asked = asking();
    await box.run("write a.txt: one\nrun `touch b.txt`", { canUseTool: asked, settingSources: ["user"] });
    same([asked.tools, box.read("a.txt")], [["Bash"], "one"]);
  },

  async a_deny_rule_of_the_projects_settings_holds(box) {
    box.write(".claude/settings.json", DENY_TOUCH);
    const asked = asking();
    const run = await box.run("run `touch a.txt`", { canUseTool: asked, settingSources: ["project"] });
    same([asked.tools, box.read("a.txt")], [[], null]);
    same(run.result.permission_denials.map((denial) => denial.tool_name), ["Bash"]);
  },

  async an_allow_rule_of_a_project_nobody_trusts_is_passed_over(box) {
    box.write(".claude/settings.json", { permissions: { allow: ["Bash(touch:*)"] } });
    const asked = asking();
    const lines = [];
    await box.run("run `touch a.txt`", { canUseTool: asked, stderr: (text) => lines.push(text) });
    same([asked.tools, box.read("a.txt")], [["Bash"], ""]);
    has(lines.join(""), "this workspace has not been trusted");
  },

  async without_setting_sources_no_file_counts(box) {
    box.write("~/.claude/settings.json", ALLOW_WRITE);
    box.write(".claude/settings.json", DENY_TOUCH);
    const asked = asking();
    await box.run("write a.txt: one\nrun `touch b.txt`", { canUseTool: asked, settingSources: [] });
    same(asked.tools, ["Write", "Bash"]);
  },

  async only_the_named_setting_sources_count(box) {
    box.write("~/.claude/settings.json", ALLOW_WRITE);
    box.write(".claude/settings.json", DENY_TOUCH);
    const asked = asking();
    await box.run("write a.txt: one\nrun `touch b.txt`", { canUseTool: asked, settingSources: ["project"] });
    same([asked.tools, box.read("b.txt")], [["Write"], null]);
  },

  async settings_of_the_options_are_given_as_an_object_and_as_a_file(box) {
    const asked = asking();
    await box.run("run `touch a.txt`", { canUseTool: asked, settings: DENY_TOUCH });
    same([asked.tools, box.read("a.txt")], [[], null]);
    const file = box.write("elsewhere.json", { permissions: { allow: ["Bash(touch:*)"] } });
    await box.run("run `touch b.txt`", { canUseTool: asked, settings: file });
    same([asked.tools, box.read("b.txt")], [[], ""]);
  },

  async a_command_hook_of_the_settings_runs(box) {
    const hook = { type: "command", command: "cat > seen.json; echo '{}'" };
    box.write("~/.claude/settings.json", { hooks: { PreToolUse: [{ matcher: "Bash", hooks: [hook] }] } });
    await box.run("run `echo hi`", { settingSources: ["user"] });
    const seen = JSON.parse(box.read("seen.json"));
    same([seen.hook_event_name, seen.tool_name, seen.tool_input.command], ["PreToolUse", "Bash", "echo hi"]);
  },

  async variables_of_the_options_reach_commands(box) {
    const run = await box.run("run `echo $FROM_OPTIONS`", {
      env: { ...process.env, FROM_OPTIONS: "brick" },
      allowedTools: ["Bash"],
    });
    same(run.toolResults, [["brick", false]]);
  },

  async the_working_folder_of_the_options_is_where_tools_run(box) {
    const inner = box.path("inner");
    mkdirSync(inner);
    const run = await box.run("write a.txt: here\nrun `pwd`", { cwd: inner, permissionMode: "acceptEdits" });
    same([run.init.cwd, readFileSync(join(inner, "a.txt"), "utf8")], [inner, "here"]);
    has(run.toolResults[1][0], inner);
  },

  async a_command_file_of_the_project_is_a_slash_command(box) {
    box.write(".claude/commands/greet.md", "---\ndescription: Greets\n---\nwrite greeting.txt: $ARGUMENTS\n");
    const run = await box.run("/greet hello", { permissionMode: "acceptEdits", settingSources: ["project"] });
    has(run.init.slash_commands, "greet");
    same(box.read("greeting.txt"), "hello");
  },

  async a_mode_is_written_to_the_user_settings(box) {
    const update = { type: "setMode", mode: "acceptEdits", destination: "userSettings" };
    const canUseTool = asking(allow({ updatedPermissions: [update] }));
    await box.run("write a.txt: one", { canUseTool });
    const stored = JSON.parse(readFileSync(join(box.home, ".claude/settings.json"), "utf8"));
    same(stored.permissions.defaultMode, "acceptEdits");
  },
});
