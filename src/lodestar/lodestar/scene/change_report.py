"""Reports of changes between two sessions, in words and as JSON."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from lodestar.models.english import duration_in_words, the, with_article
from lodestar.scene.captions import clean_text
from lodestar.scene.change_pairs import Sight
from lodestar.scene.session_changes import ChangeKind, ThingChange

VERSION = 1
TOLD = (ChangeKind.MOVED, ChangeKind.VANISHED, ChangeKind.APPEARED, ChangeKind.RELABELLED)
RoomOf = Callable[[np.ndarray], str]


def no_rooms(place: np.ndarray) -> str:
    """Return "", the room of every place in a scene without named rooms: the default room function."""
    return ""


def sentence_of(change: ThingChange, room: RoomOf = no_rooms) -> str:
    """Return one sentence about a change, with its probability."""
    sure = f"({change.probability:.0%} sure)"
    before, after = change.before, change.after
    if change.kind is ChangeKind.MOVED and before is not None and after is not None:
        come, went = room(before.mean), room(after.mean)
        way = (
            ""
            if not (come and went)
            else f" in the {went}"
            if come == went
            else f" from the {come} to the {went}"
        )
        return f"{_name(before)} moved {change.distance:.1f} m{way} {sure}."
    if change.kind is ChangeKind.RELABELLED and before is not None and after is not None:
        return f"{_name(before)} is now taken for {with_article(_words(after))} {sure}."
    if change.kind is ChangeKind.VANISHED and before is not None:
        return f"{_name(before)} is gone; it was{_where(room(before.mean))} {sure}."
    if change.kind is ChangeKind.APPEARED and after is not None:
        return f"{_name(after)} is new{_where(room(after.mean))} {sure}."
    if change.kind is ChangeKind.SAME and before is not None:
        return f"{_name(before)} is in its place {sure}."
    known = before or after
    assert known is not None
    why = (
        "nobody knows whether it is still there"
        if before is not None
        else "it may be new, or was overlooked before"
    )
    return f"{_name(known)}: {why}."


def report_lines(changes: Sequence[ThingChange], elapsed: float, room: RoomOf = no_rooms) -> list[str]:
    """Return the report for a person as lines of text.

    It has a sentence per change, the most certain first of each kind, and counts of the remaining objects.
    """
    counts = {kind: sum(change.kind is kind for change in changes) for kind in ChangeKind}
    since = f" in {duration_in_words(elapsed)}" if math.isfinite(elapsed) and elapsed >= 1.0 else ""
    told = [
        sentence_of(change, room)
        for kind in TOLD
        for change in sorted((c for c in changes if c.kind is kind), key=lambda c: -c.probability)
    ]
    lines = told or [f"Nothing has changed{since}, as far as was seen."]
    if told:
        lines.insert(0, f"{_counted(len(told), 'change')}{since}:")
    lines.append(f"{_counted(counts[ChangeKind.SAME], 'thing')} in place.")
    unseen = [c for c in changes if c.kind is ChangeKind.UNKNOWN and c.before is not None]
    doubtful = counts[ChangeKind.UNKNOWN] - len(unseen)
    if unseen:
        lines.append(f"{_counted(len(unseen), 'thing')} not seen again, and not known to be gone.")
    if doubtful:
        lines.append(f"{_counted(doubtful, 'thing')} that may be new or were overlooked before.")
    return lines


def report_json(changes: Iterable[ThingChange], elapsed: float, room: RoomOf = no_rooms) -> dict[str, Any]:
    """Return the report as JSON values. elapsed: seconds, null if unknown.

    Places are in map, metres.
    """
    return {
        "version": VERSION,
        "elapsed": elapsed if math.isfinite(elapsed) else None,
        "changes": [
            {
                "kind": change.kind.value,
                "probability": round(change.probability, 4),
                "probabilities": {kind.value: round(p, 4) for kind, p in change.probabilities.items()},
                "before": _side(change.before, room),
                "after": _side(change.after, room),
                "text": sentence_of(change, room),
            }
            for change in changes
        ],
    }


def _side(sight: Sight | None, room: RoomOf) -> dict[str, Any] | None:
    if sight is None:
        return None
    return {
        "entity": sight.id,
        "label": clean_text(sight.label),
        "caption": clean_text(sight.caption),
        "place": [round(float(value), 3) for value in sight.mean],
        "room": room(sight.mean),
    }


def _words(sight: Sight) -> str:
    return clean_text(sight.caption) or clean_text(sight.label) or "thing"


def _name(sight: Sight) -> str:
    said = the(_words(sight))
    return f"{said[:1].upper()}{said[1:]} ({sight.id})"


def _where(room: str) -> str:
    return f" in the {room}" if room else ""


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
