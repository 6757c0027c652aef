"""Who may do what: can_use_tool with every answer, permission updates, rules, modes, questions and plans."""

import json

from claude_agent_sdk import PermissionUpdate, ToolResultBlock, ToolUseBlock, UserMessage
from claude_agent_sdk.types import PermissionRuleValue

from kit import Asked, Box, allow, case, deny, fits, has, same, turn


def rule(tool: str, content: str | None, destination: str, behavior: str = "allow") -> PermissionUpdate:
    rules = [PermissionRuleValue(tool_name=tool, rule_content=content)]
    return PermissionUpdate(type="addRules", rules=rules, behavior=behavior, destination=destination)


@case
async def an_allowed_tool_runs_and_the_question_says_what_it_is(box: Box) -> None:
    asked = Asked()
    run = await box.run("run `touch made.txt`", can_use_tool=asked)
    assert box.path("made.txt").exists()
    ((tool, input, context),) = asked.questions
    same((tool, input["command"]), ("Bash", "touch made.txt"))
    (use,) = run.blocks(ToolUseBlock)
    same((context.tool_use_id, context.agent_id, context.display_name), (use.id, None, "Bash"))
    same(context.blocked_path, str(box.path("made.txt")))
    types = [suggestion.type for suggestion in context.suggestions]
    same(types, ["addRules", "addDirectories", "setMode"])
    (suggested,) = context.suggestions[0].rules
    same((suggested.tool_name, suggested.rule_content), ("Bash", "touch made.txt"))
    same(run.kinds(), ["system/init", "assistant:Bash", "user:tool_result", "assistant:text", "result/success"])
    same((run.result.permission_denials, run.result.num_turns), ([], 2))


@case
async def a_denied_tool_does_not_run_and_the_model_is_told_why(box: Box) -> None:
    asked = Asked(deny("not on a Sunday"))
    run = await box.run("write a.txt: no", can_use_tool=asked)
    same((asked.tools, box.read("a.txt")), (["Write"], None))
    ((told, is_error),) = run.tool_results()
    has(told, "not on a Sunday")
    same(is_error, True)
    has(run.text, "not on a Sunday")
    (denial,) = run.result.permission_denials
    same((denial["tool_name"], denial["tool_input"]["content"]), ("Write", "no"))
    same((run.result.subtype, run.result.is_error), ("success", False))


@case
async def a_denial_that_interrupts_ends_the_turn(box: Box) -> None:
    asked = Asked(deny("stop here", interrupt=True))
    async with box.client(can_use_tool=asked) as client:
        run = await turn(client, "write a.txt: no, then write b.txt: neither")
        same((asked.tools, run.result.subtype, run.result.is_error), (["Write"], "error_during_execution", True))
        same(run.result.terminal_reason, "aborted_tools")
        after = await turn(client, "remember violet")
        same(after.result.subtype, "success")
    same((box.read("a.txt"), box.read("b.txt")), (None, None))


@case
async def a_changed_input_is_what_runs(box: Box) -> None:
    def change(tool, input, context):
        return allow(updated_input={**input, "content": "changed"})

    run = await box.run("write a.txt: original", can_use_tool=Asked(change))
    same((box.read("a.txt"), run.result.subtype), ("changed", "success"))
    (told,) = [message for message in run.of(UserMessage) if message.tool_use_result]
    same((told.tool_use_result["type"], told.tool_use_result["content"]), ("create", "changed"))


@case
async def a_changed_command_is_what_runs(box: Box) -> None:
    asked = Asked(lambda tool, input, context: allow(updated_input={"command": "touch other.txt"}))
    await box.run("run `touch made.txt`", can_use_tool=asked)
    same((box.read("made.txt"), box.read("other.txt")), (None, ""))


@case
async def a_callback_that_fails_denies(box: Box) -> None:
    run = await box.run("write a.txt: no", can_use_tool=Asked(RuntimeError("the host is confused")))
    same(box.read("a.txt"), None)
    ((told, is_error),) = run.tool_results()
    same(is_error, True)
    has(told, "the host is confused")


