"""What goes wrong, and how the SDK tells it."""

from claude_agent_sdk import (
    AssistantMessage,
    CLIConnectionError,
    CLINotFoundError,
    ProcessError,
    ResultError,
    query,
)

from kit import Box, Run, case, has, same, turn


@case
async def a_failing_model_is_an_error_result(box: Box) -> None:
    seen = []
    try:
        async for message in query(prompt="fail with 400", options=box.options()):
            seen.append(message)
    except ResultError as error:
        same((error.subtype, error.exit_code, error.api_error_status, error.terminal_reason),
             ("success", 1, 400, "api_error"))
    else:
        raise AssertionError("the run failed and nobody said so")
    run = Run(seen)
    result = run.result
    same((result.subtype, result.is_error, result.api_error_status), ("success", True, 400))
    has(result.result, "API Error: 400")
    (said,) = run.of(AssistantMessage)
    same((said.error, said.model), ("unknown", "<synthetic>"))


@case
async def a_session_survives_a_failing_model(box: Box) -> None:
    async with box.client() as client:
        failed = await turn(client, "fail with 400")
        same((failed.result.is_error, failed.result.terminal_reason), (True, "api_error"))
        after = await turn(client, "remember violet")
        same((after.result.subtype, after.result.is_error), ("success", False))


@case
async def a_model_that_does_not_exist_is_an_error_result(box: Box) -> None:
    async with box.client(model="no-such-model") as client:
        run = await turn(client, "fail with 404")
    same((run.init["model"], run.result.is_error, run.result.api_error_status), ("no-such-model", True, 404))
    has(run.result.result, "no-such-model")
    same(run.of(AssistantMessage)[0].error, "model_not_found")


@case
async def a_failing_command_is_told_with_its_code(box: Box) -> None:
    run = await box.run("run `echo gone >&2; exit 3`", allowed_tools=["Bash"])
    ((told, is_error),) = run.tool_results()
    has(told, "Exit code 3")
    has(told, "gone")
    same((is_error, run.result.subtype, run.result.is_error), (True, "success", False))


@case
async def a_file_that_is_not_there_is_a_tools_error(box: Box) -> None:
    run = await box.run("read nowhere.txt")
    ((told, is_error),) = run.tool_results()
    has(told, "File does not exist")
    same((is_error, run.result.subtype), (True, "success"))


@case
async def a_tool_that_does_not_exist_is_a_tools_error(box: Box) -> None:
    run = await box.run("use the tool Teleport with {}")
    ((told, is_error),) = run.tool_results()
    has(told, "No such tool available: Teleport")
    same(is_error, True)


@case
async def an_unknown_flag_ends_the_cli(box: Box) -> None:
    lines: list[str] = []
    try:
        await box.run("remember violet", extra_args={"no-such-flag": None}, stderr=lines.append)
    except ProcessError as error:
        same(error.exit_code, 1)
    else:
        raise AssertionError("it was accepted")
    has("\n".join(lines), "unknown option '--no-such-flag'")


@case
async def an_unknown_mode_ends_the_cli(box: Box) -> None:
    lines: list[str] = []
    try:
        await box.run("remember violet", permission_mode="banana", stderr=lines.append)
    except ProcessError as error:
        same(error.exit_code, 1)
    else:
        raise AssertionError("it was accepted")
    has("\n".join(lines), "argument 'banana' is invalid")


@case
async def a_cli_that_is_not_there_is_named(box: Box) -> None:
    try:
        await box.run("remember violet", cli_path=str(box.path("nowhere")))
    except CLINotFoundError as error:
        has(error, "nowhere")
    else:
        raise AssertionError("it was found")


@case
async def a_folder_that_is_not_there_is_named(box: Box) -> None:
    try:
        await box.run("remember violet", cwd=str(box.path("nowhere")))
    except CLIConnectionError as error:
        has(error, "nowhere")
    else:
        raise AssertionError("it was found")


@case
async def a_client_that_is_not_connected_says_so(box: Box) -> None:
    client = box.client()
    try:
        await client.query("remember violet")
    except CLIConnectionError as error:
        has(error, "Not connected")
    else:
        raise AssertionError("it was sent")
