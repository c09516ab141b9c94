"""Frontier expert: viewpoints that show unseen space (RoboAtlas IV-D; SnapMem App. 8)."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import replace

import numpy as np

from lodestar.experts.config import FrontierConfig
from lodestar.experts.frontier_tracker import FrontierRecord, FrontierTracker, find_pieces, middles
from lodestar.experts.heights import Lens, view_heading
from lodestar.experts.progress import Pass, Progress
from lodestar.experts.protocol import Proposal, ProposalRequest, Rejection, RejectionReason
from lodestar.experts.reach import Reach, length_near
from lodestar.experts.room_belief import RoomBelief
from lodestar.experts.rooms import rooms_mask
from lodestar.experts.unseen_floor import UnseenFloor, view_values
from lodestar.experts.viewpoint_survey import Stop, Survey
from lodestar.experts.walls import SteadyWalls
from lodestar.geometry.camera import PinholeCamera
from lodestar.grid.energy import EnergyBudget
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.language.directive import StepKind
from lodestar.models.phrases import PhraseBook
from lodestar.scene.mirror import SceneMirror

# m^2 that a goal must show; the next value is used if no goal reaches the one before. The last goal is kept
# while it shows half as much or, if the next goal is more than twice as far away, while it shows the last
# value; chosen
FRONTIER_MIN_GAINS = (2.0, 0.5)
# m^2 that a goal must show at the end of a search that found nothing; chosen: objects may stand behind furniture
FRONTIER_CORNER_GAIN = 0.15
# metres of driving after which a pass ends if they showed at most FRONTIER_BARREN_AREA; chosen: the remaining
# gains are then only predicted from afar, and vanish from nearby
FRONTIER_BARREN_WAY = 20.0
FRONTIER_BARREN_AREA = 1.0  # m^2 that FRONTIER_BARREN_WAY must show for a pass to go on; chosen
FRONTIER_GAIN_SCALE = 5.0  # m^2 at which the confidence is 0.63; chosen
FRONTIER_AT_CHARGER = 0.5  # metres from the charger within which the robot counts as back; chosen
# limits of a cell's weight by the room belief when viewpoints are chosen; measured
# (docs/measurements/room-belief.md): without limits, small unseen areas beside likely objects draw the robot
# back before it opens new rooms
FRONTIER_WEIGHTS = (0.4, 2.5)

_SEARCHES = (StepKind.FIND, StepKind.LIST, StepKind.COUNT)
NO_WAY = "no way leads to it"
SHOWS_NOTHING = "no reachable place near it would show anything new"
TRIED = "the goals from which it is looked into were given up"
TOO_FAR = "the battery does not last for it and the way back"


class FrontierExpert:
    """Proposes the viewpoint with the largest gain per second (see `StopConfig`).

    phrases: word vectors for the belief of where the target is; likely area counts more. Without them, or without a
    scene, all area counts the same. The robot can reach every goal and, with an energy budget, return from it to the
    charger.
    """

    name = "frontier"

    def __init__(self, config: FrontierConfig = FrontierConfig(), phrases: PhraseBook | None = None) -> None:
        self.config = config
        self._belief = RoomBelief(phrases, config.belief) if phrases is not None else None
        self._mirror: SceneMirror | None = None
        camera = config.viewpoints.camera_height
        self._floor = UnseenFloor(config.look_limits, camera, config.fov)
        self.looked = self._floor.looked
        self._walls = SteadyWalls()
        self._as_seen: OccupancyGrid2D | None = None  # the grid as received, with holes in walls
        self._grid: OccupancyGrid2D | None = None
        self._tracker = FrontierTracker(config.pieces)
        self._frontiers: tuple[FrontierRecord, ...] = ()
        self._last_goal: np.ndarray | None = None
        self._budget = EnergyBudget()
        self._start: tuple[float, float] | None = None
        self._progress = Progress(FRONTIER_BARREN_WAY, FRONTIER_BARREN_AREA)

    def set_grid(self, grid: OccupancyGrid2D) -> None:
        """Plan on this grid."""
        self._as_seen = grid
        self._plan_on(self._walls.closed(grid))

    def _plan_on(self, grid: OccupancyGrid2D) -> None:
        self._grid = grid
        self.looked.set_grid(grid)

    def set_energy(self, budget: EnergyBudget) -> None:
        """Limit goals to this budget. Without a known charger, the robot returns to its pose at the first request."""
        self._budget = budget

    def set_scene(self, mirror: SceneMirror) -> None:
        """Use this mirror of the scene, which may change in place."""
        self._mirror = mirror

    def add_view(
        self, map_from_camera: np.ndarray, camera: PinholeCamera, stamp: float | None = None
    ) -> None:
        """Record a view from this (4, 4) pose (optical frame). Without any view, only geometry counts.

        stamp: seconds; None = that of the newest request or grid.
        """
        if stamp is None:
            stamp = max(self._floor.newest, 0.0 if self._grid is None else self._grid.stamp)
        self._floor.add_view(map_from_camera, camera, stamp)

    def add_image(self, map_from_camera: np.ndarray, camera: PinholeCamera, keyframe_id: int) -> None:
        """Register a stored image taken from this pose. Unlike with `add_view`, the cells in it do not count
        as looked at.
        """
        heading = view_heading(map_from_camera)
        if heading is not None:
            x, y = (float(value) for value in map_from_camera[:2, 3])
            self._tracker.images.add(keyframe_id, x, y, heading, Lens.of(map_from_camera, camera).fov)

    def keep_images(self, keyframe_ids: Collection[int], next_id: int) -> None:
        """Forget stored images that were deleted; their frontiers get another image with the next request.

        keyframe_ids: of all stored images; ids from `next_id` on are newer than this list.
        """
        self._tracker.keep_stored(keyframe_ids, next_id)

    def take_up(self, goal: np.ndarray) -> None:
        """Treat this goal (3,) as the last one that this expert proposed."""
        self._last_goal = np.array(goal, np.float64)

    def frontiers(self) -> tuple[FrontierRecord, ...]:
        """Return the frontier pieces of the newest request; an id lasts as long as its piece."""
        return self._frontiers

    def propose(self, request: ProposalRequest) -> Proposal | Rejection:
        """Return the best viewpoint; the charger if energy is low; EXPLORED if no reachable viewpoint shows new
        space.
        """
        grid = self._grid
        if grid is None:
            return self._reject(request, RejectionReason.NO_DATA, "no grid yet")
        if self._start is None:
            self._start = (float(request.robot_pose[0]), float(request.robot_pose[1]))
        reach = Reach(grid, request.robot_pose, self.config.reach)
        if not np.isfinite(reach.easy).any() and not np.isfinite(reach.possible).any():
            message = "the robot stands too near an obstacle to plan"
            return self._reject(request, RejectionReason.NO_PROPOSAL, message)
        back = self._ways_back(grid)
        if self._budget.limited and self._budget.must_return(length_near(grid, back, request.robot_pose)):
            return self._homeward(request, reach, "the battery says to go back")
        self._floor.begin(request, self._mirror)
        self._progress.advance(request)
        proposal = self._look_on(request, reach, back)
        if proposal is None and self._as_seen is not None and self._as_seen is not grid:
            # last resort: an opening in a former wall is a door that opened unobserved, or a
            # hole
            self._plan_on(self._as_seen)
            reach = Reach(self._as_seen, request.robot_pose, self.config.reach)
            proposal = self._look_on(request, reach, self._ways_back(self._as_seen))
        if proposal is not None:
            return proposal
        self._last_goal = None
        if any(f.reason == TOO_FAR for f in self._frontiers):
            return self._homeward(request, reach, "the battery does not last for what is left to explore")
        hidden = sum(not f.reachable for f in self._frontiers)
        message = "no reachable place would show anything new"
        if self._progress.is_given_up:
            way = f"{FRONTIER_BARREN_WAY:.0f} m of way"
            message = f"what is left is hoped for from afar, and {way} have shown nothing of it"
        message += f"; {hidden} unreachable" if hidden else ""
        return self._reject(request, RejectionReason.EXPLORED, message)

    def _look_on(self, request: ProposalRequest, reach: Reach, back: np.ndarray | None) -> Proposal | None:
        """Return the proposal of the first pass that has a viewpoint; None if no pass has one. A pass is a
        search with one range and one least gain, see `_passes`.
        """
        search = request.step.kind in _SEARCHES and self.looked.count > 0
        for look in self._passes(search):
            if self._progress.barren(reach.grid, self.looked, look, self._floor.chances(request)):
                continue
            for narrow in (False, True):  # narrow passages only if no other goal of this pass is left
                lengths = reach.possible if narrow else reach.easy
                stop = self._best(request, reach.grid, lengths, back, look)
                if stop is not None:
                    self._progress.aim(look, stop.length)
                    return self._proposal(request, reach, stop, look)
        return None

    def _passes(self, search: bool) -> list[Pass]:
        """Return the passes of the search in order, largest least gain first: area that was not looked at, and in a
        search area to look at again, hidden corners last.
        """
        far = self.config.look_limits.range
        passes = []
        for gain in FRONTIER_MIN_GAINS:
            passes.append(Pass(far, gain, "unseen area"))
            passes += [Pass(far, gain, "area to look at again", again=True)] if search else []
        return [*passes, Pass(far, FRONTIER_CORNER_GAIN, "hidden corner", again=True)] if search else passes

    def _reject(self, request: ProposalRequest, reason: RejectionReason, message: str) -> Rejection:
        return Rejection(self.name, request.epoch, reason, message)

    def _proposal(self, request: ProposalRequest, reach: Reach, stop: Stop, look: Pass) -> Proposal:
        assert self._grid is not None
        self._last_goal = stop.viewpoint
        size = f"{stop.gain:.0f} m2" if stop.gain >= 1.0 else f"{stop.gain:.1f} m2"
        if stop.length < 0.3:
            rationale = f"Turning to look into {size} of {look.name}"
        else:
            rationale = f"Exploring towards {size} of {look.name}, {stop.length:.1f} m away"
        image = self._tracker.images.showing(self._grid, _ahead(stop.viewpoint, 1.0))
        return Proposal(
            expert=self.name,
            epoch=request.epoch,
            goal=stop.viewpoint.copy(),
            confidence=1.0 - math.exp(-stop.gain / FRONTIER_GAIN_SCALE),
            rationale=rationale,
            evidence_keyframes=(image,) if image else (),
            stamp=self._grid.stamp,
            chance=stop.share,
            seconds=reach.seconds(stop.viewpoint, stop.length),
        )

    # --- energy ---------------------------------------------------------------------------------------------

    def _ways_back(self, grid: OccupancyGrid2D) -> np.ndarray | None:
        """Return path lengths to the charger, (rows, columns) metres; None without an energy limit."""
        if not self._budget.limited:
            return None
        return Reach(grid, np.array(self._charger), self.config.reach).possible

    @property
    def _charger(self) -> tuple[float, float]:
        """Return the position (x, y) to return to. Requires an earlier request."""
        assert self._start is not None
        return self._start if self._budget.charger is None else self._budget.charger

    def _homeward(self, request: ProposalRequest, reach: Reach, why: str) -> Proposal | Rejection:
        """Propose the charger; reject if the robot is there already or cannot reach it."""
        self._last_goal = None
        left = f"{self._budget.range_left:.0f} m of battery left"
        charger = self._charger
        pose = request.robot_pose
        if math.dist(pose[:2], charger) <= FRONTIER_AT_CHARGER:
            return self._reject(
                request, RejectionReason.NO_PROPOSAL, f"{why}, and this is the charger: {left}"
            )
        way = length_near(reach.grid, reach.possible, np.array(charger))
        if not math.isfinite(way):
            return self._reject(
                request, RejectionReason.NO_PROPOSAL, f"{why}, but no way to the charger is known"
            )
        heading = math.atan2(charger[1] - pose[1], charger[0] - pose[0])
        return Proposal(
            expert=self.name,
            epoch=request.epoch,
            goal=np.array([*charger, heading]),
            confidence=1.0,
            rationale=f"Returning to the charger, {way:.0f} m away: {why} ({left})",
            stamp=reach.grid.stamp,
        )

    # --- the best stop --------------------------------------------------------------------------------------

    def _best(
        self,
        request: ProposalRequest,
        grid: OccupancyGrid2D,
        lengths: np.ndarray,
        back: np.ndarray | None,
        look: Pass,
    ) -> Stop | None:
        """Return the best viewpoint, and update all frontiers for `frontiers()`."""
        afforded = lengths
        if self._budget.limited:
            fits = self._budget.affords(lengths, 0.0 if back is None else back)
            afforded = np.where(fits, lengths, np.float32(np.inf))
        worth, closest, chances = self._floor.left(request, grid, self._mirror, beside=True)
        if not look.again:
            worth = np.where(worth < 1.0, np.float32(0.0), worth)
        inside = rooms_mask(request.step.scope, grid, self._mirror)
        if inside is not None:
            afforded = np.where(inside, afforded, np.float32(np.inf))
        prior = None
        if self._belief is not None and self._mirror is not None:
            belief = self._belief.over(request, grid, self._mirror)
            prior = None if belief is None else np.clip(belief.weights, *FRONTIER_WEIGHTS)
        excluded = np.array(request.excluded_goals, np.float64).reshape(-1, 3)
        gain_range = min(self.config.gain_range, look.range) if self.looked.count else self.config.gain_range
        survey = Survey(
            grid,
            self.looked,
            afforded,
            worth,
            closest,
            gain_range,
            self._floor.fov,
            prior,
            excluded,
            self.config.stops,
            view_values(chances),
        )
        pieces = find_pieces(grid, survey.unseen, lengths, request.robot_pose, self.config.pieces)
        records = self._tracker.follow(grid, pieces)
        points, owners = self._candidates(survey, pieces, records)
        shown = survey.shown(points)
        told = self._told(survey, records, points, owners, shown[:, 0], look.min_gain)
        self._frontiers = self._tracker.keep(told)
        stop = survey.best(
            points, shown, look.min_gain, self._last_goal, min(FRONTIER_MIN_GAINS), robot=request.robot_pose
        )
        if stop is None and self._budget.limited:
            self._tell_of_battery(survey, lengths, pieces, look.min_gain)
        return stop

    def _candidates(
        self, survey: Survey, pieces: list[np.ndarray], records: list[FrontierRecord]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return candidate viewpoints (N, 2) and the index (N,) of the frontier piece that each looks into;
        no points for a piece still out of reach.
        """
        around = self._tracker.surroundings(survey.grid, survey.lengths, pieces)
        asked = [i for i, (r, s) in enumerate(zip(records, around)) if not self._tracker.out_of_reach(r, s)]
        cells, owners = survey.candidates(middles(pieces)[1][asked])
        for place in set(range(len(asked))) - set(owners.tolist()):
            index = asked[place]
            self._tracker.condemn(records[index], around[index], NO_WAY)
        return survey.grid.points_of(cells), np.array(asked, np.int64)[owners]

    def _told(
        self,
        survey: Survey,
        records: list[FrontierRecord],
        points: np.ndarray,
        owners: np.ndarray,
        gains: np.ndarray,
        min_gain: float,
    ) -> list[FrontierRecord]:
        """Return the records, each with its candidate viewpoint of greatest utility (eq. 16) or the reason
        why it has none.
        """
        rows, columns = survey.grid.cells_of(points).T
        lengths = survey.lengths[rows, columns]
        utility = np.where(gains >= min_gain, gains - self.config.alpha * lengths, -np.inf)
        order = np.lexsort((-utility, owners))  # best candidate of each piece first
        own, first = np.unique(owners[order], return_index=True)
        best = np.full(len(records), -1)
        best[own] = np.where(np.isfinite(utility[order[first]]), order[first], -1)
        tried = owners[self._tried(survey, points, best[owners] < 0, min_gain)]
        told = list(records)
        for index in np.flatnonzero(best < 0).tolist():
            reason = NO_WAY if index not in own else TRIED if index in tried else SHOWS_NOTHING
            told[index] = replace(records[index], reason=reason, since=survey.grid.stamp)
        found = np.flatnonzero(best >= 0)
        for place, pick, heading in zip(found, best[found], survey.headings(points[best[found]])[0]):
            told[place] = replace(
                records[place],
                viewpoint=np.array([*points[pick], heading]),
                gain=float(gains[pick]),
                path_length=float(lengths[pick]),
                utility=float(utility[pick]),
            )
        return told

    @staticmethod
    def _tried(survey: Survey, points: np.ndarray, asked: np.ndarray, min_gain: float) -> np.ndarray:
        """Return (N,) bool: which of the points (N, 2) would show at least `min_gain` if excluded goals were
        allowed. asked: (N,) bool, the points to examine.
        """
        tried = np.zeros(len(points), bool)
        at = np.flatnonzero(asked)
        at = at[survey.barred(points[at]).any(axis=1)]
        tried[at] = survey.shown(points[at], tried=True)[:, 0] >= min_gain
        return tried

    def _tell_of_battery(
        self, survey: Survey, lengths: np.ndarray, pieces: list[np.ndarray], min_gain: float
    ) -> None:
        """Set the reason TOO_FAR on frontiers that only a full battery would reach."""
        full = replace(survey, lengths=lengths)
        told = []
        places, owners = full.candidates(middles(pieces)[1])
        for index, record in enumerate(self._frontiers):
            cells = places[owners == index]
            beyond = full.grid.points_of(cells[~np.isfinite(survey.lengths[cells[:, 0], cells[:, 1]])])
            shows = full.shown(beyond)[:, 0].max(initial=-math.inf) >= min_gain
            told.append(replace(record, reason=TOO_FAR) if shows else record)
        self._frontiers = tuple(told)


def _ahead(viewpoint: np.ndarray, distance: float) -> np.ndarray:
    """Return the point (2,) at a distance ahead of a pose."""
    return viewpoint[:2] + distance * np.array([math.cos(viewpoint[2]), math.sin(viewpoint[2])])
