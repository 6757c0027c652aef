"""Hooks as callbacks of the host: what each is told, and what its answer does."""

from typing import Any

from claude_agent_sdk import AgentDefinition, HookMatcher

from kit import Asked, Box, allow, case, deny, fits, has, same, turn


class Called:
    """A hook that notes what it is told and answers by a function, or always the same."""

    def __init__(self, answer: Any = None) -> None:
        self.answer = answer or {}
        self.inputs: list[dict[str, Any]] = []
        self.ids: list[str | None] = []

    async def __call__(self, input: dict[str, Any], tool_use_id: str | None, context: Any) -> dict[str, Any]:
        self.inputs.append(input)
        self.ids.append(tool_use_id)
        return self.answer(input) if callable(self.answer) else self.answer

    @property
    def events(self) -> list[str]:
        return [input["hook_event_name"] for input in self.inputs]


def on(event: str, hook: Called, matcher: str | None = None) -> dict[str, list[HookMatcher]]:
    return {event: [HookMatcher(matcher=matcher, hooks=[hook])]}


def decision(word: str, **fields: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": word, **fields}}


@case
async def a_hook_before_a_tool_denies_it_with_its_reason(box: Box) -> None:
    hook = Called(decision("deny", permissionDecisionReason="not this folder"))
    asked = Asked()
    run = await box.run("write a.txt: no", hooks=on("PreToolUse", hook, "Write"), can_use_tool=asked)
    same((asked.questions, box.read("a.txt")), ([], None))
    ((told, is_error),) = run.tool_results()
    has(told, "not this folder")
    same(is_error, True)
    (input,) = hook.inputs
    fits(input, {"hook_event_name": "PreToolUse", "tool_name": "Write", "cwd": str(box.cwd),
                 "session_id": run.result.session_id, "permission_mode": "default"})
    same((input["tool_input"]["content"], input["tool_use_id"]), ("no", hook.ids[0]))
    has(input["transcript_path"], run.result.session_id)


@case
async def a_hook_before_a_tool_allows_it_without_a_question(box: Box) -> None:
    asked = Asked()
    await box.run("write a.txt: yes", hooks=on("PreToolUse", Called(decision("allow"))), can_use_tool=asked)
    same((asked.questions, box.read("a.txt")), ([], "yes"))


@case
async def a_hook_makes_a_free_tool_asked_about(box: Box) -> None:
    asked = Asked(deny("no"))
    hook = Called(decision("ask", permissionDecisionReason="please look"))
    run = await box.run("run `echo free`", hooks=on("PreToolUse", hook, "Bash"), can_use_tool=asked)
    ((tool, _, context),) = asked.questions
    same(tool, "Bash")
    has(context.decision_reason, "please look")
    same(run.tool_results()[0][1], True)


@case
async def a_hook_changes_the_input(box: Box) -> None:
    def change(input):
        return decision("allow", updatedInput={**input["tool_input"], "content": "changed"})

    await box.run("write a.txt: original", hooks=on("PreToolUse", Called(change)))
    same(box.read("a.txt"), "changed")


@case
async def a_hook_that_says_nothing_leaves_the_question_to_the_callback(box: Box) -> None:
    hook, asked = Called(), Asked()
    await box.run("write a.txt: yes", hooks=on("PreToolUse", hook), can_use_tool=asked)
    same((len(hook.inputs), asked.tools, box.read("a.txt")), (1, ["Write"], "yes"))


@case
async def a_matcher_chooses_the_tools(box: Box) -> None:
    writes, both, all_ = Called(), Called(), Called()
    matchers = [
        HookMatcher(matcher="Write", hooks=[writes]),
        HookMatcher(matcher="Write|Bash", hooks=[both]),
        HookMatcher(hooks=[all_]),
    ]
    await box.run("write a.txt: one\nrun `echo two`\nread a.txt", hooks={"PreToolUse": matchers},
                  permission_mode="acceptEdits")
    seen = [[input["tool_name"] for input in hook.inputs] for hook in (writes, both, all_)]
    same(seen, [["Write"], ["Write", "Bash"], ["Write", "Bash", "Read"]])


@case
async def a_hook_after_a_tool_sees_its_result(box: Box) -> None:
    hook = Called()
    run = await box.run("run `echo hello`", hooks=on("PostToolUse", hook, "Bash"))
    (input,) = hook.inputs
    same((input["hook_event_name"], input["tool_name"], input["tool_input"]["command"]),
         ("PostToolUse", "Bash", "echo hello"))
    fits(input["tool_response"], {"stdout": "hello", "stderr": "", "interrupted": False})
    assert input["duration_ms"] >= 0
    same(input["session_id"], run.result.session_id)


@case
async def a_hook_after_a_failed_tool_sees_the_error(box: Box) -> None:
    failed, succeeded = Called(), Called()
    hooks = {**on("PostToolUseFailure", failed), **on("PostToolUse", succeeded)}
    run = await box.run("run `echo gone >&2; exit 3`", hooks=hooks, allowed_tools=["Bash"])
    (input,) = failed.inputs
    has(input["error"], "Exit code 3")
    has(input["error"], "gone")
    same((succeeded.inputs, run.tool_results()[0][1]), ([], True))


@case
async def a_hook_sees_the_prompt_before_the_turn(box: Box) -> None:
    hook = Called()
    run = await box.run("remember violet", hooks=on("UserPromptSubmit", hook))
    (input,) = hook.inputs
    same((input["prompt"], input["hook_event_name"]), ("remember violet", "UserPromptSubmit"))
    same(run.result.subtype, "success")


@case
async def a_hook_blocks_a_prompt(box: Box) -> None:
    hook = Called({"decision": "block", "reason": "not today"})
    run = await box.run("write a.txt: no", hooks=on("UserPromptSubmit", hook), permission_mode="acceptEdits")
    same((box.read("a.txt"), run.tools), (None, []))
    same((run.result.subtype, run.result.is_error, run.result.num_turns), ("success", False, 0))


@case
async def a_hook_at_the_end_can_keep_the_model_going_once(box: Box) -> None:
    def once(input):
        return {} if input["stop_hook_active"] else {"decision": "block", "reason": "write a.txt: one more"}

    hook = Called(once)
    run = await box.run("remember violet", hooks=on("Stop", hook), permission_mode="acceptEdits")
    same([input["stop_hook_active"] for input in hook.inputs], [False, True])
    assert hook.inputs[0]["last_assistant_message"], hook.inputs[0]
    same(len(run.of(type(run.result))), 1, "one result for the whole turn")


@case
async def a_hook_stops_everything(box: Box) -> None:
    hook = Called({"continue_": False, "stopReason": "enough"})
    run = await box.run("write a.txt: one\nwrite b.txt: two", hooks=on("PostToolUse", hook),
                        permission_mode="acceptEdits")
    same((box.read("a.txt"), box.read("b.txt"), len(hook.inputs)), ("one", None, 1))
    same(run.result.subtype, "success")


@case
async def a_hook_answers_a_permission_request(box: Box) -> None:
    answer = {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}}
    hook = Called(answer)
    run = await box.run("write a.txt: yes", hooks=on("PermissionRequest", hook))
    same((box.read("a.txt"), run.result.permission_denials), ("yes", []))
    (input,) = hook.inputs
    same((input["tool_name"], input["tool_input"]["content"]), ("Write", "yes"))


