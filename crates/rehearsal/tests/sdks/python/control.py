"""What a client asks of a running session: mode, model, server info, context, rewinding files."""

from claude_agent_sdk import AssistantMessage, UserMessage

from kit import Asked, Box, case, fits, has, same, turn


@case
async def a_mode_is_set_between_turns(box: Box) -> None:
    asked = Asked()
    async with box.client(can_use_tool=asked) as client:
        before = await turn(client, "write a.txt: one")
        await client.set_permission_mode("acceptEdits")
        after = await turn(client, "write b.txt: two")
        await client.set_permission_mode("default")
        back = await turn(client, "write c.txt: three")
    modes = [run.init["permissionMode"] for run in (before, after, back)]
    same(modes, ["default", "acceptEdits", "default"])
    same([input["file_path"] for _, input, _ in asked.questions], [str(box.path("a.txt")), str(box.path("c.txt"))])
    same(box.read("b.txt"), "two")


@case
async def a_mode_that_does_not_exist_is_refused(box: Box) -> None:
    async with box.client() as client:
        try:
            await client.set_permission_mode("banana")
        except Exception as error:
            has(error, "must be one of")
        else:
            raise AssertionError("it was accepted")
        run = await turn(client, "remember violet")
        same(run.init["permissionMode"], "default")


@case
async def bypassing_cannot_be_switched_on_later(box: Box) -> None:
    async with box.client() as client:
        try:
            await client.set_permission_mode("bypassPermissions")
        except Exception as error:
            has(error, "was not launched with --dangerously-skip-permissions")
        else:
            raise AssertionError("it was accepted")


@case
async def a_model_is_set_between_turns(box: Box) -> None:
    async with box.client(model="claude-sonnet-4-5") as client:
        before = await turn(client, "which model?")
        await client.set_model("claude-haiku-4-5")
        after = await turn(client, "which model?")
    same([run.init["model"] for run in (before, after)], ["claude-sonnet-4-5", "claude-haiku-4-5"])
    same([run.of(AssistantMessage)[0].model for run in (before, after)], ["claude-sonnet-4-5", "claude-haiku-4-5"])
    has(before.text, "claude-sonnet-4-5")
    has(after.text, "claude-haiku-4-5")
    same(sorted(after.result.model_usage), ["claude-haiku-4-5", "claude-sonnet-4-5"])


@case
async def the_default_model_comes_back(box: Box) -> None:
    async with box.client() as client:
        first = await turn(client, "remember violet")
        await client.set_model("claude-haiku-4-5")
        await turn(client, "remember amber")
        await client.set_model(None)
        last = await turn(client, "remember green")
    same(last.init["model"], first.init["model"])


@case
async def the_server_info_has_commands_models_and_agents(box: Box) -> None:
    async with box.client() as client:
        info = await client.get_server_info()
    commands = {command["name"]: command for command in info["commands"]}
    assert "compact" in commands and "description" in commands["compact"], sorted(commands)
    assert any(agent["name"] == "general-purpose" for agent in info["agents"]), info["agents"]
    assert all({"value", "displayName", "description"} <= set(model) for model in info["models"]), info["models"]
    fits(info, {"output_style": "default", "current_permission_mode": "default"})
    has(info["available_output_styles"], "default")


@case
async def the_context_usage_has_its_categories(box: Box) -> None:
    async with box.client() as client:
        run = await turn(client, "remember violet")
        usage = await client.get_context_usage()
    assert usage["totalTokens"] > 0 and usage["maxTokens"] > usage["totalTokens"], usage
    assert 0 <= usage["percentage"] <= 100, usage
    same(usage["model"], run.init["model"])
    names = [category["name"] for category in usage["categories"]]
    assert "Free space" in names, names
    assert all(isinstance(category["tokens"], int) for category in usage["categories"]), usage["categories"]


@case
async def files_go_back_to_where_they_were_at_a_message(box: Box) -> None:
    box.write("a.txt", "zero")
    options = {"permission_mode": "acceptEdits", "enable_file_checkpointing": True,
               "extra_args": {"replay-user-messages": None}}
    async with box.client(**options) as client:
        await turn(client, "remember violet")
        second = await turn(client, "edit a.txt: replace `zero` with `one`\nwrite b.txt: new")
        same((box.read("a.txt"), box.read("b.txt")), ("one", "new"))
        (prompt,) = [message for message in second.of(UserMessage) if isinstance(message.content, str)]
        await client.rewind_files(prompt.uuid)
        same((box.read("a.txt"), box.read("b.txt")), ("zero", None))
        third = await turn(client, "read a.txt")
        has(third.text, "zero")


@case
async def a_message_that_never_was_cannot_be_rewound_to(box: Box) -> None:
    async with box.client(enable_file_checkpointing=True) as client:
        await turn(client, "remember violet")
        try:
            await client.rewind_files("00000000-0000-4000-8000-000000000000")
        except Exception as error:
            has(error, "No file checkpoint found")
        else:
            raise AssertionError("it was accepted")


@case
async def replayed_prompts_come_back_with_their_ids(box: Box) -> None:
    async def one():
        yield {"type": "user", "uuid": "11111111-1111-4111-8111-111111111111",
               "message": {"role": "user", "content": "remember violet"}}

    run = await box.run(one(), extra_args={"replay-user-messages": None})
    (replay,) = run.of(UserMessage)
    same((replay.content, replay.uuid), ("remember violet", "11111111-1111-4111-8111-111111111111"))
