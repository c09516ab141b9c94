"""Conversion of changes between two sessions to messages of world events."""

from __future__ import annotations

from collections.abc import Sequence

from lodestar.scene.change_report import TOLD, RoomOf, no_rooms, sentence_of
from lodestar.scene.session_changes import ChangeKind, ThingChange
from lodestar_interfaces import msg
from lodestar_ros.conversions import header, point_to_msg

_KINDS = {
    ChangeKind.MOVED: "MOVED",
    ChangeKind.APPEARED: "APPEARED",
    ChangeKind.VANISHED: "GONE",
    ChangeKind.RELABELLED: "RELABEL",
}


def events_of(
    changes: Sequence[ThingChange], room: RoomOf = no_rooms, stamp: float = 0.0
) -> list[msg.WorldEvent]:
    """Return world events for changes of the kinds in `TOLD`, by kind, the most probable first. stamp: s."""
    told = [change for change in changes if change.kind in TOLD]
    found = []
    for change in sorted(told, key=lambda one: (TOLD.index(one.kind), -one.probability)):
        known = change.after or change.before
        if known is None:
            continue
        ids = dict.fromkeys(sight.id for sight in (change.before, change.after) if sight is not None)
        found.append(
            msg.WorldEvent(
                header=header(stamp, "map"), kind=_KINDS[change.kind], entity_ids=list(ids),
                text=sentence_of(change, room), place=[point_to_msg(known.mean)],
            )
        )  # fmt: skip
    return found
