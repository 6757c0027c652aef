// Tools of the host's own process, and MCP servers as a query sees them.

import { ok } from "node:assert";

import { asking, cases, deny, failure, fits, has, same, sdk, zod } from "./kit.mjs";

const calls = [];
const text = (text, more = {}) => ({ content: [{ type: "text", text }], ...more });

function calc() {
  const { z } = zod();
  const add = sdk.tool("add", "Adds two numbers", { a: z.number(), b: z.number() }, async (input) => {
    calls.push(input);
    return text(`the sum is ${input.a + input.b}`);
  });
  const refuse = sdk.tool("refuse", "Always fails", {}, async () => text("it cannot be done", { isError: true }));
  const crash = sdk.tool("crash", "Throws", {}, async () => {
    throw new Error("the tool broke");
  });
  return { calc: sdk.createSdkMcpServer({ name: "calc", version: "1.2.3", tools: [add, refuse, crash] }) };
}

const ADD = 'use the tool mcp__calc__add with {"a": 2, "b": 3}';

cases({
  async a_tool_in_the_hosts_process_is_called_and_its_result_told(box) {
    const run = await box.run(ADD, { mcpServers: calc(), allowedTools: ["mcp__calc__add"] });
    same(calls, [{ a: 2, b: 3 }]);
    same(run.toolResults, [["the sum is 5", false]]);
    has(run.text, "the sum is 5");
    for (const tool of ["add", "refuse", "crash"]) ok(run.init.tools.includes(`mcp__calc__${tool}`), tool);
    fits(run.init.mcp_servers[0], { name: "calc", status: "connected" });
  },

  async a_tool_in_the_hosts_process_is_asked_about(box) {
    const asked = asking();
    await box.run(ADD, { mcpServers: calc(), canUseTool: asked });
    const [{ tool, input, options }] = asked.questions;
    same([tool, input, calls.length], ["mcp__calc__add", { a: 2, b: 3 }, 1]);
    same(options.suggestions.map((suggestion) => suggestion.rules), [[{ toolName: "mcp__calc__add" }]]);
    same(options.mcpServer, { name: "calc", source: "sdk" });
  },

  async a_tool_in_the_hosts_process_that_is_denied_is_not_called(box) {
    const run = await box.run(ADD, { mcpServers: calc(), canUseTool: asking(deny("no sums")) });
    same(calls, []);
    has(run.toolResults[0][0], "no sums");
  },

  async a_wrong_input_of_a_tool_in_the_hosts_process_is_an_error(box) {
    const run = await box.run('use the tool mcp__calc__add with {"a": "two"}',
      { mcpServers: calc(), allowedTools: ["mcp__calc__add"] });
    same([calls, run.toolResults[0][1]], [[], true]);
  },

  async an_error_of_a_tool_in_the_hosts_process_is_told_as_one(box) {
    const run = await box.run("use the tool mcp__calc__refuse with {}\nuse the tool mcp__calc__crash with {}",
      { mcpServers: calc(), allowedTools: ["mcp__calc"] });
    same(run.toolResults.map(([, isError]) => isError), [true, true]);
    has(run.toolResults[0][0], "it cannot be done");
    has(run.toolResults[1][0], "the tool broke");
  },

  async the_status_tells_the_server_and_its_tools(box) {
    const chat = box.chat({ mcpServers: calc() });
    await chat.turn("remember violet");
    const [server] = await chat.query.mcpServerStatus();
    fits(server, { name: "calc", status: "connected", serverInfo: { name: "calc", version: "1.2.3" } });
    same(server.tools.map((tool) => tool.name).sort(), ["add", "crash", "refuse"]);
    await chat.end();
  },

  async a_server_is_switched_off_and_on_again(box) {
    const chat = box.chat({ mcpServers: calc(), allowedTools: ["mcp__calc"] });
    await chat.turn(ADD);
    await chat.query.toggleMcpServer("calc", false);
    same((await chat.query.mcpServerStatus())[0].status, "disabled");
    const without = await chat.turn(ADD);
    ok(!without.init.tools.includes("mcp__calc__add"));
    same([calls.length, without.toolResults[0][1]], [1, true]);
    await chat.query.toggleMcpServer("calc", true);
    const again = await chat.turn(ADD);
    same([calls.length, again.toolResults], [2, [["the sum is 5", false]]]);
    await chat.end();
  },

  async servers_are_set_while_a_session_runs(box) {
    const chat = box.chat({ allowedTools: ["mcp__calc"] });
    const before = await chat.turn("remember violet");
    same(before.init.mcp_servers, []);
    const set = await chat.query.setMcpServers(calc());
    same([set.added, set.removed], [["calc"], []]);
    const run = await chat.turn(ADD);
    same(run.toolResults, [["the sum is 5", false]]);
    same((await chat.query.setMcpServers({})).removed, ["calc"]);
    await chat.end();
  },

  async an_unknown_server_cannot_be_reconnected(box) {
    const chat = box.chat();
    has(String(await failure(chat.query.reconnectMcpServer("nobody"))), "Server not found: nobody");
    await chat.end();
  },
});
