"""Corrections of beliefs that a diagnosis proposes (VLM-DEWM 3.3.5): before the robot moves again."""

from __future__ import annotations

import math

from lodestar.agent.errands.open_action import OpenCase
from lodestar.agent.facts.config import RecoveryConfig
from lodestar.scene.records import Entity
from lodestar.worldmodel.amendments import Amendment, Change, ClosedWay
from lodestar.worldmodel.outcomes import Cause, Diagnosis

AUTHOR = "recovery"
_HALF_PANE = 0.45  # m to each side that are closed where nothing is seen: half a door
_GONE = frozenset({Cause.TARGET_REMOVED, Cause.TARGET_MOVED})
#: What the grid shows needs no closed way, unless it is to be gone round before it has gone.
_WAYS = frozenset({Cause.DOOR_CLOSED, Cause.WAY_BLOCKED_MOVING, Cause.UNSEEN_OBSTACLE})


def corrections(
    case: OpenCase,
    diagnosis: Diagnosis,
    entity: Entity | None,
    contact: tuple[float, float] | None,
    stamp: float,
    config: RecoveryConfig,
) -> tuple[Amendment, ...]:
    """Return the amendments of a diagnosis. entity: that the action is about, as it is now; None = it is archived.

    contact: (x, y) in map, where the robot was held. stamp: seconds, now.
    """
    if not config.corrects:
        return ()
    cause, trace_id, identity = diagnosis.cause, case.action.trace.id, case.action.entity_id
    if cause in _GONE and identity:
        if entity is not None:  # it was seen in another place: its entity has moved along
            return ()
        return (Amendment(Change.ARCHIVE, diagnosis.text, AUTHOR, identity, trace_id=trace_id),)
    if cause is Cause.TARGET_MISLABELLED and entity is not None:
        return (
            Amendment(
                Change.RELABEL, diagnosis.text, AUTHOR, identity, label=entity.label, trace_id=trace_id
            ),
        )
    if cause is Cause.TARGET_OCCLUDED and identity:
        return (Amendment(Change.DOUBT, diagnosis.text, AUTHOR, identity, trace_id=trace_id),)
    way = _closed(case, cause, contact, stamp, config) if cause in _WAYS else None
    return () if way is None else (
        Amendment(Change.CLOSE_WAY, diagnosis.text, AUTHOR, way=way, trace_id=trace_id),
    )  # fmt: skip


def _closed(
    case: OpenCase, cause: Cause, contact: tuple[float, float] | None, stamp: float, config: RecoveryConfig
) -> ClosedWay | None:
    seconds = {
        Cause.DOOR_CLOSED: config.door_closed,
        Cause.WAY_BLOCKED_MOVING: config.moving_closed,
        Cause.UNSEEN_OBSTACLE: config.unseen_closed,
    }[cause]
    if cause is Cause.UNSEEN_OBSTACLE:
        if contact is None or case.start is None:
            return None
        heading = math.atan2(contact[1] - case.start[1], contact[0] - case.start[0])
        across = -math.sin(heading) * _HALF_PANE, math.cos(heading) * _HALF_PANE
        ends = (
            (contact[0] - across[0], contact[1] - across[1]),
            (contact[0] + across[0], contact[1] + across[1]),
        )
        return ClosedWay(*ends, stamp + seconds, cause.value, seen_free_opens=False)
    if case.blockage is None:
        return None
    return ClosedWay(*case.blockage.ends, stamp + seconds, cause.value)
