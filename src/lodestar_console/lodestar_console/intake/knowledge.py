"""Conversion of answers, memories and details of objects, rooms and decisions to values of replies."""

from __future__ import annotations

import time
from typing import Any

from lodestar_console import protocol
from lodestar_console.board.board import Board
from lodestar_console.intake.convert import brief, number
from lodestar_ros.conversions import stamp_from_msg

_KINDS = ("memory", "keyframe", "entity", "room")


def answer(result: Any) -> protocol.AnswerValue:
    """Return the record of the memory's answer to a question."""
    proofs = [
        protocol.Proof(
            kind=_KINDS[min(one.kind, 3)],  # type: ignore[arg-type]
            id=str(one.id),
            text=brief(one.text),
            at=stamp_from_msg(one.stamp),
            keyframe=int(one.id) if one.kind == one.KIND_KEYFRAME else 0,
            session=one.session_id,
            score=round(float(one.score), 3),
            x=number(round(one.pose.position.x, 2)),
            y=number(round(one.pose.position.y, 2)),
        )
        for one in result.evidence[:40]
    ]
    names = [*result.names, *[""] * len(result.places)]
    places = [
        protocol.Place(
            x=round(one.pose.position.x, 2),
            y=round(one.pose.position.y, 2),
            z=round(one.pose.position.z, 2),
            text=brief(names[index]),
        )
        for index, one in enumerate(result.places[:50])
    ]
    return protocol.AnswerValue(
        text=brief(result.answer or result.error_msg),
        confidence=round(float(result.confidence), 3),
        places=places,
        proofs=proofs,
        entities=[int(one.id) for one in result.evidence if one.kind == one.KIND_ENTITY][:50],
        coverage=number(result.coverage),
        directive=brief(result.directive),
        last_verified=stamp_from_msg(result.last_verified),
    )


def memories(told: Any) -> list[protocol.MemoryItem]:
    """Return the records of listed memories."""
    return [
        protocol.MemoryItem(
            id=str(one.id),
            at=stamp_from_msg(one.stamp),
            text=brief(one.text),
            x=number(round(one.place.x, 2)),
            y=number(round(one.place.y, 2)),
            pinned=one.pinned,
            session=one.session_id,
            keyframes=[int(one.keyframe_id)] if one.keyframe_id else [],
        )
        for one in told.found
    ]


def details(board: Board, kind: str, of: str) -> protocol.DetailsValue | None:
    """Return the details of a decision, room or entity with id `of`, None = unknown."""
    if kind == "decision":
        decision = board.tables["decisions"].get(of)
        if decision is None:
            return None
        return protocol.DetailsValue(
            title=decision.explanation, lines=decision.why, keyframes=decision.keyframes
        )
    if not of.isdecimal() or len(of) > 9:
        return None
    if kind == "room":
        rooms: Any = board.get("rooms") or []
        room = next((one for one in rooms if one.id == int(of)), None)
        return None if room is None else _room(room)
    entity = board.tables["entities"].get(int(of)) if kind == "entity" else None
    return None if entity is None else _entity(board, entity)


def _room(room: protocol.Room) -> protocol.DetailsValue:
    lines = [f"{room.area:.1f} m²", f"Named by a person: {'yes' if room.named else 'no'}"]
    if room.contents:
        lines.append(f"In it: {', '.join(room.contents)}")
    if room.plates:
        lines.append(f"Plates: {', '.join(room.plates)}")
    return protocol.DetailsValue(title=room.name or f"room {room.id}", lines=lines, keyframes=[])


def _entity(board: Board, entity: protocol.Entity) -> protocol.DetailsValue:
    size = [high - low for low, high in zip(*entity.box)]
    now = board.now()
    lines = [
        f"{entity.state}, sure by {entity.confidence:.0%}",
        f"At {entity.mean[0]:.1f}, {entity.mean[1]:.1f}, {entity.mean[2]:.1f} m; "
        f"{size[0]:.1f} x {size[1]:.1f} x {size[2]:.1f} m",
        f"First seen {_ago(now, entity.first_seen)}, last seen {_ago(now, entity.last_seen)}",
        *entity.stated,
    ]
    return protocol.DetailsValue(
        title=entity.caption or entity.label, lines=lines, keyframes=entity.keyframes
    )


def _ago(now: float, stamp: float) -> str:
    seconds = max(now - stamp, 0.0)
    return f"{seconds:.0f} s ago" if seconds < 120 else time.strftime("%H:%M:%S", time.localtime(stamp))
