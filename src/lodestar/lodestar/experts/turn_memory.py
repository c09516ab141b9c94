"""Memory of headings looked along at a place, to propose turns that show something new."""

from __future__ import annotations

import math

import numpy as np

from lodestar.experts.protocol import ActionKind
from lodestar.geometry.poses import wrap_angle

TURN_HORIZON = 3  # turns in a row at one place (RoboAtlas IV-F, H = 3)
TURN_PLACE = 2.0  # metres within which two views are at the same place; chosen
TURN_LOOKED_ANGLE = math.radians(40.0)  # radians within which a heading counts as looked along; chosen
TURN_MADE_ANGLE = math.radians(15.0)  # radians within which a proposed turn counts as made; chosen
TURN_MEMORY = 500  # views that are remembered; chosen

#: Turn of each action, radians, left positive (RoboAtlas eq. 21).
TURNS = {
    ActionKind.TURN_LEFT: math.radians(75.0),
    ActionKind.TURN_RIGHT: math.radians(-75.0),
    ActionKind.TURN_AROUND: math.pi,
}


class TurnMemory:
    """Stores headings looked along, by place, and proposes at most TURN_HORIZON turns per place. A proposed
    turn that the robot did not make does not count.
    """

    def __init__(self) -> None:
        self._views: list[tuple[float, float, float]] = []
        self._anchor: tuple[float, float] | None = None
        self._turns = 0
        self._proposed: float | None = None

    def looked(self, x: float, y: float, heading: float) -> None:
        """Record a view along `heading` from (x, y)."""
        self._count(x, y, heading)
        last = self._views[-1] if self._views else None
        still = last is not None and math.hypot(last[0] - x, last[1] - y) < 0.1
        if last is not None and still and abs(float(wrap_angle(last[2] - heading))) < math.radians(5.0):
            return
        self._views.append((x, y, heading))
        del self._views[:-TURN_MEMORY]

    def has_looked(self, x: float, y: float, heading: float) -> bool:
        """Return whether a view was recorded from this place at about this heading."""
        views = np.array(self._views).reshape(-1, 3)
        near = np.hypot(views[:, 0] - x, views[:, 1] - y) <= TURN_PLACE
        return bool((near & (np.abs(wrap_angle(views[:, 2] - heading)) <= TURN_LOOKED_ANGLE)).any())

    def fresh(self, pose: np.ndarray) -> tuple[ActionKind, ...]:
        """Return the turns that show something new from here; () after TURN_HORIZON turns at this place."""
        here = (float(pose[0]), float(pose[1]))
        if self._anchor is None or math.dist(here, self._anchor) > TURN_PLACE:
            self._anchor, self._turns, self._proposed = here, 0, None
        if self._turns >= TURN_HORIZON:
            return ()
        return tuple(a for a in TURNS if not self.has_looked(*here, float(wrap_angle(pose[2] + TURNS[a]))))

    def propose(self, heading: float) -> None:
        """Store that a turn to this heading was proposed at this place."""
        self._proposed = heading

    def _count(self, x: float, y: float, heading: float) -> None:
        """Count a turn at this place if the view at `heading` shows that the proposed turn was made."""
        if self._proposed is None or self._anchor is None or math.dist((x, y), self._anchor) > TURN_PLACE:
            return
        if abs(float(wrap_angle(heading - self._proposed))) <= TURN_MADE_ANGLE:
            self._turns += 1
            self._proposed = None
