"""Requests of a page."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from lodestar_console.protocol.records import DeltaName, Outline, Point


class Request(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="type"):
    """A request; its reply names the same id."""

    id: int


class Ping(Request, frozen=True, tag="ping"):
    """Ask for a pong."""


class Resync(Request, frozen=True, tag="resync"):
    """Ask for the whole of a part that grows, after a gap."""

    name: DeltaName


class SendDirective(Request, frozen=True, tag="directive"):
    """Send a directive. picture: id of an uploaded picture of the target. dry_run: only say what is understood."""

    text: str
    picture: str | None = None
    dry_run: bool = False


class AnswerRobot(Request, frozen=True, tag="answer"):
    """Answer a question of the robot; choice is counted from 1."""

    question: str
    choice: int


class Cancel(Request, frozen=True, tag="cancel"):
    """Cancel the directive that runs."""


class Resume(Request, frozen=True, tag="resume"):
    """Release the latched STOP."""


class ChangeLease(Request, frozen=True, tag="lease"):
    """Take the lease (from an agent too), renew it or give it back."""

    action: Literal["take", "release"]


class OfferLease(Request, frozen=True, tag="offer"):
    """Let an agent take the lease while nobody has it, or no longer."""

    agent: str
    offered: bool = True


class AskMemory(Request, frozen=True, tag="ask"):
    """Ask the memory; it never moves the robot. picture: what "this" is."""

    text: str
    picture: str | None = None


class NameRoom(Request, frozen=True, tag="name_room"):
    """Call a room by a name; "" takes the name back. room 0: the one at x, y."""

    room: int
    name: str
    x: float = 0.0
    y: float = 0.0


class PointOut(Request, frozen=True, tag="point_out"):
    """Point at a place on the map."""

    x: float
    y: float
    z: float = 0.0


class CloseWay(Request, frozen=True, tag="close_way"):
    """Close the way between two points, or open it again. minutes: how long, 0 = until it is opened."""

    start: Point
    end: Point
    minutes: float = 0.0
    open: bool = False


class LayZone(Request, frozen=True, tag="zone"):
    """Keep the robot out of an area, or no longer. text: a name for it; minutes: how long, 0 = until it is removed."""

    outline: Outline
    text: str = ""
    minutes: float = 0.0
    remove: bool = False


class Correct(Request, frozen=True, tag="correct"):
    """Mend a belief in plain words ("it is gone", "that is a stool") about a thing; 0 = the one that is faced."""

    text: str
    entity: int = 0


class Undo(Request, frozen=True, tag="undo"):
    """Take an entry of the journal back."""

    entry: int


class SearchMemory(Request, frozen=True, tag="memory_search"):
    """Search the memory by words."""

    text: str


class PinMemory(Request, frozen=True, tag="memory_pin"):
    """Keep a memory for good, or no longer."""

    memory: str
    pinned: bool = True


class CorrectMemory(Request, frozen=True, tag="memory_correct"):
    """Replace a memory by other words; the old ones stay as history."""

    memory: str
    text: str


class ForgetMemory(Request, frozen=True, tag="memory_forget"):
    """Forget memories for good. expected: how many that are; 0 = say how many and forget nothing."""

    memories: list[str] = []
    text: str = ""
    expected: int = 0


class Details(Request, frozen=True, tag="details"):
    """Ask what is known of a thing."""

    kind: Literal["entity", "decision", "room", "memory"]
    of: str


class At(Request, frozen=True, tag="at"):
    """Ask what was known at a time."""

    time: float


PageMessage: TypeAlias = (
    Ping | Resync | SendDirective | AnswerRobot | Cancel | Resume | ChangeLease | OfferLease | AskMemory
    | NameRoom | PointOut | CloseWay | LayZone | Correct | Undo | SearchMemory | PinMemory | CorrectMemory
    | ForgetMemory | Details | At
)  # fmt: skip