@case
async def without_a_callback_what_would_be_asked_is_denied(box: Box) -> None:
    run = await box.run("write a.txt: no")
    same((box.read("a.txt"), run.result.subtype), (None, "success"))
    same([denial["tool_name"] for denial in run.result.permission_denials], ["Write"])
    ((_, is_error),) = run.tool_results()
    same(is_error, True)


@case
async def reading_in_the_project_is_not_asked_about(box: Box) -> None:
    box.write("notes.txt", "the third word")
    asked = Asked()
    run = await box.run("read notes.txt, then run `echo fine`", can_use_tool=asked)
    same((asked.questions, run.tools), ([], ["Read", "Bash"]))
    has(run.tool_results()[0], "the third word")
    has(run.text, "fine")


@case
async def questions_of_one_turn_come_in_order(box: Box) -> None:
    asked = Asked(lambda tool, input, context: allow() if tool == "Bash" else deny("only commands"))
    run = await box.run("run `touch a.txt`\nwrite b.txt: no\nrun `touch c.txt`", can_use_tool=asked)
    same(asked.tools, ["Bash", "Write", "Bash"])
    same([box.read(name) for name in ("a.txt", "b.txt", "c.txt")], ["", None, ""])
    same([is_error for _, is_error in run.tool_results()], [False, True, False])


@case
async def a_rule_for_the_session_spares_the_second_question(box: Box) -> None:
    asked = Asked(lambda tool, input, context: allow(updated_permissions=[rule("Bash", "touch:*", "session")]))
    async with box.client(can_use_tool=asked) as client:
        await turn(client, "run `touch a.txt`")
        await turn(client, "run `touch b.txt`")
        await turn(client, "write c.txt: asked again")
    same(asked.tools, ["Bash", "Write"])
    assert box.path("a.txt").exists() and box.path("b.txt").exists()
    assert not box.path(".claude").exists(), "a rule for the session is not written anywhere"


@case
async def a_rule_for_the_local_settings_is_written_there(box: Box) -> None:
    update = rule("Bash", "touch a.txt", "localSettings")
    await box.run("run `touch a.txt`", can_use_tool=Asked(allow(updated_permissions=[update])))
    stored = json.loads(box.read(".claude/settings.local.json"))
    same(stored["permissions"]["allow"], ["Bash(touch a.txt)"])


@case
async def a_rule_for_the_user_settings_holds_in_the_next_session(box: Box) -> None:
    update = rule("Bash", "touch:*", "userSettings")
    await box.run("run `touch a.txt`", can_use_tool=Asked(allow(updated_permissions=[update])))
    stored = json.loads((box.home / ".claude/settings.json").read_text())
    same(stored["permissions"]["allow"], ["Bash(touch:*)"])
    asked = Asked()
    await box.run("run `touch b.txt`", can_use_tool=asked)
    same((asked.questions, box.read("b.txt")), ([], ""))


@case
async def a_deny_rule_of_an_answer_refuses_the_next_call(box: Box) -> None:
    asked = Asked(allow(updated_permissions=[rule("Bash", "touch:*", "session", "deny")]))
    async with box.client(can_use_tool=asked) as client:
        await turn(client, "run `touch a.txt`")
        second = await turn(client, "run `touch b.txt`")
    same((asked.tools, box.read("a.txt"), box.read("b.txt")), (["Bash"], "", None))
    same(second.tool_results()[0][1], True)


@case
async def a_rule_about_a_whole_tool_spares_the_second_question(box: Box) -> None:
    asked = Asked(allow(updated_permissions=[rule("Write", None, "session")]))
    async with box.client(can_use_tool=asked) as client:
        await turn(client, "write a.txt: one")
        await turn(client, "write b.txt: two")
    same((asked.tools, box.read("a.txt"), box.read("b.txt")), (["Write"], "one", "two"))


