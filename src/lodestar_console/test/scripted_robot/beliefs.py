"""Corrections and zones of the script, with a journal and undo."""

from __future__ import annotations

from typing import Any

import msgspec

from lodestar.worldmodel.amendment_checks import outline_fault
from lodestar_console import protocol
from lodestar_console.access.sessions import Session
from lodestar_console.board.board import Board
from lodestar_console.web.stack_port import Outcome


class ScriptedBeliefs:
    """Handle corrections and zones: show ``beliefs`` and ``zones``, and change ``entities``."""

    def __init__(self, board: Board) -> None:
        self.board = board
        self._entries: list[protocol.BeliefChange] = []
        self._zones_before: dict[int, Any] = {}  # zones before each change, by number of the journal entry

    def correct(self, request: protocol.Correct, who: Session) -> Outcome:
        """Add a correction to the journal; "gone" archives the entity."""
        if not request.text.strip():
            return Outcome(False, "Say what is wrong.", "NOT_UNDERSTOOD")
        number = len(self._entries) + 1
        entry = protocol.BeliefChange(
            id=str(number),
            entry=number,
            at=self.board.now(),
            text=request.text,
            by=who.name,
            entities=[request.entity] if request.entity else [],
        )
        self._entries.append(entry)
        self.board.put("beliefs", entry)
        entity = self.board.tables["entities"].get(request.entity)
        if entity is not None and "gone" in request.text:
            self.board.put("entities", msgspec.structs.replace(entity, state="archived"))
        return Outcome(True, f"Noted: {request.text}")

    def undo(self, request: protocol.Undo, _: Session) -> Outcome:
        """Undo a journal entry."""
        if not 1 <= request.entry <= len(self._entries) or self._entries[request.entry - 1].undone:
            return Outcome(False, "There is no such entry, or it is undone.", "NO_SUCH_ENTRY")
        entry = msgspec.structs.replace(self._entries[request.entry - 1], undone=True)
        self._entries[request.entry - 1] = entry
        self.board.put("beliefs", entry)
        if request.entry in self._zones_before:
            self.board.set("zones", self._zones_before[request.entry])
        for number in entry.entities:
            entity = self.board.tables["entities"].get(number)
            if entity is not None:
                self.board.put("entities", msgspec.structs.replace(entity, state="active"))
        return Outcome(True, f"Taken back: {entry.text}")

    def close_way(self, request: protocol.CloseWay, who: Session) -> Outcome:
        """Close a passage, or open it."""
        way = protocol.Zone(
            id=f"way:{request.start}:{request.end}", kind="closed_way", outline=[request.start, request.end],
            text="closed way", expires=self._until(request.minutes),
        )  # fmt: skip
        return self._change_zones(way, request.open, "the way", who)

    def lay_zone(self, request: protocol.LayZone, who: Session) -> Outcome:
        """Add or remove a keep-out area."""
        if len(request.outline) < 3:
            return Outcome(False, "A zone has 3 to 64 corners.", "BAD_REQUEST")
        if not request.remove and outline_fault(request.outline):
            return Outcome(False, outline_fault(request.outline), "BAD_REQUEST")
        area = protocol.Zone(
            id=f"area:{request.outline}", kind="keep_out", outline=request.outline, laid=True,
            text=request.text or "keep out", expires=self._until(request.minutes),
        )  # fmt: skip
        return self._change_zones(area, request.remove, "the area", who)

    def _until(self, minutes: float) -> float | None:
        return self.board.now() + 60.0 * minutes if minutes > 0.0 else None

    def _change_zones(self, zone: protocol.Zone, open_again: bool, what: str, who: Session) -> Outcome:
        """Add or remove a zone, with a journal entry that can be undone."""
        before: Any = self.board.get("zones")
        others = [one for one in before if one.id != zone.id]
        if open_again and len(others) == len(before):
            return Outcome(False, "There is no such zone.", "unknown")
        self.board.set("zones", others if open_again else [*others, zone])
        number = len(self._entries) + 1
        text = f"{what[:1].upper()}{what[1:]} is {'open' if open_again else 'closed'} ({zone.text})."
        entry = protocol.BeliefChange(
            id=str(number), entry=number, at=self.board.now(), text=text, by=who.name
        )
        self._entries.append(entry)
        self._zones_before[number] = before
        self.board.put("beliefs", entry)
        return Outcome(True, f"{text} Entry {number}; undo takes it back.")
