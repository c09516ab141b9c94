"""Where unknown space can best be looked into (RoboAtlas IV-D; SnapMem App. 8)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
from scipy import ndimage

from lodestar.experts.coverage import SECTORS, LookedAt, window_sums
from lodestar.experts.protocol import Proposal, ProposalRequest, Rejection, RejectionReason
from lodestar.experts.reach import Reach, ReachConfig
from lodestar.geometry.camera import PinholeCamera
from lodestar.geometry.poses import wrap_angle
from lodestar.grid.footprint import footprints_free
from lodestar.grid.inflation import obstacle_distance
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.language.directive import DirectiveKind
from lodestar.perception.frames import RgbdFrame, SegmentedFrame

_EIGHT = np.ones((3, 3), bool)
_UNREACHABLE = "no reachable place near it would show anything new"


@dataclass(frozen=True)
class FrontierConfig:
    """Lengths in metres, areas in m^2.

    look_ranges: distances from which a cell counts as looked at, one pass after the other: first at a glance,
    then, when nothing is left at that range, from near enough for small things. fov: of a camera that no
    view has told yet. gain_range: of the sensor footprint S(c) of eq. 15. alpha: m^2 per metre (eq. 16).
    turn_weight: metres that a radian of turning costs. tile: clusters are cut into pieces of this size.
    min_gains: what a goal must show, tried in this order; the last goal is kept while it shows half as much.
    corner_gain: likewise
    in a search that found nothing: something may stand behind the furniture.
    clearance: of a viewpoint, so that the robot can turn there (its circumscribed radius and a margin);
    narrow_clearance: where a piece of frontier has no such viewpoint; the footprint must fit at the heading.
    hysteresis: m^2 by which another goal must be better than the last one, which is still worth going to.
    """

    look_ranges: tuple[float, ...] = (4.5, 2.5)
    fov: float = math.radians(80.0)
    gain_range: float = 4.5
    alpha: float = 3.0
    turn_weight: float = 0.5
    tile: float = 2.0
    min_cells: int = 8
    min_gains: tuple[float, ...] = (2.0, 0.5)
    corner_gain: float = 0.15
    clearance: float = 0.45
    narrow_clearance: float = 0.30
    standoff: float = 2.0  # a viewpoint lies this near its piece of frontier
    max_pieces: int = 100
    hysteresis: float = 2.0
    same_goal_distance: float = 0.35
    same_goal_angle: float = math.radians(40.0)
    same_frontier_distance: float = 1.0
    gain_scale: float = 5.0  # m^2 at which the confidence is 0.63
    reach: ReachConfig = field(default_factory=ReachConfig)


@dataclass(frozen=True)
class FrontierRecord:
    """One piece of the border of what is known. viewpoint: (3,), from which it is looked into.

    centroid: (2,). gain: m^2 expected to be seen. path_length: metres, inf = unreachable, with the reason.
    """

    id: int
    centroid: np.ndarray
    cell_count: int
    viewpoint: np.ndarray | None = None
    gain: float = 0.0
    path_length: float = math.inf
    utility: float = -math.inf
    reason: str = ""
    keyframe_id: int = 0

    @property
    def reachable(self) -> bool:
        """Whether there is a viewpoint."""
        return self.viewpoint is not None


@dataclass(frozen=True)
class _Pass:
    """range: metres from which a cell counts as looked at. min_gains: m^2, tried in this order."""

    range: float
    min_gains: tuple[float, ...]
    name: str


class FrontierExpert:
    """Proposes the viewpoint of the greatest gain - alpha x path length (RoboAtlas eq. 16)."""

    name = "frontier"

    def __init__(self, config: FrontierConfig = FrontierConfig()) -> None:
        self.config = config
        self.looked = LookedAt(max(config.look_ranges))
        self._grid: OccupancyGrid2D | None = None
        self._fov = config.fov
        self._frontiers: tuple[FrontierRecord, ...] = ()
        self._last_goal: np.ndarray | None = None
        self._next_id = 1
        self._keyframes: list[tuple[int, float, float, float]] = []  # id, x, y, heading

    def set_grid(self, grid: OccupancyGrid2D) -> None:
        """Plan on this grid."""
        self._grid = grid
        self.looked.set_grid(grid)

    def set_view(self, frame: RgbdFrame, segmented: SegmentedFrame | None = None) -> None:
        """The camera looked from there; cells in view count as looked at."""
        self.add_view(frame.map_from_camera, frame.camera)

    def add_view(self, map_from_camera: np.ndarray, camera: PinholeCamera, keyframe_id: int = 0) -> None:
        """The camera looked from this (4, 4) pose (optical frame); without any view, only geometry counts."""
        ahead = map_from_camera[:3, 2]
        if math.hypot(ahead[0], ahead[1]) < 0.2 or not np.isfinite(map_from_camera).all():
            return  # it looks at the floor or the ceiling
        heading = math.atan2(ahead[1], ahead[0])
        self._fov = 2.0 * math.atan(camera.width / (2.0 * camera.fx))
        self.looked.look(map_from_camera[:2, 3], heading, self._fov)
        if keyframe_id:
            self._keyframes.append(
                (keyframe_id, float(map_from_camera[0, 3]), float(map_from_camera[1, 3]), heading)
            )

    def frontiers(self) -> tuple[FrontierRecord, ...]:
        """The pieces of frontier of the newest request; an id lives as long as its piece."""
        return self._frontiers

    def propose(self, request: ProposalRequest) -> Proposal | Rejection:
        """The best viewpoint, or EXPLORED where no reachable one would show anything new."""
        if self._grid is None:
            return Rejection(self.name, request.epoch, RejectionReason.NO_DATA, "no grid yet")
        reach = Reach(self._grid, request.robot_pose, self.config.reach)
        if not np.isfinite(reach.possible).any():
            return Rejection(
                self.name,
                request.epoch,
                RejectionReason.NO_PROPOSAL,
                "the robot stands too near an obstacle to plan",
            )
        search = request.directive.kind is DirectiveKind.FIND and self.looked.count > 0
        for narrow in (False, True):  # through narrow places only when nothing else is left
            lengths = reach.possible if narrow else reach.easy
            for look in self._passes if search else self._passes[:1]:
                best = self._best(request, lengths, look)
                if best is not None:
                    return self._proposal(request, best, look)
        self._last_goal = None
        hidden = sum(not f.reachable for f in self._frontiers)
        message = "no reachable place would show anything new" + (f"; {hidden} unreachable" if hidden else "")
        return Rejection(self.name, request.epoch, RejectionReason.EXPLORED, message)

    @property
    def _passes(self) -> list[_Pass]:
        """What exploring is content with, one after the other; only a search goes beyond the first."""
        far, *near = self.config.look_ranges
        first = _Pass(far, self.config.min_gains, "unknown area")
        corners = _Pass(far, (self.config.corner_gain,), "hidden corner")
        return [
            first,
            corners,
            *(_Pass(r, self.config.min_gains, "area to look at from nearer") for r in near),
        ]

    def _proposal(self, request: ProposalRequest, best: FrontierRecord, look: _Pass) -> Proposal:
        assert best.viewpoint is not None and self._grid is not None
        self._last_goal = best.viewpoint
        size = f"{best.gain:.0f} m2" if best.gain >= 1.0 else f"{best.gain:.1f} m2"
        if best.path_length < 0.3:
            rationale = f"Turning to look into {size} of {look.name}"
        else:
            rationale = f"Exploring towards {size} of {look.name}, {best.path_length:.1f} m away"
        return Proposal(
            expert=self.name,
            epoch=request.epoch,
            goal=best.viewpoint.copy(),
            confidence=1.0 - math.exp(-best.gain / self.config.gain_scale),
            rationale=rationale,
            evidence_keyframes=(best.keyframe_id,) if best.keyframe_id else (),
            stamp=self._grid.stamp,
        )

    def _best(self, request: ProposalRequest, lengths: np.ndarray, look: _Pass) -> FrontierRecord | None:
        """The most useful piece of frontier, and all pieces as `frontiers()`."""
        assert self._grid is not None
        grid = self._grid
        unseen = self.looked.unseen(look.range)
        pieces = self._pieces(unseen, lengths)
        points, owner = self._candidates(pieces, lengths)
        goals = list(points)
        if self._last_goal is not None:
            goals.append(self._last_goal[:2])
            owner = [*owner, -1]
        reach = min(self.config.gain_range, look.range)
        records = self._records(pieces)
        found: list[tuple[int, FrontierRecord]] = []
        if goals:
            sums = window_sums(self.looked.sector_gains(np.array(goals), unseen, reach), self._fov)
            for point, index, row in zip(goals, owner, sums * grid.resolution**2):
                record = self._evaluate(request, np.asarray(point), row, lengths, records.get(index))
                if record is not None and record.gain >= min(look.min_gains) / 2.0:
                    found.append((index, record))
        for index, record in found:
            if index >= 0 and record.utility > records[index].utility:
                records[index] = record
        self._frontiers = tuple(records.values())
        return self._most_useful(found, look.min_gains)

    def _most_useful(
        self, found: list[tuple[int, FrontierRecord]], min_gains: tuple[float, ...]
    ) -> FrontierRecord | None:
        """The record of the greatest utility among those that show much, else among those that show little;
        the last goal's (index -1), unless another is better by more than the hysteresis.
        """
        for min_gain in min_gains:
            worth = [
                (index, r) for index, r in found if r.gain >= (min_gain if index >= 0 else min_gain / 2.0)
            ]
            if not worth:
                continue
            best = max(worth, key=lambda item: item[1].utility)[1]
            last = next((record for index, record in worth if index < 0), None)
            return (
                last if last is not None and last.utility >= best.utility - self.config.hysteresis else best
            )
        return None

    def _pieces(self, unseen: np.ndarray, lengths: np.ndarray) -> list[np.ndarray]:
        """Clusters (n, 2) of cells that border on or are unseen space (eq. 14), cut into tiles, nearest
        first.
        """
        assert self._grid is not None
        grid = self._grid
        border = ndimage.binary_dilation(unseen & ~grid.occupied, _EIGHT) & grid.free
        if self.looked.count:
            border &= ndimage.binary_dilation(np.isfinite(lengths), _EIGHT, iterations=4)
        labels, count = ndimage.label(border, _EIGHT)
        if count == 0:
            return []
        cells = np.argwhere(border)
        tile = max(round(self.config.tile / grid.resolution), 1)
        shift = np.array([round(grid.origin[1] / grid.resolution), round(grid.origin[0] / grid.resolution)])
        tiles = (cells + shift) // tile  # fixed in map: pieces keep their identity while the grid grows
        tiles -= tiles.min(axis=0)
        key = (labels[cells[:, 0], cells[:, 1]].astype(np.int64) * (tiles[:, 0].max() + 1) + tiles[:, 0]) * (
            tiles[:, 1].max() + 1
        ) + tiles[:, 1]
        order = np.argsort(key, kind="stable")
        splits = np.flatnonzero(np.diff(key[order])) + 1
        pieces = [piece for piece in np.split(cells[order], splits) if len(piece) >= self.config.min_cells]
        near = [float(lengths[piece[:, 0], piece[:, 1]].min()) for piece in pieces]
        ranked = sorted(range(len(pieces)), key=lambda i: (near[i], -len(pieces[i])))
        return [pieces[i] for i in ranked[: self.config.max_pieces]]

    def _candidates(
        self, pieces: list[np.ndarray], lengths: np.ndarray
    ) -> tuple[list[np.ndarray], list[int]]:
        """Up to three reachable points (2,) per piece: the nearest by path, the clearest, the closest to
        it.
        """
        assert self._grid is not None
        grid = self._grid
        clear = obstacle_distance(grid)
        reachable = np.isfinite(lengths)
        roomy = reachable & (clear >= self.config.clearance)
        narrow = reachable & (clear >= self.config.narrow_clearance)
        reach = math.ceil(self.config.standoff / grid.resolution)
        points: list[np.ndarray] = []
        owner: list[int] = []
        for index, piece in enumerate(pieces):
            middle = piece[((piece - piece.mean(axis=0)) ** 2).sum(axis=1).argmin()]
            top, left = np.maximum(middle - reach, 0)
            window = (slice(top, middle[0] + reach + 1), slice(left, middle[1] + reach + 1))
            usable = roomy if roomy[window].any() else narrow
            cells = np.argwhere(usable[window]) + np.array([top, left])
            if len(cells) == 0:
                continue
            away = np.hypot(*(cells - middle).T)
            rows, columns = cells[:, 0], cells[:, 1]
            picks = {
                int(away.argmin()),
                int(lengths[rows, columns].argmin()),
                int(clear[rows, columns].argmax()),
            }
            for pick in sorted(picks):
                points.append(grid.points_of(cells[pick]))
                owner.append(index)
        return points, owner

    def _records(self, pieces: list[np.ndarray]) -> dict[int, FrontierRecord]:
        """A record per piece without a viewpoint; a piece near one of the last request's takes over its id.
        """
        assert self._grid is not None
        known = list(self._frontiers)
        records: dict[int, FrontierRecord] = {}
        for index, piece in enumerate(pieces):
            centroid = self._grid.points_of(piece.mean(axis=0))
            away = [math.dist(old.centroid, centroid) for old in known]
            nearest = min(range(len(known)), key=away.__getitem__, default=-1)
            if nearest >= 0 and away[nearest] <= self.config.same_frontier_distance:
                identity = known.pop(nearest).id
            else:
                identity, self._next_id = self._next_id, self._next_id + 1
            records[index] = FrontierRecord(identity, centroid, len(piece), reason=_UNREACHABLE)
        return records

    def _evaluate(
        self,
        request: ProposalRequest,
        point: np.ndarray,
        gains: np.ndarray,
        lengths: np.ndarray,
        record: FrontierRecord | None,
    ) -> FrontierRecord | None:
        """The record with its best allowed heading from this point; None where that shows too little."""
        assert self._grid is not None
        headings = (np.arange(SECTORS) + 0.5) * (2.0 * math.pi / SECTORS)
        row, column = self._grid.cells_of(point)
        if not self._grid.contains(np.array([row, column])) or not math.isfinite(lengths[row, column]):
            return None
        length = float(lengths[row, column])
        poses = np.column_stack([np.tile(point, (SECTORS, 1)), headings])
        gains = np.where(footprints_free(self._grid, poses), gains, 0.0)
        for goal in request.excluded_goals:
            if math.hypot(goal[0] - point[0], goal[1] - point[1]) <= self.config.same_goal_distance:
                gains[np.abs(wrap_angle(headings - goal[2])) <= self.config.same_goal_angle] = 0.0
        sector = int(gains.argmax())
        gain = float(gains[sector])
        if gain <= 0.0:
            return None
        heading = float(wrap_angle(headings[sector]))
        turn = abs(float(wrap_angle(heading - request.robot_pose[2]))) if length < self.config.tile else 0.0
        utility = gain - self.config.alpha * (length + self.config.turn_weight * turn)
        viewpoint = np.array([point[0], point[1], heading])
        if record is None:
            record = FrontierRecord(0, point.copy(), 0)
        return replace(
            record,
            viewpoint=viewpoint,
            gain=gain,
            path_length=length,
            utility=utility,
            reason="",
            keyframe_id=self._keyframe_towards(viewpoint),
        )

    def _keyframe_towards(self, viewpoint: np.ndarray) -> int:
        """The keyframe that was taken nearest to the viewpoint and in about its direction; 0 = none."""
        best, best_distance = 0, self.config.gain_range
        for keyframe_id, x, y, heading in self._keyframes[-200:]:
            distance = math.hypot(x - viewpoint[0], y - viewpoint[1])
            if distance < best_distance and abs(float(wrap_angle(heading - viewpoint[2]))) < self._fov / 2.0:
                best, best_distance = keyframe_id, distance
        return best
