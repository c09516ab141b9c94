"""Goals that show unseen floor of the room in which the target is likeliest, at any distance (RoboAtlas IV-E,
V).
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from lodestar.experts.config import STOP_BEYOND, STOP_DEPTH, LikelyConfig, ReachConfig
from lodestar.experts.coverage import SECTORS
from lodestar.experts.protocol import Proposal, ProposalRequest
from lodestar.experts.reach import Reach
from lodestar.experts.room_belief import Belief, RoomBelief, hidden_floor
from lodestar.experts.unseen_floor import UnseenFloor, view_values
from lodestar.experts.viewpoint_survey import HEADINGS, STOP_WORTH, Stop, Survey, window_sums
from lodestar.geometry.camera import PinholeCamera
from lodestar.geometry.poses import wrap_angle
from lodestar.grid.config import ViewpointConfig
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.models.english import the
from lodestar.models.phrases import PhraseBook
from lodestar.scene.mirror import SceneMirror

# factor by which a room must be likelier per unseen area than all unseen floor on average; chosen
LIKELY_LIFT = 1.2
LIKELY_BEHIND = 3.0  # metres behind known floor to which unknown cells may be floor; chosen: a small room
LIKELY_BESIDE = 0.5  # metres from a room within which unknown cells belong to it; chosen
LIKELY_MIN_GAIN = 0.5  # m^2 that a look must show; the last of FRONTIER_MIN_GAINS
LIKELY_TOP_N = 3  # rooms that are tried, likeliest first; chosen
# radians, horizontal, of a camera before its first view; as `FrontierConfig.fov`
LIKELY_FOV = math.radians(80.0)


class LikelyPlaces:
    """Proposes the viewpoint into a room from which the target is most probably seen. The probability is the
    belief summed over the floor in view; an unknown cell counts as the share `unknown_share` of a floor cell.
    """

    def __init__(
        self, config: LikelyConfig, phrases: PhraseBook, reach: ReachConfig, viewpoints: ViewpointConfig
    ) -> None:
        self._config, self._reach = config, reach
        self._belief = RoomBelief(phrases, config.belief)
        self._floor = UnseenFloor(config.look_limits, viewpoints.camera_height, LIKELY_FOV)

    def set_grid(self, grid: OccupancyGrid2D) -> None:
        """Set the grid."""
        self._floor.set_grid(grid)

    def add_view(self, map_from_camera: np.ndarray, camera: PinholeCamera, stamp: float) -> None:
        """Record a view from this (4, 4) pose (optical frame): its cells count as looked at."""
        self._floor.add_view(map_from_camera, camera, stamp)

    def missed(
        self, request: ProposalRequest, kinds: Iterable[str], mirror: SceneMirror | None
    ) -> list[np.ndarray]:
        """Return the probability, (rows, columns) float32 per kind, that all views missed such a thing in a cell."""
        self._floor.begin(request, mirror)
        return [self._floor.missed(kind) for kind in kinds]

    def propose(
        self, expert: str, request: ProposalRequest, grid: OccupancyGrid2D, mirror: SceneMirror
    ) -> Proposal | None:
        """Return a goal that looks into the likeliest room; None if no room is likelier than an average
        place, or the probability is too small.
        """
        belief = self._belief.over(request, grid, mirror)
        if belief is None or mirror.rooms is None or mirror.rooms.is_empty:
            return None
        self._floor.begin(request, mirror)
        left, closest, views = self._floor.left(request, grid, mirror)
        unseen = left > STOP_WORTH
        shares = self._shares(belief, grid, left)
        cells = np.argwhere(unseen)
        rooms = mirror.rooms.at(grid.points_of(cells), LIKELY_BESIDE)
        chances = np.bincount(rooms, shares[unseen], minlength=1)
        hidden = np.bincount(rooms, self._hidden(grid, left)[unseen], minlength=1)
        average = float(chances.sum()) / max(float(hidden.sum()), 1e-9)
        fits = chances >= np.maximum(self._config.least, LIKELY_LIFT * average * hidden)
        fits[0] = False  # places outside all rooms
        order = [int(i) for i in np.argsort(-chances, kind="stable") if fits[i] and int(i) in mirror.regions]
        reach = Reach(grid, request.robot_pose, self._reach) if order else None
        for room in order[:LIKELY_TOP_N]:
            assert reach is not None
            its, own = np.zeros_like(left), tuple(cells[rooms == room].T)
            its[own] = left[own]
            survey = Survey(
                grid, self._floor.looked, reach.easy, its, closest, self._config.look_limits.range, self._floor.fov,
                belief.weights, np.array(request.excluded_goals, np.float64).reshape(-1, 3), self._config.stops,
                view_values(views),
            )  # fmt: skip
            nothing = np.empty((0, 2))
            stop = survey.best(nothing, nothing, LIKELY_MIN_GAIN, None, robot=request.robot_pose)
            if stop is None:
                continue
            chance = self._shown(survey, stop, unseen, shares)
            if chance >= self._config.least:
                return self._proposal(expert, request, reach, mirror, room, stop, chance)
        return None

    def _shares(self, belief: Belief, grid: OccupancyGrid2D, left: np.ndarray) -> np.ndarray:
        """Return for each cell the probability (rows, columns) that the target is there and was missed so far."""
        hidden = self._hidden(grid, left)
        return belief.shares(hidden, STOP_BEYOND / grid.resolution**2)

    def _hidden(self, grid: OccupancyGrid2D, left: np.ndarray) -> np.ndarray:
        return hidden_floor(grid, left, self._config.stops.unknown_share, LIKELY_BEHIND)

    def _shown(self, survey: Survey, stop: Stop, unseen: np.ndarray, shares: np.ndarray) -> float:
        """Return the probability that the target is on the floor that is in view at the heading of a
        viewpoint (`stop`), inside or beside the room. Floor seen while turning is not counted.
        """
        ahead = (np.arange(SECTORS) == np.abs(wrap_angle(HEADINGS - stop.viewpoint[2])).argmin()).astype(
            float
        )
        index = np.full(unseen.shape, -1, np.int32)
        rows, columns = np.nonzero(unseen)
        index[rows, columns] = np.arange(len(rows))
        seen = self._floor.looked.views(
            stop.viewpoint[None, :2], window_sums(ahead[None], survey.fov) > 0.0, index, survey.view,
            STOP_DEPTH, closest=survey.closest,
        )  # fmt: skip
        return float(shares[rows, columns][seen[0]].sum())

    def _proposal(
        self, expert: str, request: ProposalRequest, reach: Reach, mirror: SceneMirror, room: int, stop: Stop,
        chance: float,
    ) -> Proposal:  # fmt: skip
        region = mirror.regions[room]
        things = [t for t in mirror.entities.values() if t.region_id == room and t.label][:3]
        name = the(region.label) if region.label else f"room {room}"
        return Proposal(
            expert=expert,
            epoch=request.epoch,
            goal=stop.viewpoint.copy(),
            confidence=min(chance, 1.0),
            rationale=f"Looking into {name}, {stop.length:.1f} m away: it is likely to be there ({chance:.0%}), and "
            "not all was looked at",
            evidence_entities=tuple(thing.id for thing in things),
            stamp=request.stamp,
            chance=min(chance, 1.0),
            seconds=reach.seconds(stop.viewpoint, stop.length),
        )


def mean_within(left: np.ndarray, grid: OccupancyGrid2D, low: np.ndarray, high: np.ndarray) -> float:
    """Return the mean of `LookedAt.missed`, (rows, columns), over the floor in a rectangle with the corners low and
    high, (2+,) metres; cells outside the grid count 1.
    """
    first, last = grid.cells_of(np.array([low[:2], high[:2]])) + np.array([[0], [1]])
    window = left[max(first[0], 0) : max(last[0], 0), max(first[1], 0) : max(last[1], 0)]
    outside = int(np.prod(last - first)) - window.size
    floor = window[window > 0.0]
    return (float(floor.sum()) + outside) / max(len(floor) + outside, 1)