@case
async def hooks_of_a_turn_come_in_their_order(box: Box) -> None:
    hook = Called()
    asked_after: list[int] = []

    def note(tool, input, context):
        asked_after.append(len(hook.inputs))
        return allow()

    events = ["UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolBatch", "Stop"]
    await box.run("write a.txt: one\nread a.txt", hooks={event: [HookMatcher(hooks=[hook])] for event in events},
                  can_use_tool=Asked(note))
    same(hook.events, ["UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolBatch",
                       "PreToolUse", "PostToolUse", "PostToolBatch", "Stop"])
    same(asked_after, [2], "the question comes after the hook")
    assert len({input["session_id"] for input in hook.inputs}) == 1


@case
async def hooks_see_a_sub_agent_come_and_go(box: Box) -> None:
    hook = Called()
    agent = AgentDefinition(description="Writes files", prompt="You write files.")
    events = ["SubagentStart", "PreToolUse", "SubagentStop"]
    await box.run("use the agent writer to write a.txt: one", agents={"writer": agent}, permission_mode="acceptEdits",
                  hooks={event: [HookMatcher(hooks=[hook])] for event in events})
    same(hook.events, ["PreToolUse", "SubagentStart", "PreToolUse", "SubagentStop"])
    call, start, write, stop = hook.inputs
    same((start["agent_type"], stop["agent_type"], write["agent_type"]), ("writer", "writer", "writer"))
    same((start["agent_id"], stop["agent_id"], write["agent_id"]), (start["agent_id"],) * 3)
    assert "agent_id" not in call, "the call itself is the main conversation's"
    same((write["tool_name"], box.read("a.txt")), ("Write", "one"))


@case
async def a_hook_sees_a_compaction_come(box: Box) -> None:
    hook = Called()
    async with box.client(hooks=on("PreCompact", hook)) as client:
        await turn(client, "remember violet")
        compacted = await turn(client, "/compact keep the colours")
        (input,) = hook.inputs
        same((input["trigger"], input["custom_instructions"]), ("manual", "keep the colours"))
        same((len(compacted.systems("compact_boundary")), compacted.result.subtype), (1, "success"))
        after = await turn(client, "remember amber")
        same(after.result.subtype, "success")


@case
async def hook_events_are_shown_when_asked_for(box: Box) -> None:
    hook = {"type": "command", "command": "echo seen"}
    box.write_json("~/.claude/settings.json", {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [hook]}]}})
    run = await box.run("run `echo hi`", include_hook_events=True)
    shown = [(message.subtype, message.hook_event_name) for message in run.messages
             if type(message).__name__ == "HookEventMessage" and message.hook_event_name == "PreToolUse"]
    same(shown, [("hook_started", "PreToolUse"), ("hook_response", "PreToolUse")])


@case
async def a_hook_that_fails_does_not_open_the_gate(box: Box) -> None:
    async def broken(input, tool_use_id, context):
        raise RuntimeError("the hook is broken")

    hooks = {"PreToolUse": [HookMatcher(hooks=[broken], on_failure="block")]}
    run = await box.run("write a.txt: no", hooks=hooks, permission_mode="acceptEdits")
    same(box.read("a.txt"), None)
    same(run.tool_results()[0][1], True)
