"""Bounded patience: the robot lets people pass, those whom the camera sees and those who come from elsewhere."""

from __future__ import annotations

import math

import cv2
import numpy as np

from lodestar.grid.occupancy import COMFORT, OccupancyGrid2D

_ABOUT = 60.0  # s after a person was tracked for which what appears beside the robot may be one; chosen
# m that somebody who is tracked must have gone before that holds; chosen: a table that was taken for somebody moved by
# 0.8 m, and who stands comes from nowhere
_WALKS = 1.5
_BESIDE = 1.2  # m around the robot in which it may come to touch it before the next plan; chosen
_CELLS = 2  # that were free and are occupied, from which on somebody came; chosen: one is noise
_TOUCHING = 0.5  # closeness from which a person may touch the body; that of the follower
_COMES = 0.05  # by which the closeness of where the robot is grows from plan to plan, of one who walks to it; chosen
_STANDS = 3.0  # s for which the robot stands then; chosen: who walks at 0.8 m/s is 1.2 m beyond it
_MIDST = 0.8  # closeness of the middle of a zone, which is as long as the way of one who walks; chosen
_WAY = 0.85  # m, least length of such a middle; chosen: 0.48 m of one who stands, and a second at 0.4 m/s
_AROUND = (
    2.0  # m to it within which a walker may be in the robot's way; chosen: the comfort distance and a second
)
_LONG = (
    5.0  # times the patience for which those who walk are let pass; chosen: half a minute of people who pace
)


class Courtesy:
    """Lets people pass: the robot comes no nearer to them for `patience` seconds, then for `passing` seconds it may.

    So it stands in nobody's way for ever, nor somebody in its way. That is for people who stand: those who walk near
    it go on by themselves, and are let pass for longer. While people are about it also stands when something
    appears beside it where the plan was free: the LiDAR sees those who come from behind.
    """

    def __init__(self, patience: float, passing: float) -> None:
        self._patience, self._passing = patience, passing
        self._waited, self._last, self._until = 0.0, -math.inf, -math.inf
        self._waited_long, self._until_all = 0.0, -math.inf
        self._walkers = np.zeros(0)  # as from `_walkers`
        self._about, self._beside = -math.inf, -math.inf
        self._since: np.ndarray | None = None  # (2,) where people were when they came to be tracked
        self._plan: OccupancyGrid2D | None = None

    def yields(self, now: float) -> bool:
        """Return whether the robot lets people pass now."""
        walks_near = bool((self._walkers <= _AROUND).any())
        return now >= (self._until_all if walks_near else self._until)

    def stands(self, now: float, plan: OccupancyGrid2D, pose: np.ndarray) -> bool:
        """Return whether somebody came beside the robot, at a pose (3,) on the newest plan, a moment ago.

        Also while the robot may come nearer to people who stand: these are no news.
        """
        before, self._plan = self._plan, plan
        if before is not plan:
            self._walkers = _walkers(plan, pose)
        if self._has_walked(plan) and len(self._walkers):
            self._about = now
        if before is not None and before is not plan:
            closer = _closeness(plan, pose) - _closeness(before, pose)
            comes = closer > _COMES and _closeness(plan, pose) >= _TOUCHING
            if comes or (now - self._about <= _ABOUT and _appeared(before, plan, pose) >= _CELLS):
                self._beside = now
        return now - self._beside < _STANDS

    def _has_walked(self, plan: OccupancyGrid2D) -> bool:
        """Return whether people are tracked who have gone far enough since they came to be."""
        if plan.comfort is None or not plan.comfort.any():
            self._since = None
            return False
        place = plan.points_of(np.argwhere(plan.comfort == plan.comfort.max())).mean(axis=0)
        self._since = place if self._since is None else self._since
        return float(np.linalg.norm(place - self._since)) >= _WALKS

    def observe(self, now: float, held_back: bool) -> bool:
        """Note whether a motion was left out for people; return whether the robot waits for them."""
        step = min(max(now - self._last, 0.0), 0.5) if math.isfinite(self._last) else 0.0
        self._last = now
        change = step if held_back else -step / 2.0
        self._waited, self._waited_long = (
            max(0.0, self._waited + change),
            max(0.0, self._waited_long + change),
        )
        if self._waited > self._patience:
            self._waited, self._until = 0.0, now + self._passing
        if self._waited_long > _LONG * self._patience:
            self._waited_long, self._until_all = 0.0, now + self._passing
        return held_back


def _closeness(plan: OccupancyGrid2D, pose: np.ndarray) -> float:
    """Return 1 at a person, 0 from the comfort distance on."""
    cell = plan.cells_of(pose[None, :2])
    if plan.comfort is None or not plan.contains(cell)[0]:
        return 0.0
    return float(plan.comfort[cell[0, 0], cell[0, 1]]) / COMFORT


def _walkers(plan: OccupancyGrid2D, pose: np.ndarray) -> np.ndarray:
    """Return the metres (N,) from the robot to each zone that is as long as that of one who walks."""
    if plan.comfort is None:
        return np.zeros(0)
    count, labels = cv2.connectedComponents(
        (plan.comfort >= _MIDST * COMFORT).astype(np.uint8), connectivity=8
    )
    zones = [plan.points_of(np.argwhere(labels == one)) for one in range(1, count)]
    walks = [zone for zone in zones if np.linalg.norm(np.ptp(zone, axis=0)) >= _WAY]
    return np.array([np.hypot(*(zone - pose[:2]).T).min() for zone in walks])


def _appeared(before: OccupancyGrid2D, plan: OccupancyGrid2D, pose: np.ndarray) -> int:
    """Return how many cells beside the robot were free before and are occupied now."""
    rows, columns = np.nonzero(plan.occupied)
    points = plan.points_of(np.stack([rows, columns], axis=1))
    points = points[np.hypot(points[:, 0] - pose[0], points[:, 1] - pose[1]) <= _BESIDE]
    cells = before.cells_of(points)
    cells = cells[before.contains(cells)]
    return int(before.free[cells[:, 0], cells[:, 1]].sum())
