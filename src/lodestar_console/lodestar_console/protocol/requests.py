"""Requests of a page to the server."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from lodestar_console.protocol.records import DeltaName, Outline, Point


class Request(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="type"):
    """A request; the reply has the same id."""

    id: int


class Ping(Request, frozen=True, tag="ping"):
    """Ask for a pong."""


class Resync(Request, frozen=True, tag="resync"):
    """Ask for all items of a growing part (a table sent as deltas), after a gap in its revisions."""

    name: DeltaName


class SendDirective(Request, frozen=True, tag="directive"):
    """Send a directive. picture: id of an uploaded picture of the target. dry_run: only return the interpretation."""

    text: str
    picture: str | None = None
    dry_run: bool = False


class AnswerRobot(Request, frozen=True, tag="answer"):
    """Answer a question of the robot; choice is counted from 1."""

    question: str
    choice: int


class Cancel(Request, frozen=True, tag="cancel"):
    """Cancel the running directive."""


class Resume(Request, frozen=True, tag="resume"):
    """Release holds and pauses. numbers: those shown on the page, at least one; later holds stay."""

    numbers: list[int] = []


class ChangeLease(Request, frozen=True, tag="lease"):
    """Take, renew or release the lease; an operator may take it from an agent."""

    action: Literal["take", "release"]


class OfferLease(Request, frozen=True, tag="offer"):
    """Allow or forbid an agent to take the lease while it is free."""

    agent: str
    offered: bool = True


class AskMemory(Request, frozen=True, tag="ask"):
    """Ask the memory a question; never moves the robot. picture: id of an uploaded picture that "this" refers to."""

    text: str
    picture: str | None = None


class NameRoom(Request, frozen=True, tag="name_room"):
    """Name a room; "" removes the name. room: id, 0 = the room at x, y."""

    room: int
    name: str
    x: float = 0.0
    y: float = 0.0


class PointOut(Request, frozen=True, tag="point_out"):
    """Point at a place on the map, to direct the search there, answer a question or correct the robot."""

    x: float
    y: float
    z: float = 0.0


class CloseWay(Request, frozen=True, tag="close_way"):
    """Close the passage between two points, or open it again. minutes: duration, 0 = until opened."""

    start: Point
    end: Point
    minutes: float = 0.0
    open: bool = False


class LayZone(Request, frozen=True, tag="zone"):
    """Add or remove a keep-out area. text: its name; minutes: duration, 0 = until removed."""

    outline: Outline
    text: str = ""
    minutes: float = 0.0
    remove: bool = False


class Correct(Request, frozen=True, tag="correct"):
    """Correct a belief in plain words ("it is gone", "that is a stool"). entity: id, 0 = object faced by the robot."""

    text: str
    entity: int = 0


class Undo(Request, frozen=True, tag="undo"):
    """Undo an entry of the belief journal."""

    entry: int


class SearchMemory(Request, frozen=True, tag="memory_search"):
    """Search the memories for words."""

    text: str


class PinMemory(Request, frozen=True, tag="memory_pin"):
    """Pin a memory, so that it is never dropped, or unpin it."""

    memory: str
    pinned: bool = True


class CorrectMemory(Request, frozen=True, tag="memory_correct"):
    """Replace the text of a memory; the old text stays in its history."""

    memory: str
    text: str


class ForgetMemory(Request, frozen=True, tag="memory_forget"):
    """Delete memories for good. expected: their number, as a check; 0 = only count them."""

    memories: list[str] = []
    text: str = ""
    expected: int = 0


class Details(Request, frozen=True, tag="details"):
    """Ask for the details of an object, decision or room with id `of`."""

    kind: Literal["entity", "decision", "room"]
    of: str


class At(Request, frozen=True, tag="at"):
    """Ask for the state at a past time (stamp)."""

    time: float


PageMessage: TypeAlias = (
    Ping | Resync | SendDirective | AnswerRobot | Cancel | Resume | ChangeLease | OfferLease | AskMemory
    | NameRoom | PointOut | CloseWay | LayZone | Correct | Undo | SearchMemory | PinMemory | CorrectMemory
    | ForgetMemory | Details | At
)  # fmt: skip
