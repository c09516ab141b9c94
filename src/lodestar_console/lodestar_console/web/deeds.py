"""Sentences for the timeline that describe requests of operators and agents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lodestar_console import protocol

_SAID: dict[type, Callable[[Any], str]] = {
    protocol.SendDirective: lambda one: f"sent “{one.text}”" + (" with a picture" if one.picture else ""),
    protocol.AnswerRobot: lambda one: f"answered the robot's question with choice {one.choice}",
    protocol.Cancel: lambda one: "cancelled the directive",
    protocol.Resume: lambda one: f"released number {', '.join(map(str, one.numbers))}",
    protocol.ChangeLease: lambda one: "took command" if one.action == "take" else "handed command over",
    protocol.OfferLease: lambda one: (
        f"let {one.agent} take command" if one.offered else f"lets {one.agent} not take command any more"
    ),
    protocol.AskMemory: lambda one: f"asked “{one.text}”",
    protocol.NameRoom: lambda one: (
        f"called {_room(one)} “{one.name}”" if one.name else f"took the name of {_room(one)} back"
    ),
    protocol.PointOut: lambda one: f"pointed at x {one.x:.1f} m, y {one.y:.1f} m",
    protocol.CloseWay: lambda one: (
        f"{'opened' if one.open else 'closed'} the way at x {one.start[0]:.1f} m, y {one.start[1]:.1f} m"
        f"{_for_minutes(one.minutes)}"
    ),
    protocol.LayZone: lambda one: (
        f"{'removed' if one.remove else 'laid'} the keep-out zone {one.text or 'without a name'}"
        f"{_for_minutes(one.minutes)}"
    ),
    protocol.Correct: lambda one: f"said “{one.text}”" + (f" of thing {one.entity}" if one.entity else ""),
    protocol.Undo: lambda one: f"took entry {one.entry} back",
    protocol.SearchMemory: lambda one: f"searched the memory for “{one.text}”",
    protocol.PinMemory: lambda one: f"{'pinned' if one.pinned else 'unpinned'} memory {one.memory}",
    protocol.CorrectMemory: lambda one: f"corrected memory {one.memory}: “{one.text}”",
    protocol.ForgetMemory: lambda one: f"had {len(one.memories) or one.expected} memories forgotten",
}
STOPPED = "pressed STOP"


def sentence(request: protocol.PageMessage) -> str:
    """Return a sentence that describes a request, "" if it is not worth showing, such as a dry run."""
    if isinstance(request, protocol.SendDirective) and request.dry_run:
        return ""
    said = _SAID.get(type(request))
    return said(request) if said is not None else ""


def _room(request: protocol.NameRoom) -> str:
    return f"room {request.room}" if request.room else f"the room at x {request.x:.1f} m, y {request.y:.1f} m"


def _for_minutes(minutes: float) -> str:
    return f" for {minutes:.0f} min" if minutes else ""
