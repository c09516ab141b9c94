"""The context that the bandit sees (RoboAtlas IV-A)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

FEATURES = ("bias", "coverage", "coverage_rate", "backtracking", "last_arm_x_vlm", "similarity", "vlm")


@dataclass(frozen=True)
class ContextConfig:
    """Scales that bring every feature to about [0, 1].

    coverage_scale: m^2 at which the coverage feature 1 - exp(-area / scale) is 0.63; nobody knows how large
    an unknown building is. rate_scale: m^2 newly known per decision that count as 1.
    backtracking_radius: metres from the trail within which a goal retraces it; trail_recent: metres of the
    trail's end that do not count. similarity_scale: V_sim (eq. 4) that counts as 1. trail_step: metres
    between trail points.
    """

    coverage_scale: float = 100.0
    rate_scale: float = 10.0
    backtracking_radius: float = 1.0
    trail_recent: float = 2.0
    similarity_scale: float = 3.0
    trail_step: float = 0.25


class ContextBuilder:
    """Turns what is known at a decision into a feature vector per arm; remembers trail and last coverage."""

    names = FEATURES

    def __init__(self, config: ContextConfig, arms: tuple[str, ...]) -> None:
        self.config = config
        self.arms = arms
        self._trail: list[tuple[float, float]] = []
        self._last_area: float | None = None
        self._last_arm = -1

    def observe_pose(self, pose: np.ndarray) -> None:
        """The trail leads to pose (3,)."""
        point = (float(pose[0]), float(pose[1]))
        if not self._trail or math.dist(point, self._trail[-1]) >= self.config.trail_step:
            self._trail.append(point)

    def coverage(self, area: float) -> float:
        """Coverage feature of `area` m^2 known free, in [0, 1)."""
        return 1.0 - math.exp(-max(area, 0.0) / self.config.coverage_scale)

    def rate(self, area: float, before: float) -> float:
        """Coverage-rate feature, in [0, 1]."""
        return min(max((area - before) / self.config.rate_scale, 0.0), 1.0)

    def similarity(self, v_sim: float) -> float:
        """V_sim (eq. 4) scaled to [0, 1]."""
        return min(max(v_sim / self.config.similarity_scale, 0.0), 1.0)

    def backtracks(self, goal: Sequence[float] | np.ndarray) -> bool:
        """Whether a goal (x, y, ...) lies by a part of the trail that is not its very end (B_t)."""
        keep = len(self._trail) - int(self.config.trail_recent / self.config.trail_step)
        if keep <= 0:
            return False
        trail = np.array(self._trail[:keep])
        offset = np.hypot(trail[:, 0] - goal[0], trail[:, 1] - goal[1])
        recent = np.array(self._trail[keep:])
        ahead = np.hypot(recent[:, 0] - goal[0], recent[:, 1] - goal[1]).min(initial=np.inf)
        return bool(
            offset.min() <= self.config.backtracking_radius and ahead > self.config.backtracking_radius
        )

    def build(self, area: float, goals: dict[str, np.ndarray], v_vlm: float, v_sim: float) -> np.ndarray:
        """Feature vectors (A, d) float64, one row per arm; they differ in backtracking only.

        area: m^2 known free. goals: arm -> goal (3,) of the arms that have one. v_vlm: confidence of the
        egocentric expert in [0, 1]. v_sim: eq. 4.
        """
        before = area if self._last_area is None else self._last_area
        last = (self._last_arm + 1) / len(self.arms)  # a_{t-1} in 1..A, 0 = none yet
        shared = {
            "bias": 1.0,
            "coverage": self.coverage(area),
            "coverage_rate": self.rate(area, before),
            "backtracking": 0.0,
            "last_arm_x_vlm": last * v_vlm,
            "similarity": self.similarity(v_sim),
            "vlm": v_vlm,
        }
        contexts = np.repeat(np.array([[shared[name] for name in self.names]]), len(self.arms), axis=0)
        column = self.names.index("backtracking")
        for index, arm in enumerate(self.arms):
            if arm in goals:
                contexts[index, column] = float(self.backtracks(goals[arm]))
        return contexts

    def chosen(self, arm: int, area: float) -> None:
        """The next context is relative to this choice."""
        self._last_arm, self._last_area = arm, area