@case
async def the_clis_own_suggestion_can_be_given_back(box: Box) -> None:
    def accept(tool, input, context):
        modes = [suggestion for suggestion in context.suggestions if suggestion.type == "setMode"]
        return allow(updated_permissions=modes)

    asked = Asked(accept)
    async with box.client(can_use_tool=asked) as client:
        await turn(client, "write a.txt: one")
        second = await turn(client, "write b.txt: two")
    same(asked.tools, ["Write"])
    same((second.init["permissionMode"], box.read("b.txt")), ("acceptEdits", "two"))


@case
async def a_mode_in_an_answer_holds_for_the_rest_of_the_turn(box: Box) -> None:
    mode = PermissionUpdate(type="setMode", mode="acceptEdits", destination="session")
    asked = Asked(allow(updated_permissions=[mode]))
    run = await box.run("write a.txt: one\nwrite b.txt: two", can_use_tool=asked)
    same((asked.tools, box.read("a.txt"), box.read("b.txt")), (["Write"], "one", "two"))
    same([message.data.get("permissionMode") for message in run.systems("status")], ["acceptEdits"])


@case
async def a_folder_in_an_answer_opens_it(box: Box) -> None:
    outside = box.home.parent / "outside"
    outside.mkdir()
    update = PermissionUpdate(type="addDirectories", directories=[str(outside)], destination="session")
    asked = Asked(allow(updated_permissions=[update]))
    async with box.client(can_use_tool=asked, permission_mode="acceptEdits") as client:
        await turn(client, f"write {outside}/a.txt: one")
        await turn(client, f"write {outside}/b.txt: two")
    same(asked.tools, ["Write"])
    same(((outside / "a.txt").read_text(), (outside / "b.txt").read_text()), ("one", "two"))
    ((_, _, context),) = asked.questions
    has(context.decision_reason, "outside")


@case
async def a_folder_of_the_options_is_open_from_the_start(box: Box) -> None:
    outside = box.home.parent / "outside"
    outside.mkdir()
    asked = Asked()
    await box.run(f"write {outside}/a.txt: one", add_dirs=[outside], can_use_tool=asked, permission_mode="acceptEdits")
    same((asked.questions, (outside / "a.txt").read_text()), ([], "one"))


@case
async def an_allowed_tool_of_the_options_is_not_asked_about(box: Box) -> None:
    asked = Asked()
    run = await box.run("run `touch a.txt`\nwrite b.txt: asked", can_use_tool=asked, allowed_tools=["Bash(touch:*)"])
    same((asked.tools, box.read("a.txt"), box.read("b.txt")), (["Write"], "", "asked"))
    same(run.result.permission_denials, [])


@case
async def a_disallowed_tool_is_not_there(box: Box) -> None:
    asked = Asked()
    call = 'use the tool Bash with {"command": "touch a.txt"}'
    run = await box.run(call, can_use_tool=asked, disallowed_tools=["Bash"])
    assert "Bash" not in run.init["tools"], run.init["tools"]
    same((asked.questions, box.read("a.txt")), ([], None))
    ((told, is_error),) = run.tool_results()
    has(told, "No such tool available: Bash")
    same(is_error, True)


@case
async def a_disallowed_command_is_refused_and_the_others_are_asked_about(box: Box) -> None:
    asked = Asked()
    run = await box.run("run `touch a.txt`\nrun `mkdir b`", can_use_tool=asked, disallowed_tools=["Bash(touch:*)"])
    same([input["command"] for _, input, _ in asked.questions], ["mkdir b"])
    same((box.read("a.txt"), box.path("b").is_dir()), (None, True))
    same([is_error for _, is_error in run.tool_results()], [True, False])
    same([denial["tool_name"] for denial in run.result.permission_denials], ["Bash"])


@case
async def accepting_edits_spares_their_questions_and_no_others(box: Box) -> None:
    asked = Asked()
    run = await box.run("write a.txt: one\nrun `python3 -c 1`", can_use_tool=asked, permission_mode="acceptEdits")
    same((asked.tools, box.read("a.txt")), (["Bash"], "one"))
    same(run.init["permissionMode"], "acceptEdits")


