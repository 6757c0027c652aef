"""Talking: one-shot queries, streams of prompts, the client, partial messages, structured output, limits."""

from claude_agent_sdk import (
    AssistantMessage,
    ResultError,
    ResultMessage,
    StreamEvent,
    ThinkingBlock,
    ToolUseBlock,
    query,
)

from kit import Box, Run, case, fits, has, kind_of, prompts, response, same, turn


@case
async def a_one_shot_query_gives_init_text_and_result(box: Box) -> None:
    run = await box.run("remember violet")
    same(run.kinds(), ["system/init", "assistant:text", "result/success"])
    fits(run.init, {"cwd": str(box.cwd), "permissionMode": "default", "claude_code_version": "2.1.327"})
    assert {"Bash", "Read", "Write", "Edit"} <= set(run.init["tools"]), run.init["tools"]
    result = run.result
    same((result.is_error, result.num_turns, result.terminal_reason), (False, 1, "completed"))
    same(result.result, run.text)
    (said,) = run.of(AssistantMessage)
    same((said.session_id, run.init["session_id"]), (result.session_id, result.session_id))
    same((said.model, said.error, said.parent_tool_use_id), (run.init["model"], None, None))
    assert result.usage["input_tokens"] > 0 and result.duration_ms >= 0 and result.total_cost_usd >= 0
    assert run.init["model"] in result.model_usage, result.model_usage


@case
async def prompts_from_a_stream_are_answered_one_after_the_other(box: Box) -> None:
    run = await box.run(prompts("think about rivers", "what did I say first?"))
    same(run.kinds(), ["system/init", "assistant:thinking", "assistant:text", "result/success",
                       "system/init", "assistant:text", "result/success"])
    results = run.of(ResultMessage)
    same(len({result.session_id for result in results}), 1)
    same(results[1].result, "think about rivers")


@case
async def the_client_holds_a_conversation(box: Box) -> None:
    async with box.client() as client:
        first = await turn(client, "remember violet")
        second = await turn(client, "what did I say first?")
    same(second.kinds(), ["system/init", "assistant:text", "result/success"])
    same(second.text, "remember violet")
    same(second.result.session_id, first.result.session_id)
    assert second.result.uuid != first.result.uuid


@case
async def a_client_takes_a_first_prompt_when_it_connects(box: Box) -> None:
    client = box.client()
    await client.connect("remember violet")
    first = await response(client)
    second = await turn(client, "what did I say first?")
    await client.disconnect()
    same((first.result.subtype, second.text), ("success", "remember violet"))


@case
async def a_prompt_may_be_a_list_of_blocks(box: Box) -> None:
    async def blocks():
        content = [{"type": "text", "text": "write a.txt: from a block"}]
        yield {"type": "user", "message": {"role": "user", "content": content}}

    run = await box.run(blocks(), permission_mode="acceptEdits")
    same((run.result.subtype, box.read("a.txt")), ("success", "from a block"))


@case
async def several_requests_of_one_prompt_are_done_in_order(box: Box) -> None:
    run = await box.run("write a.txt: one\nedit a.txt: replace `one` with `two`\nread a.txt",
                        permission_mode="acceptEdits")
    same(run.tools[0], "Write")
    same(run.tools[-2:], ["Edit", "Read"])
    same(box.read("a.txt"), "two")
    has(run.result.result, "two")
    uses = [block.id for block in run.blocks(ToolUseBlock)]
    same(len(set(uses)), len(uses), "each call has an id of its own")
    same(run.result.num_turns, len(uses) + 1)


@case
async def two_clients_at_once_are_two_sessions(box: Box) -> None:
    async with box.client() as one, box.client() as two:
        await one.query("remember violet")
        await two.query("remember amber")
        await response(one)
        await response(two)
        first, second = await turn(one, "what did I say first?"), await turn(two, "what did I say first?")
    same((first.text, second.text), ("remember violet", "remember amber"))
    assert first.result.session_id != second.result.session_id


