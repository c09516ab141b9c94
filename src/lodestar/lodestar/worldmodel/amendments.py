"""Records of changes to what is believed: of the scene's entities, and of ways that are closed (VLM-DEWM 3.1.5)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from lodestar.floors.records import UNKNOWN
from lodestar.geometry.map_correction import MapCorrection
from lodestar.storage.records import Length, Number, Until
from lodestar.worldmodel.records import Belief


class Change(Enum):
    """Kinds of amendments."""

    ARCHIVE = "ARCHIVE"  # an entity is gone
    RESTORE = "RESTORE"  # it is there after all
    DOUBT = "DOUBT"  # it is to be looked at before it is acted on
    RELABEL = "RELABEL"  # it is something else: `label`
    RELATE = "RELATE"  # `belief` holds, or does not where it is negated
    CLOSE_WAY = "CLOSE_WAY"  # nobody passes `way`, or enters it where it is an area, until it expires
    OPEN_WAY = "OPEN_WAY"  # `way` is open again


OF_STATE = frozenset({Change.ARCHIVE, Change.RESTORE, Change.DOUBT})  # each replaces what another set
OF_WAYS = frozenset({Change.CLOSE_WAY, Change.OPEN_WAY})  # the others are of the scene


@dataclass(frozen=True)
class ClosedWay:
    """A segment on the floor that cannot be passed, or an area that nobody enters, in map, metres.

    expires: stamp in seconds, inf = until it is opened.
    seen_free_opens: whether depth that passes through it opens it before; never an area.
    area: corners in turn, () = a segment; start and end are then two of them, far from each other (`closed_area`).
    floor: id of the floor on which it lies, UNKNOWN = on all.
    """

    start: tuple[Length, Length]
    end: tuple[Length, Length]
    expires: Until = float("inf")
    cause: str = ""
    seen_free_opens: bool = True
    area: tuple[tuple[Length, Length], ...] = ()
    floor: Number = UNKNOWN


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


def moved_way(way: ClosedWay, correction: MapCorrection) -> ClosedWay:
    """Return a closed way after a correction of the map: it moves as the place in its middle does."""
    jump = correction.at_place(np.array(middle_of(way)))
    points = (
        np.array([(x, y, 0.0) for x, y in (way.start, way.end, *way.area)]) @ jump[:3, :3].T + jump[:3, 3]
    )
    start, end, *area = ((x, y) for x, y, _ in points.tolist())
    return replace(way, start=start, end=end, area=tuple(area))


def moved_amendment(amendment: Amendment, correction: MapCorrection) -> Amendment:
    """Return an amendment after a correction of the map."""
    return (
        amendment if amendment.way is None else replace(amendment, way=moved_way(amendment.way, correction))
    )


def middle_of(way: ClosedWay) -> tuple[float, float]:
    """Return the middle of a closed way, in map, metres."""
    points = way.area or (way.start, way.end)
    return sum(x for x, _ in points) / len(points), sum(y for _, y in points) / len(points)


def closed_area(
    corners: Sequence[tuple[float, float]], cause: str, expires: float = float("inf")
) -> ClosedWay:
    """Return the area within these corners, in turn, as a closed way. cause: a person's words for it."""
    start = corners[0]
    end = max(corners, key=lambda corner: math.dist(start, corner))
    return ClosedWay(start, end, expires, cause, False, tuple(corners))
