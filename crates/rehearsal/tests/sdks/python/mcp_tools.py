"""Tools of the host's own process, and MCP servers as the client sees them."""

import sys
from typing import Any

from claude_agent_sdk import ToolUseBlock, create_sdk_mcp_server, tool

from kit import Asked, Box, allow, case, deny, fits, has, same, turn

CALLS: list[dict[str, Any]] = []


@tool("add", "Adds two numbers", {"a": float, "b": float})
async def add(arguments: dict[str, Any]) -> dict[str, Any]:
    CALLS.append(arguments)
    return {"content": [{"type": "text", "text": f"the sum is {arguments['a'] + arguments['b']:g}"}]}


@tool("refuse", "Always fails", {})
async def refuse(arguments: dict[str, Any]) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": "it cannot be done"}], "is_error": True}


@tool("crash", "Raises", {})
async def crash(arguments: dict[str, Any]) -> dict[str, Any]:
    raise RuntimeError("the tool broke")


def calc() -> dict[str, Any]:
    return {"calc": create_sdk_mcp_server("calc", version="1.2.3", tools=[add, refuse, crash])}


ADD = 'use the tool mcp__calc__add with {"a": 2, "b": 3}'


@case
async def a_tool_in_the_hosts_process_is_called_and_its_result_told(box: Box) -> None:
    run = await box.run(ADD, mcp_servers=calc(), allowed_tools=["mcp__calc__add"])
    same(CALLS, [{"a": 2, "b": 3}])
    same(run.tool_results(), [("the sum is 5", False)])
    has(run.text, "the sum is 5")
    assert {"mcp__calc__add", "mcp__calc__refuse", "mcp__calc__crash"} <= set(run.init["tools"]), run.init["tools"]
    (server,) = run.init["mcp_servers"]
    fits(server, {"name": "calc", "status": "connected"})
    (use,) = run.blocks(ToolUseBlock)
    same((use.name, use.input), ("mcp__calc__add", {"a": 2, "b": 3}))


@case
async def a_tool_in_the_hosts_process_is_asked_about(box: Box) -> None:
    asked = Asked()
    await box.run(ADD, mcp_servers=calc(), can_use_tool=asked)
    ((name, input, context),) = asked.questions
    same((name, input), ("mcp__calc__add", {"a": 2, "b": 3}))
    same([(s.type, s.rules[0].tool_name, s.rules[0].rule_content) for s in context.suggestions],
         [("addRules", "mcp__calc__add", None)])
    same(len(CALLS), 1)


@case
async def a_tool_in_the_hosts_process_that_is_denied_is_not_called(box: Box) -> None:
    run = await box.run(ADD, mcp_servers=calc(), can_use_tool=Asked(deny("no sums")))
    same(CALLS, [])
    ((told, is_error),) = run.tool_results()
    has(told, "no sums")
    same(is_error, True)


@case
async def a_changed_input_reaches_the_tool_in_the_hosts_process(box: Box) -> None:
    run = await box.run(ADD, mcp_servers=calc(), can_use_tool=Asked(allow(updated_input={"a": 20, "b": 30})))
    same((CALLS, run.tool_results()), ([{"a": 20, "b": 30}], [("the sum is 50", False)]))


@case
async def an_error_of_a_tool_in_the_hosts_process_is_told_as_one(box: Box) -> None:
    run = await box.run("use the tool mcp__calc__refuse with {}\nuse the tool mcp__calc__crash with {}",
                        mcp_servers=calc(), allowed_tools=["mcp__calc"])
    (refused, crashed) = run.tool_results()
    same((refused[1], crashed[1]), (True, True))
    has(refused[0], "it cannot be done")
    has(crashed[0], "the tool broke")


@case
async def two_servers_of_the_host_are_kept_apart(box: Box) -> None:
    @tool("add", "Joins two words", {"a": str, "b": str})
    async def join(arguments: dict[str, Any]) -> dict[str, Any]:
        return {"content": [{"type": "text", "text": arguments["a"] + arguments["b"]}]}

    servers = {**calc(), "words": create_sdk_mcp_server("words", tools=[join])}
    run = await box.run(ADD + '\nuse the tool mcp__words__add with {"a": "rain", "b": "bow"}',
                        mcp_servers=servers, allowed_tools=["mcp__calc", "mcp__words"])
    same(run.tool_results(), [("the sum is 5", False), ("rainbow", False)])
    same(sorted(server["name"] for server in run.init["mcp_servers"]), ["calc", "words"])


@case
async def the_status_tells_the_server_and_its_tools(box: Box) -> None:
    async with box.client(mcp_servers=calc()) as client:
        await turn(client, "remember violet")
        (server,) = (await client.get_mcp_status())["mcpServers"]
    fits(server, {"name": "calc", "status": "connected", "serverInfo": {"name": "calc", "version": "1.2.3"}})
    same(sorted(tool["name"] for tool in server["tools"]), ["add", "crash", "refuse"])


@case
async def a_server_is_switched_off_and_on_again(box: Box) -> None:
    async with box.client(mcp_servers=calc(), allowed_tools=["mcp__calc"]) as client:
        await turn(client, ADD)
        await client.toggle_mcp_server("calc", False)
        (off,) = (await client.get_mcp_status())["mcpServers"]
        same(off["status"], "disabled")
        without = await turn(client, ADD)
        assert "mcp__calc__add" not in without.init["tools"]
        same((len(CALLS), without.tool_results()[0][1]), (1, True))
        await client.toggle_mcp_server("calc", True)
        again = await turn(client, ADD)
        same((len(CALLS), again.tool_results()), (2, [("the sum is 5", False)]))


@case
async def an_unknown_server_cannot_be_reconnected(box: Box) -> None:
    async with box.client() as client:
        try:
            await client.reconnect_mcp_server("nobody")
        except Exception as error:
            has(error, "Server not found: nobody")
        else:
            raise AssertionError("a server that does not exist was reconnected")
