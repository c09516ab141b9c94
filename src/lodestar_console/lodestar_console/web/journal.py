"""The journal of requests by people and agents: one JSON value per line, readable by the owner only."""

from __future__ import annotations

import logging
import os
import queue
import threading
import time
from pathlib import Path

import msgspec

from lodestar.storage.private import FILE_MODE
from lodestar_console import protocol
from lodestar_console.access.limits import STOPS, Buckets
from lodestar_console.access.sessions import Session
from lodestar_console.board.board import Board
from lodestar_console.web.deeds import STOPPED, sentence
from lodestar_console.web.stack_port import Outcome

log = logging.getLogger("lodestar.console")

MAX_BYTES = 8 << 20  # size at which the file is renamed to `journal.1.jsonl` and a new one starts
_TEXT = 300  # largest number of characters of a text on the timeline


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of the journal. at: s of the wall clock; what: type of the request."""

    at: float
    who: str
    agent: bool
    what: str
    request: dict[str, object]
    ok: bool
    text: str


class Journal:
    """Write entries on a separate thread, and show them on the timeline. Write errors are logged once."""

    def __init__(self, folder: Path, board: Board) -> None:
        self.path, self._board = folder / "journal.jsonl", board
        self._count = 0
        self._stops = Buckets(STOPS)
        self._queue: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._broken = ""
        self._thread = threading.Thread(target=self._write_all, name="console-journal", daemon=True)
        self._thread.start()

    def note(self, who: Session, request: protocol.PageMessage, outcome: Outcome) -> None:
        """Add a request to the journal, and show it with its outcome on the timeline."""
        said = sentence(request)
        if isinstance(request, protocol.AskMemory) and outcome.ok:
            said = f"{said}: {outcome.text}"
        self._note(who, msgspec.to_builtins(request), outcome, said)

    def note_stop(self, who: Session) -> None:
        """Add a STOP to the journal, at a limited rate per session."""
        if self._stops.allow(who.id, time.monotonic()):
            self._note(who, {"type": "stop"}, Outcome(True), STOPPED)

    def _note(self, who: Session, given: dict[str, object], outcome: Outcome, said: str) -> None:
        what = str(given.get("type", "?"))
        rest = {key: _brief(value) for key, value in given.items() if key not in ("type", "id")}
        entry = Entry(
            at=time.time(),
            who=who.name,
            agent=who.agent,
            what=what,
            request=rest,
            ok=outcome.ok,
            text=outcome.text[:1000],
        )
        self._queue.put(msgspec.json.encode(entry) + b"\n")
        self._count += 1
        if not said:
            return
        text = f"{who.name} {said}"[:_TEXT]
        if not outcome.ok:
            text = f"{text} (refused: {outcome.text})"[: 2 * _TEXT]
        self._board.put(
            "events",
            protocol.Event(
                id=f"console:{os.getpid()}:{self._count}",
                at=self._board.now(),
                kind="AGENT" if who.agent else "OPERATOR",
                text=text,
            ),
        )

    def tail(self, lines: int) -> str:
        """Return the last lines of the journal."""
        try:
            return "\n".join(self.path.read_text(errors="replace").splitlines()[-lines:])
        except OSError:
            return ""

    def close(self) -> None:
        """Write the queued entries and end the thread."""
        self._queue.put(None)
        self._thread.join(2.0)

    def _write_all(self) -> None:
        while (line := self._queue.get()) is not None:
            try:
                self._write(line)
                self._broken = ""
            except OSError as error:
                if not self._broken:
                    log.error("the journal of the console is not written: %s", error)
                self._broken = str(error)

    def _write(self, line: bytes) -> None:
        handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, FILE_MODE)
        try:
            os.write(handle, line)
            size = os.fstat(handle).st_size
        finally:
            os.close(handle)
        if size > MAX_BYTES:
            os.replace(self.path, self.path.with_name("journal.1.jsonl"))


def _brief(value: object) -> object:
    """Return a value, cut to a bounded length, so that large requests do not fill the journal."""
    if isinstance(value, str):
        return value[: protocol.MAX_DIRECTIVE]
    return value if len(str(value)) <= protocol.MAX_DIRECTIVE else f"{str(value)[:_TEXT]}..."