@case
async def partial_messages_add_up_to_the_text(box: Box) -> None:
    run = await box.run("count to 12 slowly", include_partial_messages=True)
    events = [message.event for message in run.of(StreamEvent)]
    deltas = [event["delta"]["text"] for event in events
              if event["type"] == "content_block_delta" and event["delta"]["type"] == "text_delta"]
    assert len(deltas) >= 12, deltas
    same("".join(deltas), run.text)
    types = [event["type"] for event in events]
    same((types[0], types[1], types[-2], types[-1]),
         ("message_start", "content_block_start", "message_delta", "message_stop"))
    kinds = run.kinds()
    at = kinds.index("assistant:text")
    assert "stream" in kinds[:at] and "stream" in kinds[at:], kinds
    same({message.session_id for message in run.of(StreamEvent)}, {run.result.session_id})


@case
async def without_partial_messages_there_are_none(box: Box) -> None:
    run = await box.run("count to 3 slowly")
    same(run.kinds(), ["system/init", "assistant:text", "result/success"])
    has(run.text, "3")


@case
async def a_tools_input_is_streamed_as_well(box: Box) -> None:
    run = await box.run("write a.txt: streamed", include_partial_messages=True, permission_mode="acceptEdits")
    parts = [message.event["delta"]["partial_json"] for message in run.of(StreamEvent)
             if message.event.get("delta", {}).get("type") == "input_json_delta"]
    has("".join(parts), "streamed")
    same(box.read("a.txt"), "streamed")


@case
async def thinking_is_a_block_of_its_own(box: Box) -> None:
    run = await box.run("think about rivers")
    same(run.kinds(), ["system/init", "assistant:thinking", "assistant:text", "result/success"])
    (thought,) = run.blocks(ThinkingBlock)
    assert thought.thinking and thought.signature, thought
    first, second = run.of(AssistantMessage)
    same(first.message_id, second.message_id, "two blocks of one message")


@case
async def structured_output_fits_its_schema(box: Box) -> None:
    schema = {
        "type": "object",
        "properties": {
            "colour": {"type": "string", "enum": ["red", "blue"]},
            "count": {"type": "integer", "minimum": 3},
            "tags": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["colour", "count", "tags"],
        "additionalProperties": False,
    }
    run = await box.run("describe the box", output_format={"type": "json_schema", "schema": schema})
    value = run.result.structured_output
    same(sorted(value), ["colour", "count", "tags"])
    assert value["colour"] in ("red", "blue") and value["count"] >= 3, value
    assert isinstance(value["tags"], list) and all(isinstance(tag, str) for tag in value["tags"]), value
    has(run.tools, "StructuredOutput")
    same((run.result.subtype, run.result.is_error), ("success", False))


@case
async def without_a_schema_there_is_no_structured_output(box: Box) -> None:
    run = await box.run("describe the box")
    same((run.result.structured_output, run.tools), (None, []))


@case
async def a_limit_of_turns_ends_the_run_with_its_own_error(box: Box) -> None:
    seen = []
    try:
        async for message in query(prompt="run `echo one`, then run `echo two`", options=box.options(max_turns=1)):
            seen.append(message)
    except ResultError as error:
        same((error.subtype, error.exit_code, error.terminal_reason), ("error_max_turns", 1, "max_turns"))
    else:
        raise AssertionError("a limit that is reached is an error of the run")
    run = Run(seen)
    same(run.tools, ["Bash"], "the second call was not made")
    result = run.result
    same((result.subtype, result.is_error, result.result), ("error_max_turns", True, None))
    has(result.errors, "maximum number of turns (1)")
    same(kind_of(seen[-1]), "result/error_max_turns")


@case
async def a_limit_of_cost_ends_the_run_with_its_own_error(box: Box) -> None:
    seen = []
    try:
        async for message in query(prompt="run `echo one`, then run `echo two`",
                                   options=box.options(max_budget_usd=0.000001)):
            seen.append(message)
    except ResultError as error:
        same(error.subtype, "error_max_budget_usd")
    else:
        raise AssertionError("a budget that is spent is an error of the run")
    assert Run(seen).result.total_cost_usd > 0.000001


@case
async def the_tools_option_decides_what_the_model_has(box: Box) -> None:
    run = await box.run("remember violet", tools=["Read", "Bash"])
    same(sorted(run.init["tools"]), ["Bash", "Read"])
    none = await box.run("remember violet", tools=[])
    same(none.init["tools"], [])
