"""Settings from disk and from the options: which files count, and what they decide."""

import json

from claude_agent_sdk import ProcessError

from kit import Asked, Box, case, has, same, turn


@case
async def a_rule_of_the_users_settings_holds(box: Box) -> None:
    box.write_json("~/.claude/settings.json", {"permissions": {"allow": ["Write"]}})
    asked = Asked()
    await box.run("write a.txt: one\nrun `touch b.txt`", can_use_tool=asked)
    same((asked.tools, box.read("a.txt")), (["Bash"], "one"))


@case
async def a_deny_rule_of_the_projects_settings_holds(box: Box) -> None:
    box.write_json(".claude/settings.json", {"permissions": {"deny": ["Bash(touch:*)"]}})
    asked = Asked()
    run = await box.run("run `touch a.txt`", can_use_tool=asked)
    same((asked.questions, box.read("a.txt")), ([], None))
    same([denial["tool_name"] for denial in run.result.permission_denials], ["Bash"])


@case
async def an_allow_rule_of_a_project_nobody_trusts_is_passed_over(box: Box) -> None:
    box.write_json(".claude/settings.json", {"permissions": {"allow": ["Bash(touch:*)"]}})
    asked, lines = Asked(), []
    await box.run("run `touch a.txt`", can_use_tool=asked, stderr=lines.append)
    same((asked.tools, box.read("a.txt")), (["Bash"], ""))
    has("\n".join(lines), "this workspace has not been trusted")


@case
async def the_mode_of_the_users_settings_is_the_first(box: Box) -> None:
    box.write_json("~/.claude/settings.json", {"permissions": {"defaultMode": "acceptEdits"}})
    run = await box.run("write a.txt: one")
    same((run.init["permissionMode"], box.read("a.txt")), ("acceptEdits", "one"))


@case
async def the_model_of_the_settings_is_used(box: Box) -> None:
    box.write_json("~/.claude/settings.json", {"model": "claude-haiku-4-5"})
    run = await box.run("which model?")
    same(run.init["model"], "claude-haiku-4-5")
    chosen = await box.run("which model?", model="claude-sonnet-4-5")
    same(chosen.init["model"], "claude-sonnet-4-5")


@case
async def without_setting_sources_no_file_counts(box: Box) -> None:
    box.write_json("~/.claude/settings.json", {"permissions": {"allow": ["Write"]}})
    box.write_json(".claude/settings.json", {"permissions": {"deny": ["Bash(touch:*)"]}})
    asked = Asked()
    await box.run("write a.txt: one\nrun `touch b.txt`", can_use_tool=asked, setting_sources=[])
    same(asked.tools, ["Write", "Bash"])


@case
async def only_the_named_setting_sources_count(box: Box) -> None:
    box.write_json("~/.claude/settings.json", {"permissions": {"allow": ["Write"]}})
    box.write_json(".claude/settings.json", {"permissions": {"deny": ["Bash(touch:*)"]}})
    asked = Asked()
    await box.run("write a.txt: one\nrun `touch b.txt`", can_use_tool=asked, setting_sources=["project"])
    same((asked.tools, box.read("b.txt")), (["Write"], None))


@case
async def settings_of_the_options_are_given_as_text(box: Box) -> None:
    asked = Asked()
    run = await box.run("run `touch a.txt`", can_use_tool=asked,
                        settings=json.dumps({"permissions": {"deny": ["Bash(touch:*)"]}}))
    same((asked.questions, box.read("a.txt"), run.tool_results()[0][1]), ([], None, True))


@case
async def settings_of_the_options_are_given_as_a_file(box: Box) -> None:
    file = box.write_json("elsewhere.json", {"permissions": {"allow": ["Bash(touch:*)"]}})
    asked = Asked()
    await box.run("run `touch a.txt`", can_use_tool=asked, settings=str(file))
    same((asked.questions, box.read("a.txt")), ([], ""))


@case
async def a_settings_file_that_is_not_there_is_an_error(box: Box) -> None:
    lines: list[str] = []
    try:
        await box.run("remember violet", settings=str(box.path("nowhere.json")), stderr=lines.append)
    except ProcessError as error:
        same(error.exit_code, 1)
    else:
        raise AssertionError("it was passed over")
    has("\n".join(lines), "Settings file not found")


@case
async def a_command_hook_of_the_settings_runs(box: Box) -> None:
    command = "cat > seen.json; echo '{}'"
    hooks = {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": command}]}]}
    box.write_json("~/.claude/settings.json", {"hooks": hooks})
    await box.run("run `echo hi`")
    seen = json.loads(box.read("seen.json"))
    same((seen["hook_event_name"], seen["tool_name"], seen["tool_input"]["command"]), ("PreToolUse", "Bash", "echo hi"))


@case
async def a_command_hook_of_the_settings_blocks(box: Box) -> None:
    hook = {"type": "command", "command": "echo 'not in this house' >&2; exit 2"}
    box.write_json("~/.claude/settings.json", {"hooks": {"PreToolUse": [{"matcher": "Write", "hooks": [hook]}]}})
    run = await box.run("write a.txt: no", permission_mode="acceptEdits")
    same(box.read("a.txt"), None)
    has(run.tool_results()[0][0], "not in this house")


@case
async def variables_of_the_options_and_settings_reach_commands(box: Box) -> None:
    box.write_json("~/.claude/settings.json", {"env": {"FROM_SETTINGS": "stone"}})
    run = await box.run("run `echo $FROM_OPTIONS $FROM_SETTINGS`", env={"FROM_OPTIONS": "brick"},
                        allowed_tools=["Bash"])
    same(run.tool_results(), [("brick stone", False)])


@case
async def the_working_folder_of_the_options_is_where_tools_run(box: Box) -> None:
    inner = box.path("inner")
    inner.mkdir()
    run = await box.run("write a.txt: here\nrun `pwd`", cwd=inner, permission_mode="acceptEdits")
    same((run.init["cwd"], (inner / "a.txt").read_text()), (str(inner), "here"))
    has(run.tool_results()[1][0], str(inner))


@case
async def a_command_file_of_the_project_is_a_slash_command(box: Box) -> None:
    box.write(".claude/commands/greet.md", "---\ndescription: Greets\n---\nwrite greeting.txt: $ARGUMENTS\n")
    async with box.client(permission_mode="acceptEdits") as client:
        info = await client.get_server_info()
        assert any(command["name"] == "greet" for command in info["commands"]), info["commands"]
        run = await turn(client, "/greet hello")
    has(run.init["slash_commands"], "greet")
    same(box.read("greeting.txt"), "hello")
