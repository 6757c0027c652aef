// Sessions on disk: resuming, continuing, forking, and what the SDK's own readers and writers make of them.

import { ok } from "node:assert";
import { randomUUID } from "node:crypto";

import { cases, failure, has, plain, same, sdk } from "./kit.mjs";

const read = (id, box) => sdk.getSessionMessages(id, { dir: box.cwd });

/** Who said what, tools left out. */
function texts(messages) {
  const said = messages.map(({ type, message: { content } }) => [
    type,
    plain(Array.isArray(content) ? content.filter((block) => block.type === "text") : content),
  ]);
  return said.filter(([, text]) => text);
}

cases({
  async a_resumed_session_goes_on_under_its_id(box) {
    const first = await box.run("remember violet");
    const second = await box.run("what did I say first?", { resume: first.result.session_id });
    same([second.text, second.result.session_id], ["remember violet", first.result.session_id]);
  },

  async the_newest_session_of_the_folder_is_continued(box) {
    await box.run("remember amber");
    const newest = await box.run("remember violet");
    const run = await box.run("what did I say first?", { continue: true });
    same([run.text, run.result.session_id], ["remember violet", newest.result.session_id]);
  },

  async a_forked_session_has_the_past_and_an_id_of_its_own(box) {
    const first = await box.run("remember violet");
    const fork = await box.run("what did I say first?", { resume: first.result.session_id, forkSession: true });
    same(fork.text, "remember violet");
    ok(fork.result.session_id !== first.result.session_id);
    same(texts(await read(first.result.session_id, box)), [["user", "remember violet"], ["assistant", first.text]]);
    same(texts(await read(fork.result.session_id, box)).map(([, text]) => text),
      ["remember violet", first.text, "what did I say first?", "remember violet"]);
  },

  async a_session_id_of_the_host_is_used(box) {
    const sessionId = randomUUID();
    const run = await box.run("remember violet", { sessionId });
    same([run.result.session_id, run.init.session_id], [sessionId, sessionId]);
  },

  async an_unknown_session_cannot_be_resumed(box) {
    const missing = randomUUID();
    const error = await failure(box.run("remember violet", { resume: missing }));
    has(String(error), `No conversation found with session ID: ${missing}`);
  },

  async a_session_is_resumed_at_a_message(box) {
    const chat = box.chat();
    const first = await chat.turn("remember violet");
    await chat.turn("remember amber");
    await chat.end();
    const resumeSessionAt = first.of("assistant")[0].uuid;
    const options = { resume: first.result.session_id, forkSession: true, resumeSessionAt };
    const fork = await box.run("remember green", options);
    const said = texts(await read(fork.result.session_id, box)).filter(([who]) => who === "user");
    same(said.map(([, text]) => text), ["remember violet", "remember green"]);
  },

  async sessions_are_listed_with_their_first_prompt(box) {
    const one = await box.run("remember violet");
    const two = await box.run("remember amber");
    const listed = await sdk.listSessions({ dir: box.cwd });
    same(listed.map((session) => session.sessionId).sort(), [one, two].map((run) => run.result.session_id).sort());
    const session = listed.find(({ sessionId }) => sessionId === one.result.session_id);
    same([session.firstPrompt, session.cwd], ["remember violet", box.cwd]);
    ok(session.fileSize > 0 && session.lastModified > 0 && session.createdAt > 0, JSON.stringify(session));
  },

  async the_messages_of_a_session_are_read_back(box) {
    box.write("notes.txt", "the third word");
    const run = await box.run("read notes.txt");
    const messages = await read(run.result.session_id, box);
    same(messages.map((message) => message.type), ["user", "assistant", "user", "assistant"]);
    same([messages[0].message.role, plain(messages[0].message.content)], ["user", "read notes.txt"]);
    const [[use], [result]] = [messages[1].message.content, messages[2].message.content];
    same([use.name, result.tool_use_id], ["Read", use.id]);
    has(plain(result.content), "the third word");
    same([messages[1].uuid, messages[3].uuid], run.of("assistant").map((message) => message.uuid));
  },

  async a_session_gets_a_name_and_a_tag(box) {
    const run = await box.run("remember violet");
    const [id, where] = [run.result.session_id, { dir: box.cwd }];
    await sdk.renameSession(id, "Colours of the rainbow", where);
    await sdk.tagSession(id, "art", where);
    const info = await sdk.getSessionInfo(id, where);
    same([info.customTitle, info.summary, info.tag], ["Colours of the rainbow", "Colours of the rainbow", "art"]);
    const again = await box.run("what did I say first?", { resume: id });
    same(again.text, "remember violet");
    same((await sdk.getSessionInfo(id, where)).customTitle, "Colours of the rainbow");
  },

  async a_copy_made_by_the_sdk_can_be_resumed(box) {
    const run = await box.run("remember violet");
    const copy = await sdk.forkSession(run.result.session_id, { dir: box.cwd, title: "A copy" });
    ok(copy.sessionId !== run.result.session_id);
    const again = await box.run("what did I say first?", { resume: copy.sessionId });
    same([again.text, again.result.session_id], ["remember violet", copy.sessionId]);
  },

  async a_session_is_archived_and_deleted(box) {
    const run = await box.run("remember violet");
    const [id, where] = [run.result.session_id, { dir: box.cwd }];
    await sdk.archiveSession(id, where);
    same((await sdk.getSessionInfo(id, where)).archived, true);
    await sdk.deleteSession(id, where);
    same(await sdk.listSessions({ dir: box.cwd }), []);
  },

  async the_messages_of_a_sub_agent_are_read_back(box) {
    const run = await box.run("use the agent general-purpose to write a.txt: one", { permissionMode: "acceptEdits" });
    const id = run.result.session_id;
    const [agent] = await sdk.listSubagents(id, { dir: box.cwd });
    const messages = await sdk.getSubagentMessages(id, agent, { dir: box.cwd });
    same(messages.map((message) => message.type), ["user", "assistant", "user", "assistant"]);
    same([plain(messages[0].message.content), messages[1].message.content[0].name], ["write a.txt: one", "Write"]);
  },

  async a_session_that_is_not_kept_leaves_no_file(box) {
    const run = await box.run("remember violet", { persistSession: false });
    same([run.result.subtype, await sdk.listSessions({ dir: box.cwd })], ["success", []]);
  },

  async a_session_store_gets_the_whole_conversation_and_gives_it_back(box) {
    const sessionStore = new sdk.InMemorySessionStore();
    const first = await box.run("remember violet", { sessionStore });
    await sdk.deleteSession(first.result.session_id, { dir: box.cwd });
    const second = await box.run("what did I say first?", { sessionStore, resume: first.result.session_id });
    same([second.text, second.result.session_id], ["remember violet", first.result.session_id]);
  },
});
