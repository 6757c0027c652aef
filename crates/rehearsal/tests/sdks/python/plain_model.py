"""A model for the real CLI that follows the same plain requests as the scripted CLI.

With it the suites run on the real CLI, which shows that they ask for what it does, and not for what ours happens to do
(`SDKS_ON=real`). Serves the Messages API on loopback until its input ends; prints its address first.
"""

import json
import re
import sys
import threading
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

HOME, CWD = Path(sys.argv[1]), Path(sys.argv[2])

# What the CLI itself adds to a conversation.
INSERTED = ("<system-reminder>", "[Request interrupted", "<command-", "<local-command", "<task-notification", "Caveat:")

Block = dict[str, Any]


def call(name: str, **input: Any) -> list[Block]:
    return [{"type": "tool_use", "name": name, "input": input}]


def text(said: str, pace: float = 0) -> list[Block]:
    return [{"type": "text", "text": said, "pace": pace}]


def question(asked: str, *labels: str) -> dict[str, Any]:
    options = [{"label": label, "description": label} for label in labels]
    return {"question": asked, "header": "Question", "multiSelect": False, "options": options}


def steps(request: str, asked: "Asked") -> list[list[Block]]:
    """The messages that a request comes to, each with its blocks."""

    def matched(pattern: str) -> re.Match[str] | None:
        return re.fullmatch(pattern, request, re.DOTALL)

    if found := matched(r"run `(.*)`"):
        return [call("Bash", command=found[1], description="Runs a command")]
    if found := matched(r"write ([^\s:]+): (.*)"):
        return [call("Write", file_path=asked.place(found[1]), content=found[2])]
    if found := matched(r"edit (\S+): replace `(.*)` with `(.*)`"):
        file = asked.place(found[1])
        return [call("Read", file_path=file), call("Edit", file_path=file, old_string=found[2], new_string=found[3])]
    if found := matched(r"read (\S+)"):
        return [call("Read", file_path=asked.place(found[1]))]
    if found := matched(r"use the tool (\S+) with (\{.*\})"):
        return [call(found[1], **json.loads(found[2]))]
    if found := matched(r"use the agent (\S+) to (.*)"):
        name = "Task" if "Task" in asked.tools else "Agent"
        return [call(name, description="A part", prompt=found[2], subagent_type=found[1], run_in_background=False)]
    if found := matched(r"ask me (.*): (.*) or (.*)"):
        return [call("AskUserQuestion", questions=[question(*found.groups())])]
    if found := matched(r"plan: (.*)"):
        return [call("Write", file_path=asked.plan_file, content=found[1]), call("ExitPlanMode")]
    if found := matched(r"think about (.*)"):
        return [[{"type": "thinking", "thinking": f"About {found[1]}."}, *text(f"I thought about {found[1]}.")]]
    if found := matched(r"count to (\d+) slowly"):
        return [text(" ".join(str(number) for number in range(1, int(found[1]) + 1)), pace=0.05)]
    if found := matched(r"fail with (\d+)"):
        return [[{"type": "error", "status": int(found[1])}]]
    if request == "what did I say first?":
        return [text(asked.prompts[0])]
    if request == "which model?":
        return [text(asked.model)]
    return [text("I will remember it.")]


