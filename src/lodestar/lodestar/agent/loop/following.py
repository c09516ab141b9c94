"""Updates of stored places when a loop closure moves the part of the map around them (ADR 0095)."""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from lodestar.agent.errands.context import LoopContext
from lodestar.geometry.corrections import Anchor
from lodestar.geometry.map_correction import MapCorrection
from lodestar.geometry.poses import planar_pose, planar_transform


class MapFollower:
    """Moves the current goal, named poses, the robot's first pose and the begin of the directive when the map is
    corrected.
    """

    def __init__(self, context: LoopContext) -> None:
        self._context, self._anchor = context, Anchor()

    def take(self, map_from_odom: np.ndarray, odom_from_sensor: np.ndarray, stamp: float) -> None:
        """Store the transform map <- odom and the robot's pose in odom, (4, 4) each, and apply a correction;
        non-finite poses are ignored.
        """
        with (
            suppress(ValueError),
            self._anchor.correction(map_from_odom, odom_from_sensor, stamp) as correction,
        ):
            if correction is not None:
                self._move(correction)

    def _move(self, correction: MapCorrection) -> None:
        facts, run = self._context.facts, self._context.run
        if facts.home is not None:
            facts.home = moved_pose(facts.home, correction)
        if run is None:
            return
        if run.begun_at is not None:
            run.begun_at = moved_pose(run.begun_at, correction)
        run.named = {index: moved_pose(pose, correction) for index, pose in run.named.items()}
        if run.errand.place is not None:
            run.errand.place = moved_pose(run.errand.place, correction)
        navigation = run.under_way.navigation
        if navigation is not None:
            goal = navigation.proposal.goal if navigation.moved is None else navigation.moved
            navigation.moved = moved_pose(np.asarray(goal, np.float64), correction)


def moved_pose(pose: np.ndarray, correction: MapCorrection) -> np.ndarray:
    """Return the new position in map of a pose (3,) x, y, yaw, after the correction of its part of the map.
    NaN yaw = any heading.
    """
    return planar_pose(correction.at_place(pose[:2]) @ planar_transform(*pose))
