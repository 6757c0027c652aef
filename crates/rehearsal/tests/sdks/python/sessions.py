"""Sessions on disk: resuming, continuing, forking, and what the SDK's own readers and writers make of them."""

import json
import uuid

from claude_agent_sdk import (
    AssistantMessage,
    InMemorySessionStore,
    ProcessError,
    delete_session,
    fork_session,
    get_session_info,
    get_session_messages,
    get_subagent_messages,
    list_sessions,
    list_subagents,
    project_key_for_directory,
    rename_session,
    tag_session,
)

from kit import Box, case, has, plain, same, turn


def texts(messages) -> list[tuple[str, str]]:
    """Who said what, tools left out."""
    found = []
    for message in messages:
        content = message.message["content"]
        text = plain([block for block in content if block["type"] == "text"]) if isinstance(content, list) else content
        if text:
            found.append((message.type, text))
    return found


@case
async def a_resumed_session_goes_on_under_its_id(box: Box) -> None:
    first = await box.run("remember violet")
    second = await box.run("what did I say first?", resume=first.result.session_id)
    same((second.text, second.result.session_id), ("remember violet", first.result.session_id))
    same(second.init["session_id"], first.result.session_id)


@case
async def the_newest_session_of_the_folder_is_continued(box: Box) -> None:
    await box.run("remember amber")
    newest = await box.run("remember violet")
    run = await box.run("what did I say first?", continue_conversation=True)
    same((run.text, run.result.session_id), ("remember violet", newest.result.session_id))


@case
async def a_forked_session_has_the_past_and_an_id_of_its_own(box: Box) -> None:
    first = await box.run("remember violet")
    fork = await box.run("what did I say first?", resume=first.result.session_id, fork_session=True)
    same(fork.text, "remember violet")
    assert fork.result.session_id != first.result.session_id
    same(texts(get_session_messages(first.result.session_id, str(box.cwd))),
         [("user", "remember violet"), ("assistant", first.text)], "the original is as it was")
    same([text for _, text in texts(get_session_messages(fork.result.session_id, str(box.cwd)))],
         ["remember violet", first.text, "what did I say first?", "remember violet"])


@case
async def a_session_id_of_the_host_is_used(box: Box) -> None:
    wanted = str(uuid.uuid4())
    run = await box.run("remember violet", session_id=wanted)
    same((run.result.session_id, run.init["session_id"]), (wanted, wanted))
    same(get_session_info(wanted, str(box.cwd)).first_prompt, "remember violet")


@case
async def an_unknown_session_cannot_be_resumed(box: Box) -> None:
    lines: list[str] = []
    missing = str(uuid.uuid4())
    try:
        await box.run("remember violet", resume=missing, stderr=lines.append)
    except ProcessError as error:
        same(error.exit_code, 1)
    else:
        raise AssertionError("it was resumed")
    has("\n".join(lines), f"No conversation found with session ID: {missing}")


@case
async def a_session_is_resumed_at_a_message(box: Box) -> None:
    async with box.client() as client:
        first = await turn(client, "remember violet")
        second = await turn(client, "remember amber")
    (kept,) = first.of(AssistantMessage)
    fork = await box.run("remember green", resume=second.result.session_id, fork_session=True,
                         resume_session_at=kept.uuid)
    said = [text for who, text in texts(get_session_messages(fork.result.session_id, str(box.cwd))) if who == "user"]
    same(said, ["remember violet", "remember green"])


@case
async def sessions_are_listed_with_their_first_prompt(box: Box) -> None:
    one = await box.run("remember violet")
    two = await box.run("remember amber")
    listed = {session.session_id: session for session in list_sessions(str(box.cwd))}
    same(sorted(listed), sorted([one.result.session_id, two.result.session_id]))
    session = listed[one.result.session_id]
    same((session.first_prompt, session.cwd), ("remember violet", str(box.cwd)))
    assert session.file_size > 0 and session.last_modified > 0 and session.created_at > 0, session
    same(list_sessions(str(box.home)), [])


