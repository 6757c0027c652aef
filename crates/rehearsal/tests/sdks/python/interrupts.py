"""Stopping what is under way: text, a question, a command, a background task."""

import asyncio

from claude_agent_sdk import (
    ResultMessage,
    StreamEvent,
    TaskNotificationMessage,
    TaskStartedMessage,
    TaskUpdatedMessage,
    TextBlock,
    UserMessage,
)

from kit import Box, Run, allow, case, has, response, same, turn


async def until(client, wanted) -> list:
    """The messages up to the first that is wanted."""
    seen = []
    async for message in client.receive_messages():
        seen.append(message)
        if wanted(message):
            return seen
    raise AssertionError(f"the messages ended: {Run(seen).kinds()}")


def marker(run: Run) -> str:
    texts = [block.text for message in run.of(UserMessage) if isinstance(message.content, list)
             for block in message.content if isinstance(block, TextBlock)]
    texts += [message.content for message in run.of(UserMessage) if isinstance(message.content, str)]
    return "\n".join(texts)


@case
async def an_interrupt_stops_a_text_and_the_session_goes_on(box: Box) -> None:
    async with box.client(include_partial_messages=True) as client:
        await client.query("count to 400 slowly")
        seen = await until(client, lambda m: isinstance(m, StreamEvent) and m.event["type"] == "content_block_delta")
        await client.interrupt()
        rest = await response(client)
        run = Run(seen + rest.messages)
        result = run.result
        same((result.subtype, result.is_error, result.terminal_reason),
             ("error_during_execution", True, "aborted_streaming"))
        has(marker(run), "[Request interrupted by user]")
        deltas = [m for m in run.of(StreamEvent) if m.event["type"] == "content_block_delta"]
        assert len(deltas) < 400, "it was not stopped"
        after = await turn(client, "remember violet")
        same((after.result.subtype, after.result.session_id), ("success", result.session_id))


@case
async def an_interrupt_withdraws_a_question(box: Box) -> None:
    waiting, cancelled = asyncio.Event(), asyncio.Event()

    async def never(tool, input, context):
        waiting.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise
        return allow()

    async with box.client(can_use_tool=never) as client:
        await client.query("write a.txt: no")
        await waiting.wait()
        await client.interrupt()
        run = await response(client)
        same((run.result.subtype, run.result.terminal_reason), ("error_during_execution", "aborted_tools"))
        await cancelled.wait()
        same([denial["tool_name"] for denial in run.result.permission_denials], ["Write"])
        same(run.tool_results()[-1][1], True)
        after = await turn(client, "remember violet")
        same(after.result.subtype, "success")
    same(box.read("a.txt"), None)


@case
async def an_interrupt_ends_a_running_command(box: Box) -> None:
    started = box.path("started")
    async with box.client(allowed_tools=["Bash"]) as client:
        await client.query("run `echo $$ > started; sleep 60; touch finished`")
        while not (started.exists() and started.read_text().strip()):
            await asyncio.sleep(0.01)
        await client.interrupt()
        run = await response(client)
        same((run.result.subtype, run.result.terminal_reason), ("error_during_execution", "aborted_tools"))
        has(marker(run), "[Request interrupted by user for tool use]")
        process = box.path(f"/proc/{started.read_text().strip()}")
        while process.exists():
            await asyncio.sleep(0.01)
    same(box.read("finished"), None)


@case
async def an_interrupt_of_nothing_is_harmless(box: Box) -> None:
    async with box.client() as client:
        await turn(client, "remember violet")
        await client.interrupt()
        run = await turn(client, "what did I say first?")
    same((run.result.subtype, run.text), ("success", "remember violet"))


@case
async def a_prompt_sent_during_a_turn_is_answered_after_it(box: Box) -> None:
    async with box.client(include_partial_messages=True) as client:
        await client.query("count to 20 slowly")
        await until(client, lambda m: isinstance(m, StreamEvent) and m.event["type"] == "content_block_delta")
        await client.query("what did I say first?")
        first, second = await response(client), await response(client)
    has(first.result.result, "20")
    same(second.result.result, "count to 20 slowly")


@case
async def a_task_in_the_background_is_stopped(box: Box) -> None:
    command = 'use the tool Bash with {"command": "sleep 60", "description": "Wait", "run_in_background": true}'
    async with box.client(allowed_tools=["Bash"]) as client:
        run = await turn(client, command)
        (started,) = run.of(TaskStartedMessage)
        same((started.task_type, started.session_id), ("local_bash", run.result.session_id))
        has(run.tool_results()[0][0], started.task_id)
        await client.stop_task(started.task_id)

        def over(message) -> bool:
            return isinstance(message, TaskUpdatedMessage) and message.status == "killed"

        (*_, updated) = await until(client, over)
        same(updated.task_id, started.task_id)


@case
async def a_task_in_the_background_reports_its_end_in_a_turn_of_its_own(box: Box) -> None:
    command = ('use the tool Bash with {"command": "until [ -e go ]; do sleep 0.05; done; echo went", '
               '"description": "Wait for a sign", "run_in_background": true}')
    async with box.client(allowed_tools=["Bash"]) as client:
        run = await turn(client, command)
        (started,) = run.of(TaskStartedMessage)
        box.write("go", "")
        seen = Run(await until(client, lambda m: isinstance(m, ResultMessage)))
    (told,) = seen.of(TaskNotificationMessage)
    same((told.task_id, told.status), (started.task_id, "completed"))
    same(seen.result.origin["kind"], "task-notification")
    has(open(told.output_file).read(), "went")
