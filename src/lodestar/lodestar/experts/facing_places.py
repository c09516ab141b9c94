"""Places on the path to an object that cannot be faced yet, because the floor before it is unknown."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lodestar.experts.reach import HOPED, Reach
from lodestar.geometry.floor_height import floor_below
from lodestar.grid.config import SAME_GOAL, VIEWPOINT_STRICT_IGNORE, ViewpointConfig
from lodestar.grid.footprint import footprints_free
from lodestar.grid.inflation import obstacle_distance
from lodestar.grid.occupancy import FREE, OCCUPIED, OccupancyGrid2D
from lodestar.grid.paths import path_lengths
from lodestar.grid.viewpoints import NoViewpoint, NoViewpointReason, Viewpoint
from lodestar.grid.visibility import sight_between
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import EntityState

APPROACH_GAIN = 0.75  # metres by which a place must be nearer to the object than the robot is; chosen
APPROACH_CLEARANCE = 0.35  # metres of a place from obstacles; chosen
APPROACH_IGNORE_LAST = 0.8  # metres before the object in which occupied cells may be its furniture; chosen
APPROACH_CANDIDATES = 400  # places nearest to the object whose line of sight is checked; chosen
# metres before the object, along the line of sight to it, within which a place to stand is searched; chosen
APPROACH_FRONT = 2.0
# metres above the floor of an object's lowest point; below it, a viewpoint past an obstacle may lie behind a wall;
# chosen
APPROACH_STANDS_BELOW = 0.4
# metres by which the path from a viewpoint to the front may exceed the straight line; chosen: a path around
# furniture is shorter than that, a path around a wall is longer
APPROACH_DETOUR = 0.75
# share of a raised object's height that must be visible past the edge of its support; chosen
APPROACH_SHOWS = 0.1
# metres: if the side that was seen does not show APPROACH_SHOWS, another side of the support is used. The path to it
# must stay this near to the support and be longer by no more than the support's length and width; chosen
APPROACH_BESIDE = 1.2
APPROACH_ROOMY = 0.40  # metres of clearance of a place on the way to the front; chosen


@dataclass(frozen=True)
class FacingPlace:
    """A place from which to face an object. pose: (3,) x, y, yaw in map. faces: whether the object is faced from
    there in the known map; otherwise the pose is on the path to it. path_length: metres to the pose and, if it
    only lies on the path, on to the front of the object.
    """

    pose: np.ndarray
    path_length: float
    faces: bool


def place_towards(
    reach: Reach,
    robot: np.ndarray,
    target: np.ndarray,
    excluded: Sequence[Sequence[float]],
    sight: bool = True,
) -> np.ndarray | None:
    """Return the reachable pose (3,) nearest to a target (2+,), facing it; None if no pose is nearer than the
    robot.

    sight: require a line of sight to the target; unknown cells do not block it.
    """
    grid = reach.grid
    target = np.asarray(target, np.float64)[:2]
    here = math.dist(target, (float(robot[0]), float(robot[1])))
    lengths = reach.easy
    cells = np.argwhere(np.isfinite(lengths) & (obstacle_distance(grid) >= APPROACH_CLEARANCE))
    if not len(cells):
        return None
    points = grid.points_of(cells)
    distance = np.linalg.norm(points - target, axis=1)
    allowed = distance <= here - APPROACH_GAIN
    for goal in excluded:
        away = np.linalg.norm(points - np.asarray(goal[:2], np.float64), axis=1)
        allowed &= away > SAME_GOAL
    points, distance = points[allowed], distance[allowed]
    order = np.argsort(distance, kind="stable")[:APPROACH_CANDIDATES]
    if sight and len(order):
        ends = np.repeat(target[None], len(order), axis=0)
        order = order[sight_between(grid, points[order], ends, APPROACH_IGNORE_LAST)]
    return _first_that_fits(grid, points[order], target)


def place_to_face(
    reach: Reach,
    robot: np.ndarray,
    box: tuple[np.ndarray, np.ndarray],
    views: Sequence[np.ndarray],
    excluded: Sequence[Sequence[float]],
    viewpoints: ViewpointConfig,
    mirror: SceneMirror | None = None,
) -> FacingPlace:
    """Return the best viewpoint of a box (least and greatest corner, (3,) each) on its observed side, or a place on
    the path to it if there is no viewpoint yet, or only one behind a possible wall.

    views: map_from_camera (4, 4) of views of the object, best first. mirror: the scene, used to find the object's
    support. Raises NoViewpoint.
    """
    none: NoViewpoint | None = None
    found: list[Viewpoint] = []
    support = support_of(box, mirror)
    try:
        found = reach.viewpoints(*box, views, excluded, viewpoints, support)
    except NoViewpoint as error:
        if error.reason is NoViewpointReason.EXCLUDED:
            raise
        none = error
    front = _Front.of(reach, box, views)
    same_side = [v for v in found if front is not None and front.is_before(v.pose, APPROACH_DETOUR)]
    middle = (np.asarray(box[0]) + box[1]) / 2.0
    floor = floor_below(views, middle, viewpoints.camera_height)
    raised = float(box[0][2]) - floor > APPROACH_STANDS_BELOW
    if raised and front is not None and support is not None:
        same_side = _past_the_edge(same_side, found, front, support)
    plain = next((viewpoint for viewpoint in same_side if viewpoint.is_plain or raised), None)
    if plain is not None:
        return _facing(plain)
    nearer = front.place_before(reach, robot, excluded) if front is not None else None
    if nearer is not None:
        return nearer
    if none is not None:
        raise none
    return _facing((same_side or found)[0])


def support_of(
    box: tuple[np.ndarray, np.ndarray], mirror: SceneMirror | None, gap: float = 0.2
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the box of the larger object on which a box stands: its top is within `gap` metres of the box's bottom.
    None if there is none.
    """
    low, high = (np.asarray(corner, np.float64) for corner in box)
    middle, size = (low + high)[:2] / 2.0, float(np.prod((high - low)[:2]))
    best: tuple[float, tuple[np.ndarray, np.ndarray]] | None = None
    for entity in mirror.near(middle, middle) if mirror is not None else ():
        under = entity.state is EntityState.ACTIVE and (entity.box_min[:2] <= middle).all()
        under = (
            under
            and (middle <= entity.box_max[:2]).all()
            and np.prod((entity.box_max - entity.box_min)[:2]) > size
        )
        away = abs(float(entity.box_max[2]) - float(low[2]))
        if under and away <= gap and (best is None or away < best[0]):
            best = away, (entity.box_min, entity.box_max)
    return None if best is None else best[1]