class Asked:
    """A request of the CLI: what was said, and what was done since the last prompt."""

    def __init__(self, body: dict[str, Any]) -> None:
        self.model: str = body["model"]
        self.tools = {tool.get("name"): tool for tool in body.get("tools", [])}
        self.prompts: list[str] = []
        self.done: list[Block] = []
        self.results: dict[str, Block] = {}
        for message in body["messages"]:
            content = message["content"]
            blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
            if message["role"] == "assistant":
                self.done += [block for block in blocks if block["type"] == "tool_use"]
            if message["role"] != "user":
                continue
            self.results |= {block["tool_use_id"]: block for block in blocks if block["type"] == "tool_result"}
            texts = [block["text"].strip() for block in blocks if block["type"] == "text"]
            if said := [text for text in texts if text and not text.startswith(INSERTED)]:
                self.prompts.append(said[-1])
                self.done.clear()
        plan = re.search(r"/[^\s\"\\]*/plans/[^\s\"\\]+?\.md", json.dumps(body))
        self.plan_file = plan[0] if plan else str(HOME / "no-plan.md")
        folder = re.search(r"[Ww]orking directory: (/[^\s\"\\<]+)", json.dumps(body))
        self.folder = Path(folder[1]) if folder else CWD

    def place(self, name: str) -> str:
        return str(self.folder / name)

    def answer(self) -> list[Block]:
        if not self.tools:
            return text('{"title": "A title"}')
        done, last = len(self.done), text("Done.")
        for request in re.split(r"\n|, then ", self.prompts[-1] if self.prompts else ""):
            for message in steps(request.strip(), self):
                if message[0]["type"] != "tool_use":
                    last = message
                elif done == 0:
                    return message
                else:
                    done, last = done - 1, []
        if "StructuredOutput" in self.tools and not any(use["name"] == "StructuredOutput" for use in self.done):
            return call("StructuredOutput", **fitting(self.tools["StructuredOutput"]["input_schema"]))
        return last or text(self.report())

    def report(self) -> str:
        result = self.results.get(self.done[-1]["id"], {})
        content = result.get("content", "")
        told = content if isinstance(content, str) else "".join(block.get("text", "") for block in content)
        return f"It was refused: {told}" if result.get("is_error") else told


def fitting(schema: dict[str, Any]) -> Any:
    """A value that fits the schema."""
    if "enum" in schema:
        return schema["enum"][0]
    match schema.get("type"):
        case "object":
            return {name: fitting(inner) for name, inner in schema.get("properties", {}).items()}
        case "array":
            return [fitting(schema.get("items", {}))]
        case "integer" | "number":
            return schema.get("minimum", 1)
        case "boolean":
            return True
    return "text"


def pieces(block: Block) -> tuple[Block, list[Block]]:
    """How a block begins in the stream, and its deltas."""
    match block["type"]:
        case "text":
            parts = re.findall(r"\s*\S+|\s+$", block["text"]) or [""]
            return {"type": "text", "text": ""}, [{"type": "text_delta", "text": part} for part in parts]
        case "thinking":
            deltas = [{"type": "thinking_delta", "thinking": block["thinking"]},
                      {"type": "signature_delta", "signature": "c2lnbmVk"}]
            return {"type": "thinking", "thinking": "", "signature": ""}, deltas
    start = {"type": "tool_use", "id": f"toolu_{uuid.uuid4().hex[:24]}", "name": block["name"], "input": {}}
    return start, [{"type": "input_json_delta", "partial_json": json.dumps(block["input"])}]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        pass

    def do_HEAD(self) -> None:
        self.json(200, {})

    def do_GET(self) -> None:
        self.json(404, {"type": "error", "error": {"type": "not_found_error", "message": "There is nothing here."}})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if "count_tokens" in self.path:
            return self.json(200, {"input_tokens": 100})
        blocks = Asked(body).answer()
        if blocks[0]["type"] == "error":
            error = {"type": "api_error", "message": "The model fails as it was asked to."}
            return self.json(blocks[0]["status"], {"type": "error", "error": error})
        start = {"id": f"msg_{uuid.uuid4().hex[:24]}", "type": "message", "role": "assistant", "model": body["model"],
                 "content": [], "stop_reason": None, "stop_sequence": None,
                 "usage": {"input_tokens": 10, "output_tokens": 1}}
        stop = "tool_use" if blocks[-1]["type"] == "tool_use" else "end_turn"
        if body.get("stream"):
            return self.stream(start, blocks, stop)
        self.json(200, {**start, "content": blocks, "stop_reason": stop})

    def json(self, status: int, value: Any) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def stream(self, start: dict[str, Any], blocks: list[Block], stop: str) -> None:
        self.close_connection = True
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        try:
            self.event(type="message_start", message=start)
            for index, block in enumerate(blocks):
                begin, deltas = pieces(block)
                self.event(type="content_block_start", index=index, content_block=begin)
                for delta in deltas:
                    self.event(type="content_block_delta", index=index, delta=delta)
                    time.sleep(block.get("pace", 0))
                self.event(type="content_block_stop", index=index)
            self.event(type="message_delta", delta={"stop_reason": stop, "stop_sequence": None},
                       usage={"output_tokens": 7})
            self.event(type="message_stop")
        except OSError:
            pass  # The CLI was interrupted and no longer listens.

    def event(self, **event: Any) -> None:
        self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())
        self.wfile.flush()


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
    sys.stdin.read()
