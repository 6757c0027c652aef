// Sub-agents: from the options, from disk, what their messages look like and what they may do.

import { ok } from "node:assert";

import { asking, cases, fits, has, same } from "./kit.mjs";

const AGENT = "---\nname: scribe\ndescription: Writes things down\n---\nYou write things down.\n";
const writer = (fields = {}) => ({ writer: { description: "Writes files", prompt: "You write files.", ...fields } });

cases({
  async an_agent_of_the_options_does_its_work(box) {
    const options = { agents: writer(), permissionMode: "acceptEdits" };
    const run = await box.run("use the agent writer to write a.txt: by an agent", options);
    has(run.init.agents, "writer");
    same(box.read("a.txt"), "by an agent");
    const [call, write] = run.blocks("tool_use");
    same([call.input.subagent_type, write.name], ["writer", "Write"]);
    const inner = run.messages.filter((message) => message.parent_tool_use_id);
    same([...new Set(inner.map((message) => message.parent_tool_use_id))], [call.id]);
    ok(inner.some((message) => message.type === "assistant") && inner.some((message) => message.type === "user"));
    const [started] = run.systems("task_started");
    fits(started, { tool_use_id: call.id, task_type: "local_agent" });
    fits(run.systems("task_notification")[0], { status: "completed", tool_use_id: call.id, task_id: started.task_id });
  },

  async an_agent_of_the_project_does_its_work(box) {
    box.write(".claude/agents/scribe.md", AGENT);
    const options = { permissionMode: "acceptEdits", settingSources: ["project"] };
    const run = await box.run("use the agent scribe to write a.txt: noted", options);
    has(run.init.agents, "scribe");
    same(box.read("a.txt"), "noted");
  },

  async an_agent_of_the_user_does_its_work(box) {
    box.write("~/.claude/agents/scribe.md", AGENT);
    const options = { permissionMode: "acceptEdits", settingSources: ["user"] };
    const run = await box.run("use the agent scribe to write a.txt: noted", options);
    has(run.init.agents, "scribe");
    same(box.read("a.txt"), "noted");
  },

  async an_agent_of_the_project_is_listed(box) {
    box.write(".claude/agents/scribe.md", AGENT);
    const chat = box.chat({ settingSources: ["project"] });
    const agents = await chat.query.supportedAgents();
    fits(agents.find((agent) => agent.name === "scribe"), { description: "Writes things down" });
    await chat.end();
  },

  async without_setting_sources_there_is_no_agent_from_disk(box) {
    box.write(".claude/agents/scribe.md", AGENT);
    const options = { permissionMode: "acceptEdits", settingSources: [] };
    const run = await box.run("use the agent scribe to write a.txt: no", options);
    ok(!run.init.agents.includes("scribe"), JSON.stringify(run.init.agents));
    same([box.read("a.txt"), run.toolResults[0][1]], [null, true]);
  },

  async an_agents_tool_is_asked_about_in_its_name(box) {
    const asked = asking();
    await box.run("use the agent writer to write a.txt: asked", { agents: writer(), canUseTool: asked });
    same([asked.tools, box.read("a.txt")], [["Write"], "asked"]);
    ok(asked.questions[0].options.agentID);
  },

  async an_agent_has_only_its_tools(box) {
    const options = { agents: writer({ tools: ["Read"] }), permissionMode: "acceptEdits" };
    const call = JSON.stringify({ file_path: box.path("a.txt"), content: "no" });
    const run = await box.run(`use the agent writer to use the tool Write with ${call}`, options);
    same(box.read("a.txt"), null);
    const inner = run.of("user").filter((message) => message.parent_tool_use_id);
    ok(inner.some((message) => message.message.content[0]?.is_error), JSON.stringify(inner));
  },

  async an_agents_report_is_the_result_of_the_call(box) {
    box.write("notes.txt", "the third word");
    const run = await box.run("use the agent writer to read notes.txt", { agents: writer() });
    has(run.toolResults.at(-1)[0], "the third word");
    has(run.result.result, "the third word");
  },
});
