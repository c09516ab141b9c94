"""Open directions in view that are worth following, by geometry and the room belief: doors, corridors, open floor."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from lodestar.experts.config import STOP_BEYOND, DirectionConfig, ReachConfig
from lodestar.experts.facing_places import place_towards
from lodestar.experts.protocol import ActionKind, Proposal, ProposalRequest
from lodestar.experts.reach import Reach
from lodestar.experts.room_belief import RoomBelief, hidden_floor
from lodestar.experts.unseen_floor import UnseenFloor
from lodestar.geometry.poses import wrap_angle
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.visibility import visible_mask
from lodestar.models.phrases import PhraseBook
from lodestar.perception.frames import CameraLook, RgbdFrame
from lodestar.scene.mirror import SceneMirror

DIRECTION_SECTORS = 7  # sectors of the image's width; chosen: about 12 degrees each
# share of the image's height in which depth is read; chosen: the horizon
DIRECTION_ROWS = (0.35, 0.65)
# quantile of the depths of a sector that is its depth; chosen: a door frame is part of a sector
DIRECTION_QUANTILE = 0.8
DIRECTION_MEASURED = 0.2  # least share of a sector's pixels with depth; chosen: half of what floor fills
# quantile of a sector's depths that a pixel without depth counts as; chosen: not a stray one
DIRECTION_FARTHEST = 0.98
# metres of depth from which a sector is open; chosen: more than a step into a room
DIRECTION_OPEN_DEPTH = 3.0
DIRECTION_BEYOND = 3.0  # metres behind a sector's depth in which floor counts; as LIKELY_BEHIND


@dataclass(frozen=True)
class Direction:
    """An open sector of the view. bearing: of its middle, radians in map. half: half of its width, radians.
    depth: metres.
    """

    bearing: float
    half: float
    depth: float


class ViewDirections:
    """Proposes the open direction behind which the target most probably is."""

    def __init__(self, config: DirectionConfig, phrases: PhraseBook, reach: ReachConfig) -> None:
        self._config, self._reach = config, reach
        self._belief = RoomBelief(phrases, config.belief)
        self._floor = UnseenFloor(config.look_limits, config.viewpoints.camera_height, 0.0)

    def set_grid(self, grid: OccupancyGrid2D) -> None:
        """Set the grid."""
        self._floor.set_grid(grid)

    def set_view(self, frame: RgbdFrame) -> None:
        """Record a view: its cells count as looked at, if it is a look."""
        look = CameraLook.of(frame)
        if look is not None:
            self._floor.add_view(look.map_from_camera, look.camera, look.stamp)

    def propose(
        self, expert: str, request: ProposalRequest, frame: RgbdFrame, grid: OccupancyGrid2D,
        mirror: SceneMirror | None,
    ) -> Proposal | None:  # fmt: skip
        """Return a goal along the best direction; None if none is open, likely enough and reachable.
        `set_grid` must have been called with this grid. expert: name on the proposal.
        """
        ways = open_directions(frame)
        belief = self._belief.over(request, grid, mirror) if ways and mirror is not None else None
        if belief is None or mirror is None:
            return None
        self._floor.begin(request, mirror)
        left = self._floor.left(request, grid, mirror)[0]
        hidden = hidden_floor(grid, left, self._config.unknown_share, DIRECTION_BEYOND)
        shares = belief.shares(hidden, STOP_BEYOND / grid.resolution**2)
        eye = frame.map_from_camera[:2, 3]
        chances = [self._chance(grid, eye, way, shares) for way in ways]
        reach = Reach(grid, request.robot_pose, self._reach)
        for index in np.argsort(-np.array(chances), kind="stable"):
            chance, way = chances[index], ways[index]
            if chance < self._config.least:
                return None
            end = eye + way.depth * np.array([math.cos(way.bearing), math.sin(way.bearing)])
            goal = place_towards(reach, request.robot_pose, end, request.excluded_goals)
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
        """Return the probability that the target is on unseen floor of the sector."""
        reach = way.depth + DIRECTION_BEYOND
        seen = visible_mask(grid, eye, reach, 2.0 * way.half, way.bearing)
        return float(shares[seen].sum())


def open_directions(frame: RgbdFrame) -> list[Direction]:
    """Return the open sectors of a view, from left to right.

    A pixel without depth, such as beyond the camera's range, counts as far as the farthest measured depth of its
    sector: the path is open at least that far. A sector with few measured pixels has no depth.
    """
    height, width = frame.depth.shape
    rows = slice(int(DIRECTION_ROWS[0] * height), max(int(DIRECTION_ROWS[1] * height), 1))
    measured = np.isfinite(frame.depth) & (frame.depth > 0.0)
    pose = frame.map_from_camera
    heading = math.atan2(pose[1, 2], pose[0, 2])
    edges = np.linspace(0, width, DIRECTION_SECTORS + 1).astype(int)
    found = []
    for left, right in itertools.pairwise(edges):
        part, valid = frame.depth[:, left:right], measured[:, left:right]
        if not valid.size or valid.mean() < DIRECTION_MEASURED:
            continue
        far = np.quantile(part[valid], DIRECTION_FARTHEST)
        band = np.where(valid[rows], part[rows], far)
        sides = [math.atan2(frame.camera.cx - column, frame.camera.fx) for column in (left, right)]
        middle = sum(sides) / 2.0
        depth = float(np.quantile(band, DIRECTION_QUANTILE)) / math.cos(middle)
        if depth >= DIRECTION_OPEN_DEPTH:
            bearing = float(wrap_angle(heading + middle))
            found.append(Direction(bearing, abs(sides[0] - sides[1]) / 2.0, depth))
    return found


def openness(frame: RgbdFrame, full: float) -> dict[str, float]:
    """Return turn name -> share, [0, 1], of `full` metres that is open at the view's left and right edge; 0 for the
    space behind the robot, which is unknown.
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
