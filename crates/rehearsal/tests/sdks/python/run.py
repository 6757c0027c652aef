"""Runs one case by its name, or lists them: `run.py CASE`, `run.py --list`."""

import asyncio
import sys
import traceback
from pathlib import Path
from types import TracebackType

import agents
import conversation
import control
import errors
import hooks
import interrupts
import mcp_tools
import permissions
import sessions
import settings
from kit import CASES, Box

# For whatever must happen soon. Long, since a loaded machine is slow; no case waits for it to pass.
PATIENCE = 45

# Each names its cases when it is read.
AREAS = (agents, conversation, control, errors, hooks, interrupts, mcp_tools, permissions, sessions, settings)

# Where the frames of the runner and of the event loop are.
OUTSIDE = ("run.py", "runners.py", "base_events.py", "tasks.py")


def inside(error: BaseException) -> TracebackType | None:
    """The traceback from the case on, without the event loop's own frames."""
    frame = error.__traceback__
    while frame and Path(frame.tb_frame.f_code.co_filename).name in OUTSIDE:
        frame = frame.tb_next
    return frame or error.__traceback__


def main() -> int:
    if sys.argv[1:] == ["--list"]:
        print("\n".join(sorted(CASES)))
        return 0
    (name,) = sys.argv[1:]
    case = CASES[name]
    try:
        asyncio.run(asyncio.wait_for(case(Box()), PATIENCE))
    except BaseException as error:
        traceback.print_exception(error.with_traceback(inside(error)))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
