"""Checks of beliefs and amendments by their form alone, before anything is written or carried out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lodestar.language.query_graph import PREDICATES
from lodestar.worldmodel.amendments import OF_WAYS, Amendment, Change
from lodestar.worldmodel.records import ROBOT, Belief, entity_of, region_of

_ARITY = {"Between": 3, "InRegion": 2, "HasAttribute": 1, "IsCategory": 1}  # the others have two arguments
_IDS = range(2**32)
MOST_CORNERS = 64  # of a closed area
LEAST_AREA = 0.01  # m2 of a closed area: four cells of a plan


class MalformedAmendment(ValueError):
    """An amendment lacks what its change needs; the message says what."""


def belief_fault(belief: Belief) -> str:
    """Return what is wrong with the predicate or the number of arguments; "" = nothing."""
    if belief.predicate not in PREDICATES:
        return f"there is no predicate {belief.predicate[:40]!r}"
    if len(belief.arguments) != _ARITY.get(belief.predicate, 2):
        return f"{belief.predicate} has {len(belief.arguments)} arguments"
    return ""


def check_amendment(amendment: Amendment) -> None:
    """Raise MalformedAmendment where a way or a belief is missing, or a belief or an id is malformed."""
    fault = _fault(amendment)
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
    """Return what is wrong with the corners of a closed area; "" = nothing, or there are none."""
    if not area:
        return ""
    if not 3 <= len(area) <= MOST_CORNERS:
        return f"an area has 3 to {MOST_CORNERS} corners, and not {len(area)}"
    x, y = np.array(area).T
    size = abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1))) / 2.0
    return "" if size >= LEAST_AREA else f"an area of {size:.3f} m² closes nothing; draw it larger"


def _is_name(name: str) -> bool:
    return name == ROBOT or entity_of(name) is not None or region_of(name) is not None
