"""Directions in view that are worth going to, by geometry and the room belief: doors, corridors, open floor."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from lodestar.experts.config import ApproachConfig, DirectionConfig, ReachConfig
from lodestar.experts.facing_places import place_towards
from lodestar.experts.protocol import ActionKind, Proposal, ProposalRequest
from lodestar.experts.reach import Reach
from lodestar.experts.room_belief import RoomBelief, hidden_floor
from lodestar.experts.unseen_floor import UnseenFloor
from lodestar.geometry.poses import wrap_angle
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.visibility import visible_mask
from lodestar.models.phrases import PhraseBook
from lodestar.perception.frames import RgbdFrame
from lodestar.scene.mirror import SceneMirror


@dataclass(frozen=True)
class Direction:
    """An open sector of the view. bearing: radians in map. half: radians. depth: metres."""

    bearing: float
    half: float
    depth: float


class ViewDirections:
    """Propose the open direction behind which the target most probably is."""

    def __init__(
        self, config: DirectionConfig, phrases: PhraseBook, reach: ReachConfig, approach: ApproachConfig
    ) -> None:
        self._config, self._reach, self._approach = config, reach, approach
        self._belief = RoomBelief(phrases, config.belief)
        self._floor = UnseenFloor(config.look_limits, config.viewpoints.camera_height, 0.0)

    def set_grid(self, grid: OccupancyGrid2D) -> None:
        """Follow the grid."""
        self._floor.set_grid(grid)

    def set_view(self, frame: RgbdFrame) -> None:
        """Record a view: what it shows counts as looked at."""
        self._floor.add_view(frame.map_from_camera, frame.camera, frame.stamp)

    def propose(
        self, expert: str, request: ProposalRequest, frame: RgbdFrame, grid: OccupancyGrid2D,
        mirror: SceneMirror | None,
    ) -> Proposal | None:  # fmt: skip
        """Return a goal along the best direction; None where none is open, likely enough and reachable. Call `set_grid`
        with the grid first.
        """
        ways = open_directions(frame, self._config)
        belief = self._belief.over(request, grid, mirror) if ways and mirror is not None else None
        if belief is None or mirror is None:
            return None
        unseen = self._floor.wanted(request, grid, mirror)[0]
        hidden = hidden_floor(grid, unseen, self._config.unknown_share, self._config.beyond)
        shares = belief.shares(hidden, self._config.rest / grid.resolution**2)
        eye = frame.map_from_camera[:2, 3]
        chances = [self._chance(grid, eye, way, shares) for way in ways]
        reach = Reach(grid, request.robot_pose, self._reach)
        for index in np.argsort(-np.array(chances), kind="stable"):
            chance, way = chances[index], ways[index]
            if chance < self._config.least:
                return None
            end = eye + way.depth * np.array([math.cos(way.bearing), math.sin(way.bearing)])
            goal = place_towards(reach, request.robot_pose, end, request.excluded_goals, self._approach)
            if goal is not None:
                return Proposal(
                    expert=expert,
                    epoch=request.epoch,
                    goal=goal,
                    confidence=min(chance, 1.0),
                    rationale=f"Nothing in view fits; the way is open for {way.depth:.1f} m, and it is likely to be "
                    f"behind that ({chance:.0%}); going there",
                    stamp=frame.stamp,
                    chance=min(chance, 1.0),
                    seconds=reach.seconds(goal),
                )
        return None

    def _chance(self, grid: OccupancyGrid2D, eye: np.ndarray, way: Direction, shares: np.ndarray) -> float:
        """Return the probability that the target is on floor of the sector that was not looked at."""
        reach = way.depth + self._config.beyond
        seen = visible_mask(grid, eye, reach, 2.0 * way.half, way.bearing)
        return float(shares[seen].sum())


def open_directions(frame: RgbdFrame, config: DirectionConfig) -> list[Direction]:
    """Return the open sectors of a view, from left to right.

    A pixel without depth, as beyond the camera's range, counts as far as its sector was measured on the floor or
    elsewhere: the way is open at least so far. A sector with few measured pixels has no depth.
    """
    height, width = frame.depth.shape
    rows = slice(int(config.rows[0] * height), max(int(config.rows[1] * height), 1))
    measured = np.isfinite(frame.depth) & (frame.depth > 0.0)
    pose = frame.map_from_camera
    heading = math.atan2(pose[1, 2], pose[0, 2])
    edges = np.linspace(0, width, config.sectors + 1).astype(int)
    found = []
    for left, right in itertools.pairwise(edges):
        part, valid = frame.depth[:, left:right], measured[:, left:right]
        if not valid.size or valid.mean() < config.measured:
            continue
        far = np.quantile(part[valid], config.farthest)
        band = np.where(valid[rows], part[rows], far)
        sides = [math.atan2(frame.camera.cx - column, frame.camera.fx) for column in (left, right)]
        middle = sum(sides) / 2.0
        depth = float(np.quantile(band, config.quantile)) / math.cos(middle)
        if depth >= config.open_depth:
            bearing = float(wrap_angle(heading + middle))
            found.append(Direction(bearing, abs(sides[0] - sides[1]) / 2.0, depth))
    return found


def openness(frame: RgbdFrame, full: float) -> dict[str, float]:
    """Return by name of a turn the share, [0, 1], of `full` metres that is open at the view's left and right edge; what
    is behind the robot is not known.
    """
    third = max(frame.depth.shape[1] // 3, 1)

    def share(part: np.ndarray) -> float:
        valid = part[np.isfinite(part) & (part > 0.0)]
        return min(float(np.median(valid)) / full, 1.0) if valid.size else 0.0

    left, right = share(frame.depth[:, :third]), share(frame.depth[:, -third:])
    return {
        ActionKind.TURN_LEFT.name: left,
        ActionKind.TURN_RIGHT.name: right,
        ActionKind.TURN_AROUND.name: 0.0,
    }
