"""Areas that a person closes, as records of the world model."""

from __future__ import annotations

import math
from collections.abc import Sequence

from lodestar.worldmodel.amendments import ClosedWay


def closed_area(
    corners: Sequence[tuple[float, float]], cause: str, expires: float = float("inf")
) -> ClosedWay:
    """Return the area with these corners, in order, as a closed way. cause: a person's words for it."""
    start = corners[0]
    end = max(corners, key=lambda corner: math.dist(start, corner))
    return ClosedWay(start, end, expires, cause, False, tuple(corners))
