"""Records of changes to what is believed: of the scene's entities, and of ways that are closed (VLM-DEWM 3.1.5)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from lodestar.storage.records import Length, Until
from lodestar.worldmodel.records import Belief


class Change(Enum):
    """Kinds of amendments."""

    ARCHIVE = "ARCHIVE"  # an entity is gone
    RESTORE = "RESTORE"  # it is there after all
    DOUBT = "DOUBT"  # it is to be looked at before it is acted on
    RELABEL = "RELABEL"  # it is something else: `label`
    RELATE = "RELATE"  # `belief` holds, or does not where it is negated
    CLOSE_WAY = "CLOSE_WAY"  # nobody passes `way` until it expires
    OPEN_WAY = "OPEN_WAY"  # `way` is passable again


OF_STATE = frozenset({Change.ARCHIVE, Change.RESTORE, Change.DOUBT})  # each replaces what another set
OF_WAYS = frozenset({Change.CLOSE_WAY, Change.OPEN_WAY})  # the others are of the scene


@dataclass(frozen=True)
class ClosedWay:
    """A segment on the floor that cannot be passed, in map, metres.

    expires: stamp in seconds, inf = until it is opened.
    seen_free_opens: whether depth that passes through it opens it before.
    """

    start: tuple[Length, Length]
    end: tuple[Length, Length]
    expires: Until = float("inf")
    cause: str = ""
    seen_free_opens: bool = True


@dataclass(frozen=True)
class Amendment:
    """One change of what is believed. author: "recovery", "operator", ...; trace_id: "" = of no action."""

    change: Change
    reason: str
    author: str
    entity_id: int = 0
    label: str = ""
    belief: Belief | None = None
    way: ClosedWay | None = None
    trace_id: str = ""


def moved_way(way: ClosedWay, jump: np.ndarray) -> ClosedWay:
    """Return a closed way after a correction of the map by (4, 4), in map."""
    ends = np.array([[*way.start, 0.0], [*way.end, 0.0]]) @ jump[:3, :3].T + jump[:3, 3]
    (x0, y0), (x1, y1) = ends[:, :2].tolist()
    return replace(way, start=(x0, y0), end=(x1, y1))


def moved_amendment(amendment: Amendment, jump: np.ndarray) -> Amendment:
    """Return an amendment after a correction of the map by (4, 4), in map."""
    return amendment if amendment.way is None else replace(amendment, way=moved_way(amendment.way, jump))


def middle_of(way: ClosedWay) -> tuple[float, float]:
    """Return the middle of a closed way, in map, metres."""
    return (way.start[0] + way.end[0]) / 2.0, (way.start[1] + way.end[1]) / 2.0