@case
async def a_mode_that_never_asks_denies(box: Box) -> None:
    asked = Asked()
    run = await box.run("write a.txt: no", can_use_tool=asked, permission_mode="dontAsk")
    same((asked.questions, box.read("a.txt"), run.init["permissionMode"]), ([], None, "dontAsk"))
    same([denial["tool_name"] for denial in run.result.permission_denials], ["Write"])


@case
async def bypassing_permissions_asks_nothing(box: Box) -> None:
    # As root only a sandbox may.
    run = await box.run("write a.txt: one\nrun `touch .git`", permission_mode="bypassPermissions",
                        env={"IS_SANDBOX": "1"})
    same((box.read("a.txt"), box.read(".git"), run.init["permissionMode"]), ("one", "", "bypassPermissions"))
    same([is_error for _, is_error in run.tool_results()], [False, False])


@case
async def a_question_to_the_user_is_answered_through_the_input(box: Box) -> None:
    def answer(tool, input, context):
        (question,) = input["questions"]
        same([option["label"] for option in question["options"]], ["red", "blue"])
        return allow(updated_input={**input, "answers": {question["question"]: "blue"}})

    asked = Asked(answer)
    run = await box.run("ask me Which colour?: red or blue", can_use_tool=asked)
    same(asked.tools, ["AskUserQuestion"])
    ((told, is_error),) = run.tool_results()
    has(told, "blue")
    same(is_error, False)
    has(run.text, "blue")


@case
async def a_question_to_the_user_is_asked_even_when_nothing_else_is(box: Box) -> None:
    asked = Asked(deny("nobody is here"))
    run = await box.run("write a.txt: one\nask me Which colour?: red or blue", can_use_tool=asked,
                        permission_mode="bypassPermissions", env={"IS_SANDBOX": "1"})
    same((asked.tools, box.read("a.txt")), (["AskUserQuestion"], "one"))
    has(run.tool_results()[1][0], "nobody is here")


@case
async def a_plan_is_shown_before_it_is_left(box: Box) -> None:
    asked = Asked()
    async with box.client(can_use_tool=asked, permission_mode="plan") as client:
        run = await turn(client, "plan: Build a bridge")
        same(run.init["permissionMode"], "plan")
        same(asked.tools, ["ExitPlanMode"])
        plan = asked.questions[0][1]
        same(plan["plan"].strip(), "Build a bridge")
        assert plan["planFilePath"].startswith(str(box.home / ".claude/plans")), plan
        has(run.tool_results()[-1], "approved")
        after = await turn(client, "remember violet")
        same(after.init["permissionMode"], "default")


@case
async def a_plan_that_is_sent_back_keeps_the_mode(box: Box) -> None:
    asked = Asked(deny("of stone, please"))
    async with box.client(can_use_tool=asked, permission_mode="plan") as client:
        run = await turn(client, "plan: Build a bridge")
        has(run.tool_results()[-1], "of stone, please")
        same([denial["tool_name"] for denial in run.result.permission_denials], ["ExitPlanMode"])
        after = await turn(client, "remember violet")
        same(after.init["permissionMode"], "plan")


@case
async def a_plan_is_approved_into_accepting_edits(box: Box) -> None:
    mode = PermissionUpdate(type="setMode", mode="acceptEdits", destination="session")
    asked = Asked(allow(updated_permissions=[mode]))
    async with box.client(can_use_tool=asked, permission_mode="plan") as client:
        await turn(client, "plan: Build a bridge\nwrite bridge.txt: stone")
        after = await turn(client, "remember violet")
    same((asked.tools, box.read("bridge.txt")), (["ExitPlanMode"], "stone"))
    same(after.init["permissionMode"], "acceptEdits")


@case
async def the_structured_result_of_a_tool_comes_with_its_message(box: Box) -> None:
    run = await box.run("run `echo out; echo err >&2`")
    (told,) = [message for message in run.of(UserMessage) if isinstance(message.content, list)]
    fits(told.tool_use_result, {"stdout": "out\nerr", "stderr": "", "interrupted": False})
    (block,) = [block for block in told.content if isinstance(block, ToolResultBlock)]
    same((bool(block.is_error), told.parent_tool_use_id), (False, None))
