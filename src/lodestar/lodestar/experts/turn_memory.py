"""Headings looked along at a place, and the turns that show something new."""

from __future__ import annotations

import math

import numpy as np

from lodestar.experts.config import TurnConfig
from lodestar.experts.protocol import ActionKind
from lodestar.geometry.poses import wrap_angle

#: Turn of each action, radians, left positive (RoboAtlas eq. 21).
TURNS = {
    ActionKind.TURN_LEFT: math.radians(75.0),
    ActionKind.TURN_RIGHT: math.radians(-75.0),
    ActionKind.TURN_AROUND: math.pi,
}


class TurnMemory:
    """Headings looked along, by place, and the turns made there. Each turn that was made is a step of the horizon; a
    proposed turn that the robot did not make is not.
    """

    def __init__(self, config: TurnConfig) -> None:
        self._config = config
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
        del self._views[: -self._config.memory]

    def has_looked(self, x: float, y: float, heading: float) -> bool:
        """Return whether a view from this place had about this heading."""
        views = np.array(self._views).reshape(-1, 3)
        near = np.hypot(views[:, 0] - x, views[:, 1] - y) <= self._config.place
        return bool((near & (np.abs(wrap_angle(views[:, 2] - heading)) <= self._config.looked_angle)).any())

    def fresh(self, pose: np.ndarray) -> tuple[ActionKind, ...]:
        """Return the turns that show something new from here; none once the horizon is reached."""
        here = (float(pose[0]), float(pose[1]))
        if self._anchor is None or math.dist(here, self._anchor) > self._config.place:
            self._anchor, self._turns, self._proposed = here, 0, None
        if self._turns >= self._config.horizon:
            return ()
        return tuple(a for a in TURNS if not self.has_looked(*here, float(wrap_angle(pose[2] + TURNS[a]))))

    def propose(self, heading: float) -> None:
        """Record that a turn to this heading was proposed at this place."""
        self._proposed = heading

    def _count(self, x: float, y: float, heading: float) -> None:
        """Count a step of the horizon if the proposed turn was made."""
        if (
            self._proposed is None
            or self._anchor is None
            or math.dist((x, y), self._anchor) > self._config.place
        ):
            return
        if abs(float(wrap_angle(heading - self._proposed))) <= self._config.made_angle:
            self._turns += 1
            self._proposed = None
