"""`python -m lodestar_console.intake.recorded LOG`: show the page of a finished run from its decision log.

The page shows decisions with reasons, failures and the timeline; it is read-only. Prints a one-time link, then runs
until Ctrl-C. Exit status: 0 ended; 2 the log cannot be read, or the page cannot be served.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import threading
from pathlib import Path

from lodestar.storage.private import UnsafeFolder
from lodestar.worldmodel.decision_log import Record, read_records
from lodestar_console import protocol
from lodestar_console.access.places import ServeError
from lodestar_console.access.sessions import Session
from lodestar_console.board import past
from lodestar_console.board.board import Board
from lodestar_console.intake import knowledge
from lodestar_console.intake.story_book import StoryBook
from lodestar_console.web.console import Console, ConsoleConfig
from lodestar_console.web.stack_port import Outcome, Picture, Upload, Wishes


class RecordedStack:
    """Implementation of `Stack` for a finished run: answers from the decision log, and refuses commands."""

    def __init__(self, board: Board) -> None:
        self._board = board

    async def perform(
        self, request: protocol.PageMessage, who: Session, picture: Upload | None = None
    ) -> Outcome:
        """Answer queries from the log; refuse all other requests."""
        if isinstance(request, protocol.At):
            return Outcome(True, value=past.at(self._board, request.time))
        if isinstance(request, protocol.Details):
            value = knowledge.details(self._board, request.kind, request.of)
            return (
                Outcome(True, value=value) if value else Outcome(False, "Nothing is known of it.", "unknown")
            )
        return Outcome(False, "This run is over: its log can be read, and nothing can be sent.", "recorded")

    def stop(self, who: str) -> asyncio.Future[bool]:
        """Return a future that is False: a recorded run has no motion gate that could stop the robot."""
        answer: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        answer.set_result(False)
        return answer

    def stands(self, since: float) -> bool:
        """Return False: a recorded run has no measurements."""
        return False

    def cancel_of(self, who: str) -> None:
        """Do nothing: no directive runs."""

    async def keyframe(self, number: int, session: str, outlined: bool) -> Picture | None:
        """Return None: a decision log has no images."""
        return None

    async def log(self, node: str, lines: int) -> str | None:
        """Return None: a decision log has no logs of nodes."""
        return None

    async def examine(self) -> list[dict[str, str]]:
        """Return no findings: a log has no nodes to examine."""
        return []

    def want(self, wishes: Wishes) -> None:
        """Do nothing: a decision log has no streams."""


def recorded_board(records: list[Record], name: str) -> Board:
    """Return a board (data shown on pages) with the records of a run; its clock stands at the last one."""
    end = max((record.stamp for record in records), default=0.0)
    board = Board(name, lambda: end)
    book = StoryBook(board)
    for record in records:
        book.take(record)
    said = [one.directive for one in board.tables["decisions"].values() if one.directive]
    last = said[-1] if said else ""
    board.set("robot", protocol.Robot(state="RECORDED", stands=True, stamp=end))
    board.set("directive", protocol.Directive(text=last, understood=last))
    return board


def main(arguments: list[str] | None = None) -> int:
    """Serve a decision log until Ctrl-C; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m lodestar_console.intake.recorded",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("log", type=Path, help="decision log of the run")
    parser.add_argument("--port", type=int, default=ConsoleConfig.port)
    parser.add_argument(
        "--folder", default="", help="of token, sessions and journal; the user's where it is missing"
    )
    options = parser.parse_args(arguments)
    try:
        board = recorded_board(list(read_records(options.log)), options.log.name)
        console = Console(
            board, RecordedStack(board), ConsoleConfig(port=options.port, folder=options.folder)
        )
    except (ServeError, UnsafeFolder, OSError, ValueError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.write(f"{console.link('look')}\n")
    sys.stdout.flush()
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        pass
    finally:
        console.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
