"""What the cases of the Python SDK stand on: the box a case runs in, and what it looks at.

The box is made by the Rust side: HOME, the working folder and an environment with nothing of the caller in it. A case
passes when the effect was seen: a file, the order of calls, the fields of the messages as the SDK parsed them.
"""

import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

from claude_agent_sdk import (
    AssistantMessage,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    PermissionResultAllow,
    PermissionResultDeny,
    ResultMessage,
    StreamEvent,
    SystemMessage,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    UserMessage,
    query,
)

CASES: dict[str, Callable[["Box"], Awaitable[None]]] = {}


def case(function: Callable[["Box"], Awaitable[None]]) -> Callable[["Box"], Awaitable[None]]:
    """Names a case after its function."""
    assert function.__name__ not in CASES, f"two cases are called {function.__name__}"
    CASES[function.__name__] = function
    return function


class Box:
    """Where one case runs."""

    def __init__(self) -> None:
        self.cli = os.environ["SDKS_CLI"]
        self.home = Path(os.environ["HOME"])
        self.cwd = Path.cwd()

    def options(self, **changes: Any) -> ClaudeAgentOptions:
        return ClaudeAgentOptions(**{"cli_path": self.cli, "cwd": self.cwd, **changes})

    def client(self, **changes: Any) -> ClaudeSDKClient:
        return ClaudeSDKClient(self.options(**changes))

    def path(self, name: str) -> Path:
        return self.cwd / name

    def write(self, name: str, text: str) -> Path:
        """Writes a file of the project, or of the home if the name begins with `~/`."""
        path = self.home / name[2:] if name.startswith("~/") else self.cwd / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def write_json(self, name: str, value: Any) -> Path:
        return self.write(name, json.dumps(value))

    def read(self, name: str) -> str | None:
        path = self.cwd / name
        return path.read_text() if path.exists() else None

    async def run(self, prompt: Any, **changes: Any) -> "Run":
        """One call of `query()`, to its end."""
        return Run([message async for message in query(prompt=prompt, options=self.options(**changes))])


class Run:
    """The messages of a turn, or of several."""

    def __init__(self, messages: list[Any]) -> None:
        self.messages = messages

    def of(self, kind: type) -> list[Any]:
        return [message for message in self.messages if isinstance(message, kind)]

    @property
    def result(self) -> ResultMessage:
        results = self.of(ResultMessage)
        assert results, f"no result among {self.kinds()}"
        return results[-1]

    @property
    def init(self) -> dict[str, Any]:
        inits = self.systems("init")
        assert inits, f"no init among {self.kinds()}"
        return inits[-1].data

    def systems(self, subtype: str) -> list[SystemMessage]:
        return [message for message in self.of(SystemMessage) if message.subtype == subtype]

    def blocks(self, kind: type) -> list[Any]:
        found = []
        for message in self.messages:
            content = getattr(message, "content", None)
            if isinstance(message, (AssistantMessage, UserMessage)) and isinstance(content, list):
                found += [block for block in content if isinstance(block, kind)]
        return found

    @property
    def text(self) -> str:
        """What the assistant said last."""
        texts = [block.text for message in self.of(AssistantMessage) for block in message.content
                 if isinstance(block, TextBlock)]
        assert texts, f"no text among {self.kinds()}"
        return texts[-1]

    @property
    def tools(self) -> list[str]:
        return [block.name for block in self.blocks(ToolUseBlock)]

    def tool_results(self) -> list[tuple[str, bool]]:
        """What each tool gave, and whether it was an error."""
        return [(plain(block.content), bool(block.is_error)) for block in self.blocks(ToolResultBlock)]

    def kinds(self) -> list[str]:
        """The course of the conversation; what only reports progress is left out."""
        kinds = [kind_of(message) for message in self.messages]
        return [kind for kind in kinds if kind not in PROGRESS]


# These may come at any time, or not at all, and say nothing about the course.
PROGRESS = {
    "system/status",
    "system/thinking_tokens",
    "system/session_title_changed",
    "system/informational",
    "rate_limit",
}


def kind_of(message: Any) -> str:
    if isinstance(message, SystemMessage):
        return f"system/{message.subtype}"
    if isinstance(message, ResultMessage):
        return f"result/{message.subtype}"
    if isinstance(message, StreamEvent):
        return "stream"
    if isinstance(message, AssistantMessage):
        return "assistant:" + "+".join(block_of(block) for block in message.content)
    if isinstance(message, UserMessage):
        content = message.content
        return "user:" + ("text" if isinstance(content, str) else "+".join(block_of(block) for block in content))
    return {"RateLimitEvent": "rate_limit"}.get(type(message).__name__, type(message).__name__)


def block_of(block: Any) -> str:
    if isinstance(block, ToolUseBlock):
        return block.name
    names = {TextBlock: "text", ThinkingBlock: "thinking", ToolResultBlock: "tool_result"}
    return names.get(type(block), type(block).__name__)


def plain(content: Any) -> str:
    """The text of a tool's result, which is a text or a list of blocks."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    return "".join(block.get("text", "") for block in content)


async def turn(client: ClaudeSDKClient, prompt: Any) -> Run:
    """One prompt and all that comes up to its result."""
    await client.query(prompt)
    return await response(client)


async def response(client: ClaudeSDKClient) -> Run:
    return Run([message async for message in client.receive_response()])


class Asked:
    """A `can_use_tool` that notes each question and answers by a function, or always the same."""

    def __init__(self, answer: Any = None) -> None:
        self.answer = answer if answer is not None else PermissionResultAllow()
        self.questions: list[tuple[str, dict[str, Any], Any]] = []

    async def __call__(self, tool: str, input: dict[str, Any], context: Any) -> Any:
        self.questions.append((tool, input, context))
        answer = self.answer
        if callable(answer):
            answer = answer(tool, input, context)
        if isinstance(answer, Exception):
            raise answer
        return await answer if hasattr(answer, "__await__") else answer

    @property
    def tools(self) -> list[str]:
        return [tool for tool, _, _ in self.questions]


def allow(**fields: Any) -> PermissionResultAllow:
    return PermissionResultAllow(**fields)


def deny(message: str, **fields: Any) -> PermissionResultDeny:
    return PermissionResultDeny(message=message, **fields)


async def prompts(*texts: str) -> AsyncIterator[dict[str, Any]]:
    for text in texts:
        yield {"type": "user", "message": {"role": "user", "content": text}}


def same(actual: Any, expected: Any, what: str = "") -> None:
    assert actual == expected, f"{what}\n  expected: {expected!r}\n       was: {actual!r}"


def has(text: Any, part: str) -> None:
    assert part in str(text), f"expected {part!r} in\n  {text!r}"


def fits(actual: dict[str, Any], expected: dict[str, Any]) -> None:
    """Whether the fields are there with these values; further ones may be."""
    found = {key: actual.get(key, "(missing)") for key in expected}
    same(found, expected)
