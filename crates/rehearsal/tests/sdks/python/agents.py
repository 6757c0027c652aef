"""Sub-agents: from the options, from disk, what their messages look like and what they may do."""

import json

from claude_agent_sdk import (
    AgentDefinition,
    AssistantMessage,
    TaskNotificationMessage,
    TaskStartedMessage,
    ToolUseBlock,
    UserMessage,
)

from kit import Asked, Box, case, has, same

AGENT = """---
name: scribe
description: Writes things down
---
You write things down.
"""


def writer(**fields) -> dict[str, AgentDefinition]:
    return {"writer": AgentDefinition(description="Writes files", prompt="You write files.", **fields)}


@case
async def an_agent_of_the_options_does_its_work(box: Box) -> None:
    run = await box.run("use the agent writer to write a.txt: by an agent", agents=writer(),
                        permission_mode="acceptEdits")
    has(run.init["agents"], "writer")
    same(box.read("a.txt"), "by an agent")
    (call, write) = run.blocks(ToolUseBlock)
    same((call.input["subagent_type"], write.name), ("writer", "Write"))
    inner = [message for message in run.messages if getattr(message, "parent_tool_use_id", None)]
    same({message.parent_tool_use_id for message in inner}, {call.id})
    assert any(isinstance(message, AssistantMessage) for message in inner), run.kinds()
    assert any(isinstance(message, UserMessage) for message in inner), run.kinds()
    (started,) = run.of(TaskStartedMessage)
    same((started.tool_use_id, started.task_type), (call.id, "local_agent"))
    (ended,) = run.of(TaskNotificationMessage)
    same((ended.status, ended.tool_use_id, ended.task_id), ("completed", call.id, started.task_id))


@case
async def an_agent_of_the_project_does_its_work(box: Box) -> None:
    box.write(".claude/agents/scribe.md", AGENT)
    run = await box.run("use the agent scribe to write a.txt: noted", permission_mode="acceptEdits")
    has(run.init["agents"], "scribe")
    same(box.read("a.txt"), "noted")


@case
async def an_agent_of_the_user_does_its_work(box: Box) -> None:
    box.write("~/.claude/agents/scribe.md", AGENT)
    run = await box.run("use the agent scribe to write a.txt: noted", permission_mode="acceptEdits")
    has(run.init["agents"], "scribe")
    same(box.read("a.txt"), "noted")


@case
async def without_setting_sources_there_is_no_agent_from_disk(box: Box) -> None:
    box.write(".claude/agents/scribe.md", AGENT)
    run = await box.run("use the agent scribe to write a.txt: no", permission_mode="acceptEdits", setting_sources=[])
    assert "scribe" not in run.init["agents"], run.init["agents"]
    same((box.read("a.txt"), run.tool_results()[0][1]), (None, True))


@case
async def an_agents_tool_is_asked_about_in_its_name(box: Box) -> None:
    asked = Asked()
    await box.run("use the agent writer to write a.txt: asked", agents=writer(), can_use_tool=asked)
    ((tool, _, context),) = asked.questions
    same((tool, box.read("a.txt")), ("Write", "asked"))
    assert context.agent_id, context


@case
async def an_agent_has_only_its_tools(box: Box) -> None:
    call = json.dumps({"file_path": str(box.path("a.txt")), "content": "no"})
    run = await box.run(f"use the agent writer to use the tool Write with {call}", agents=writer(tools=["Read"]),
                        permission_mode="acceptEdits")
    same(box.read("a.txt"), None)
    inner = [block for message in run.of(UserMessage) if message.parent_tool_use_id for block in message.content]
    assert any(getattr(block, "is_error", False) for block in inner), run.kinds()


@case
async def an_agents_report_is_the_result_of_the_call(box: Box) -> None:
    box.write("notes.txt", "the third word")
    run = await box.run("use the agent writer to read notes.txt", agents=writer())
    has(run.tool_results()[-1][0], "the third word")
    has(run.result.result, "the third word")


@case
async def an_agents_text_is_forwarded_when_asked_for(box: Box) -> None:
    run = await box.run("use the agent writer to remember violet", agents=writer(), forward_subagent_text=True)
    inner = [message for message in run.of(AssistantMessage) if message.parent_tool_use_id]
    assert inner and all(block.text for message in inner for block in message.content), run.kinds()
    without = await box.run("use the agent writer to remember violet", agents=writer())
    same([message for message in without.of(AssistantMessage) if message.parent_tool_use_id], [])