@case
async def the_messages_of_a_session_are_read_back(box: Box) -> None:
    box.write("notes.txt", "the third word")
    run = await box.run("read notes.txt")
    messages = get_session_messages(run.result.session_id, str(box.cwd))
    same([message.type for message in messages], ["user", "assistant", "user", "assistant"])
    same({message.session_id for message in messages}, {run.result.session_id})
    same(messages[0].message, {"role": "user", "content": "read notes.txt"})
    (use,) = messages[1].message["content"]
    (result,) = messages[2].message["content"]
    same((use["type"], use["name"]), ("tool_use", "Read"))
    same((result["type"], result["tool_use_id"]), ("tool_result", use["id"]))
    has(plain(result["content"]), "the third word")
    same(messages[3].message["content"][0]["text"], run.text)
    spoken = [message.uuid for message in run.of(AssistantMessage)]
    same([messages[1].uuid, messages[3].uuid], spoken, "the ids on disk are those of the stream")


@case
async def a_session_gets_a_name_and_a_tag(box: Box) -> None:
    run = await box.run("remember violet")
    id, folder = run.result.session_id, str(box.cwd)
    rename_session(id, "Colours of the rainbow", folder)
    tag_session(id, "art", folder)
    info = get_session_info(id, folder)
    same((info.custom_title, info.summary, info.tag), ("Colours of the rainbow", "Colours of the rainbow", "art"))
    again = await box.run("what did I say first?", resume=id)
    same(again.text, "remember violet")
    info = get_session_info(id, folder)
    same((info.custom_title, info.tag), ("Colours of the rainbow", "art"))


@case
async def a_copy_made_by_the_sdk_can_be_resumed(box: Box) -> None:
    run = await box.run("remember violet")
    copy = fork_session(run.result.session_id, str(box.cwd), title="A copy")
    assert copy.session_id != run.result.session_id
    same(get_session_info(copy.session_id, str(box.cwd)).custom_title, "A copy")
    again = await box.run("what did I say first?", resume=copy.session_id)
    same((again.text, again.result.session_id), ("remember violet", copy.session_id))


@case
async def a_deleted_session_is_gone(box: Box) -> None:
    run = await box.run("remember violet")
    delete_session(run.result.session_id, str(box.cwd))
    same(list_sessions(str(box.cwd)), [])


@case
async def the_messages_of_a_sub_agent_are_read_back(box: Box) -> None:
    run = await box.run("use the agent general-purpose to write a.txt: one", permission_mode="acceptEdits")
    (agent,) = list_subagents(run.result.session_id, str(box.cwd))
    messages = get_subagent_messages(run.result.session_id, agent, str(box.cwd))
    same([message.type for message in messages], ["user", "assistant", "user", "assistant"])
    same((messages[0].message["content"], messages[1].message["content"][0]["name"]), ("write a.txt: one", "Write"))
    assert all(message.type != "user" or "a.txt" not in json.dumps(message.message["content"])
               for message in get_session_messages(run.result.session_id, str(box.cwd))[3:])


@case
async def a_session_that_is_not_kept_leaves_no_file(box: Box) -> None:
    run = await box.run("remember violet", extra_args={"no-session-persistence": None})
    same((run.result.subtype, list_sessions(str(box.cwd))), ("success", []))


@case
async def a_session_store_gets_the_whole_conversation(box: Box) -> None:
    store = InMemorySessionStore()
    run = await box.run("remember violet", session_store=store)
    key = {"project_key": project_key_for_directory(box.cwd), "session_id": run.result.session_id}
    entries = await store.load(key)
    said = [entry["message"]["content"] for entry in entries if entry["type"] == "user"]
    same(said, ["remember violet"])
    same(len([entry for entry in entries if entry["type"] == "assistant"]), 1)


@case
async def a_session_is_resumed_from_a_store(box: Box) -> None:
    store = InMemorySessionStore()
    first = await box.run("remember violet", session_store=store)
    delete_session(first.result.session_id, str(box.cwd))
    second = await box.run("what did I say first?", session_store=store, resume=first.result.session_id)
    same((second.text, second.result.session_id), ("remember violet", first.result.session_id))
