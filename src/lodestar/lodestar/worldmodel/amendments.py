"""Records of amendments: changes of beliefs about entities, relations and closed ways (VLM-DEWM 3.1.5)."""

from __future__ import annotations

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
    RESTORE = "RESTORE"  # the entity is present after all
    DOUBT = "DOUBT"  # the entity must be observed before an action on it
    RELABEL = "RELABEL"  # the entity has another label, `label`
    RELATE = "RELATE"  # `belief` holds, or does not hold if negated
    CLOSE_WAY = "CLOSE_WAY"  # `way` may not be crossed, or entered if it is an area, until it expires
    OPEN_WAY = "OPEN_WAY"  # `way` is open again


OF_STATE = frozenset({Change.ARCHIVE, Change.RESTORE, Change.DOUBT})  # of one entity, the newest holds
OF_WAYS = frozenset({Change.CLOSE_WAY, Change.OPEN_WAY})  # all other kinds change the scene


@dataclass(frozen=True)
class ClosedWay:
    """A segment on the floor that may not be crossed, or an area that may not be entered, in map, metres.

    expires: stamp in seconds, inf = until it is opened. seen_free_opens: whether depth rays through it open
    it earlier; never for an area. area: corners in order, () = a segment. For an area, start and end are two
    distant corners. floor: id of its floor, UNKNOWN = all floors.
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
    """One change of a belief. author: "recovery", "operator", ...; trace_id: of the action, "" = none."""

    change: Change
    reason: str
    author: str
    entity_id: int = 0
    label: str = ""
    belief: Belief | None = None
    way: ClosedWay | None = None
    trace_id: str = ""


def moved_way(way: ClosedWay, correction: MapCorrection) -> ClosedWay:
    """Return a closed way after a correction of the map: all of it moves rigidly, like its middle."""
    jump = correction.at_place(np.array(middle_of(way)))
    points = (
        np.array([(x, y, 0.0) for x, y in (way.start, way.end, *way.area)]) @ jump[:3, :3].T + jump[:3, 3]
    )
    start, end, *area = ((x, y) for x, y, _ in points.tolist())
    return replace(way, start=start, end=end, area=tuple(area))


def moved_amendment(amendment: Amendment, correction: MapCorrection) -> Amendment:
    """Return an amendment with its closed way, if it has one, moved by a correction of the map."""
    return (
        amendment if amendment.way is None else replace(amendment, way=moved_way(amendment.way, correction))
    )


def middle_of(way: ClosedWay) -> tuple[float, float]:
    """Return the middle of a closed way, in map, metres."""
    points = way.area or (way.start, way.end)
    return sum(x for x, _ in points) / len(points), sum(y for _, y in points) / len(points)
