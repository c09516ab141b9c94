"""Checks of the form of beliefs and amendments, made before they are written or carried out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lodestar.language.query_graph import PREDICATES
from lodestar.worldmodel.amendments import OF_WAYS, Amendment, Change
from lodestar.worldmodel.records import ROBOT, Belief, entity_of, region_of

_ARITY = {"Between": 3, "InRegion": 2, "HasAttribute": 1, "IsCategory": 1}  # default: two arguments
_IDS = range(2**32)
MOST_CORNERS = 64  # of a closed area
LEAST_AREA = 0.01  # m2 of a closed area: four cells of a plan


class MalformedAmendment(ValueError):
    """An amendment lacks data that its change needs; the message names it."""


def belief_fault(belief: Belief) -> str:
    """Return a clause that names a wrong predicate or number of arguments; "" if the belief has no fault."""
    if belief.predicate not in PREDICATES:
        return f"there is no predicate {belief.predicate[:40]!r}"
    if len(belief.arguments) != _ARITY.get(belief.predicate, 2):
        return f"{belief.predicate} has {len(belief.arguments)} arguments"
    return ""


def check_amendment(amendment: Amendment, *, drawn: bool = False) -> None:
    """Raise MalformedAmendment if an amendment lacks its closed way or belief, or if data of it is malformed.

    drawn: whether a person has just drawn the area; then its outline must not cross itself.
    """
    fault = _fault(amendment)
    if not fault and drawn and amendment.change is Change.CLOSE_WAY and amendment.way is not None:
        fault = outline_fault(amendment.way.area)
    if fault:
        raise MalformedAmendment(f"{amendment.change.value}: {fault}")


def _fault(amendment: Amendment) -> str:
    belief = amendment.belief
    if amendment.entity_id not in _IDS:
        return f"{amendment.entity_id} is no entity's id"
    if amendment.change in OF_WAYS:
        return "it names no way" if amendment.way is None else _area_fault(amendment.way.area)
    if amendment.change is not Change.RELATE:
        return ""
    if belief is None:
        return "it names no relation"
    strange = next((n for n in belief.arguments if not _is_name(n)), None)
    if strange is not None:
        return f"{strange[:40]!r} names no entity and no region"
    return belief_fault(belief)


def _area_fault(area: Sequence[tuple[float, float]]) -> str:
    """Return a clause that names the fault of a closed area's corners; "" if there is none, or no area."""
    if not area:
        return ""
    if not 3 <= len(area) <= MOST_CORNERS:
        return f"an area has 3 to {MOST_CORNERS} corners, and not {len(area)}"
    x, y = np.array(area).T
    size = abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1))) / 2.0
    return "" if size >= LEAST_AREA else f"an area of {size:.3f} m² closes nothing; draw it larger"


def outline_fault(area: Sequence[tuple[float, float]]) -> str:
    """Return why an area's outline is ambiguous (duplicate corners or a crossing); "" if it is not."""
    corners = np.array(area, float).reshape(-1, 2)
    if len(np.unique(corners, axis=0)) < len(corners):
        return "two corners of the area lie in one place; draw it with every corner once"
    return "the outline of the area crosses itself; draw it again" if _crosses_itself(corners) else ""


def _crosses_itself(corners: np.ndarray) -> bool:
    """Return whether two edges of the polygon (N, 2), with distinct corners, meet anywhere but at their common
    corner.
    """
    begin, end = corners, np.roll(corners, -1, axis=0)
    to_begin = _sides(begin, end, begin)  # [edge, other]: side of the edge on which the other edge begins
    to_end = np.roll(to_begin, -1, axis=1)
    low, high = np.minimum(begin, end), np.maximum(begin, end)
    near = ((low[:, None] <= high) & (low <= high[:, None])).all(axis=-1)
    apart = (to_begin * to_end > 0) | ((to_begin * to_end).T > 0)
    meets = near & ~apart
    number = np.arange(len(corners))
    away = (number[:, None] - number) % max(len(corners), 1)
    step = end - begin
    folded = (np.diag(np.roll(to_end, -1, axis=1)) == 0) & (
        (step * np.roll(step, -1, axis=0)).sum(axis=1) < 0
    )
    return bool((meets & (away > 1) & (away < len(corners) - 1)).any() or folded.any())


def _sides(begin: np.ndarray, end: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return (N, M) 1, 0 or -1: the side of each line through begin and end (N, 2) on which each point (M, 2)
    lies.
    """
    step, to = end - begin, points[None] - begin[:, None]
    return np.sign(step[:, None, 0] * to[..., 1] - step[:, None, 1] * to[..., 0])


def _is_name(name: str) -> bool:
    return name == ROBOT or entity_of(name) is not None or region_of(name) is not None