def _past_the_edge(
    same_side: list[Viewpoint], found: list[Viewpoint], front: _Front, support: tuple[np.ndarray, np.ndarray]
) -> list[Viewpoint]:
    """Return the viewpoints on the observed side that see the object past the edge of its support (the
    furniture under it), with only the support in between. If there are none, return such viewpoints on the
    support's other sides; else `same_side`, all viewpoints on the observed side.
    """
    clear = front.without(support)
    showing = [v for v in found if v.visible >= APPROACH_SHOWS]
    ends = np.array([np.clip(v.pose[:2], *front.box) for v in showing]).reshape(-1, 2)
    starts = np.array([v.pose[:2] for v in showing]).reshape(-1, 2)
    plain = sight_between(clear, starts, ends, VIEWPOINT_STRICT_IGNORE)
    showing = [v for v, is_seen in zip(showing, plain) if is_seen]
    shown = [v for v in showing if front.is_before(v.pose, APPROACH_DETOUR)]
    if showing and not shown:
        around = front.around(support, APPROACH_BESIDE)
        detour = APPROACH_DETOUR + float((support[1] - support[0])[:2].sum())
        shown = [v for v in showing if around.is_before(v.pose, detour)]
    return shown or same_side


def _facing(viewpoint: Viewpoint) -> FacingPlace:
    return FacingPlace(np.asarray(viewpoint.pose, np.float64), viewpoint.path_length, True)


@dataclass(frozen=True)
class _Front:
    """The side of a box from which it was observed. place: (2,) in front of it; ways: (rows, columns) path
    lengths from there, metres, unknown cells counting as free. Unlike a straight line, a path does not cross
    walls.
    """

    grid: OccupancyGrid2D
    box: tuple[np.ndarray, np.ndarray]
    place: np.ndarray
    ways: np.ndarray

    @classmethod
    def of(
        cls, reach: Reach, box: tuple[np.ndarray, np.ndarray], views: Sequence[np.ndarray]
    ) -> _Front | None:
        """Return the front; None without a view of the box, or if no reachable place lies along any view."""
        grid = reach.grid
        travel = replace(HOPED, start_snap=grid.resolution)
        standing = np.isfinite(reach.hoped)
        corners = tuple(np.asarray(corner, np.float64)[:2] for corner in box)
        place = _before(grid, standing, corners[0], corners[1], views, APPROACH_FRONT)
        if place is None:
            return None
        return cls(grid, (corners[0], corners[1]), place, path_lengths(grid, place, travel))

    def is_before(self, pose: np.ndarray, detour: float) -> bool:
        """Return whether a pose lies before the observed side: the path from it is at most `detour` metres
        longer than the straight line.
        """
        way = float(self.ways[tuple(self.grid.cells_of(np.asarray(pose)[:2]))])
        return way <= float(np.linalg.norm(np.asarray(pose)[:2] - self.place)) + detour

    def without(self, support: tuple[np.ndarray, np.ndarray]) -> OccupancyGrid2D:
        """Return the grid with the cells of the support's box (furniture under the object) marked free."""
        low, high = (np.asarray(corner)[:2] for corner in support)
        occupied = np.argwhere(self.grid.occupied)
        points = self.grid.points_of(occupied)
        inside = occupied[((points >= low) & (points <= high)).all(axis=1)]
        cells = self.grid.cells.copy()
        cells[inside[:, 0], inside[:, 1]] = FREE
        return replace(self.grid, cells=cells)

    def around(self, support: tuple[np.ndarray, np.ndarray], margin: float) -> _Front:
        """Return the front with paths restricted to `margin` metres around the support (the furniture under
        the object), so that none passes a door.
        """
        grid = self.grid
        corners = [np.asarray(corner)[:2] for corner in (*support, *self.box)] + [self.place]
        low, high = np.min(corners, axis=0) - margin, np.max(corners, axis=0) + margin
        rows, columns = grid.cells_of(np.stack([low, high])).T
        cells = np.full(grid.cells.shape, np.int8(OCCUPIED))
        near = np.s_[max(rows[0], 0) : max(rows[1] + 1, 0), max(columns[0], 0) : max(columns[1] + 1, 0)]
        cells[near] = grid.barred_cells[near]
        fenced = replace(grid, cells=cells, keep_out=None)
        return replace(
            self, ways=path_lengths(fenced, self.place, replace(HOPED, start_snap=grid.resolution))
        )

    def place_before(
        self, reach: Reach, robot: np.ndarray, excluded: Sequence[Sequence[float]]
    ) -> FacingPlace | None:
        """Return the reachable place with the shortest remaining path to the front, facing the box; None if none is
        nearer than the robot.
        """
        grid, ways, here = self.grid, self.ways, np.asarray(robot, np.float64)[:2]
        own = grid.cells_of(here)
        roomy = obstacle_distance(grid) >= APPROACH_ROOMY
        cells = np.argwhere(np.isfinite(reach.easy) & np.isfinite(ways) & roomy)
        if not len(cells) or not grid.contains(own):
            return None
        left, points = ways[tuple(cells.T)], grid.points_of(cells)
        still = float(ways[tuple(own)])
        allowed = left <= (still if math.isfinite(still) else math.dist(here, self.place)) - APPROACH_GAIN
        for goal in excluded:
            away = np.linalg.norm(points - np.asarray(goal[:2], np.float64), axis=1)
            allowed &= away > SAME_GOAL
        points, left = points[allowed], left[allowed]
        order = np.argsort(left, kind="stable")[:APPROACH_CANDIDATES]
        pose = _first_that_fits(grid, points[order], np.clip(points[order], *self.box))
        if pose is None:
            return None
        cell = tuple(grid.cells_of(pose[:2]))
        return FacingPlace(pose, float(reach.easy[cell] + ways[cell]), False)


def _before(
    grid: OccupancyGrid2D,
    standing: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    views: Sequence[np.ndarray],
    reach: float,
) -> np.ndarray | None:
    """Return the place (2,) nearest to the box where the robot may stand on the line of sight of a view; None
    if there is none.
    """
    for view in views:
        eye = np.asarray(view, np.float64)[:2, 3]
        box = np.clip(eye, low, high)
        away = float(np.linalg.norm(eye - box))
        if away < grid.resolution:
            continue
        steps = np.arange(0.0, min(reach, away), grid.resolution / 2.0)
        points = box + steps[:, None] * (eye - box) / away
        cells = grid.cells_of(points)
        inside = grid.contains(cells)
        cells = np.where(inside[:, None], cells, 0)
        free = inside & standing[tuple(cells.T)]
        if free.any():
            return np.asarray(points[int(free.argmax())])
    return None


def _first_that_fits(grid: OccupancyGrid2D, points: np.ndarray, targets: np.ndarray) -> np.ndarray | None:
    """Return the pose (3,) at the first of points (N, 2) where the robot fits, facing its target (2,) or (N, 2); None
    if it fits at none.
    """
    if len(points) == 0:
        return None
    towards = targets - points
    poses = np.column_stack([points, np.arctan2(towards[:, 1], towards[:, 0])])
    fits = footprints_free(grid, poses)
    return poses[int(fits.argmax())] if fits.any() else None
