"""Ground truth of a world: free space, path lengths and visibility."""

from __future__ import annotations

import math
from functools import cached_property

import cv2
import numpy as np

from lodestar.grid.config import TravelConfig
from lodestar.grid.footprint import GO2, footprints_free
from lodestar.grid.inflation import obstacle_distance
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.paths import NoPath, path_lengths, plan_path
from lodestar.grid.success_pose import MAX_DISTANCE, footprint_distances
from lodestar_sim.worlds.geometry import Geometry
from lodestar_sim.worlds.terrain import CLIMB
from lodestar_sim.worlds.world import World, WorldObject

RESOLUTION = 0.05  # metres, cell size
BAND = (0.03, 0.55)  # metres above the floor between which the robot's body touches obstacles
INFLATION = 0.20  # metres, minimum distance between the robot's centre and obstacles
CAMERA = (0.30, 0.45)  # metres, place of the camera ahead of and above base_link
SAMPLES = 48  # number of points per object tested for visibility
_KEPT = "_truth"  # attribute under which a world caches its truth
_FRACTION = 8  # bits of sub-pixel precision in cv2's polygons


class Truth:
    """Ground truth of a world at `time`; results are computed on first use."""

    def __init__(self, world: World, time: float = 0.0) -> None:
        self.world = world.at(time)
        self._lengths: dict[tuple[float, float], np.ndarray] = {}
        self._points: dict[int, np.ndarray] = {}

    @cached_property
    def geometry(self) -> Geometry:
        """Return all triangles that the sensors see, except the ceiling."""
        return self.world.geometry(ceiling=False, sensed=True)

    @cached_property
    def grid(self) -> OccupancyGrid2D:
        """Return the grid of true obstacles at the height of the robot's body, cells of 0.05 m, none unknown."""
        return obstacle_grid(self.world)

    @cached_property
    def clearance(self) -> np.ndarray:
        """Return the metres from each cell of `grid` to the nearest obstacle, (rows, columns) float32."""
        return obstacle_distance(self.grid)

    @cached_property
    def covered(self) -> np.ndarray:
        """Return (rows, columns) bool: cells of `grid` under an object's box, table tops included."""
        mask = np.zeros(self.grid.cells.shape, bool)
        for thing in self.world.objects:
            low, high = self.world.box(thing)
            (r0, c0), (r1, c1) = self.grid.cells_of(np.array([low[:2], high[:2]]))
            mask[max(r0, 0) : r1 + 1, max(c0, 0) : c1 + 1] = True
        return mask

    @cached_property
    def _scene(self):
        import open3d

        scene = open3d.t.geometry.RaycastingScene()
        scene.add_triangles(self.geometry.vertices, self.geometry.triangles)
        return scene

    def lengths(self, start_xy: tuple[float, float]) -> np.ndarray:
        """Return the path length, metres, from a place to every cell of `grid`; inf = unreachable."""
        key = (round(start_xy[0], 3), round(start_xy[1], 3))
        if key not in self._lengths:
            self._lengths[key] = path_lengths(self.grid, key, TravelConfig(clearance=INFLATION))
        return self._lengths[key]

    def points_of(self, thing: WorldObject) -> np.ndarray:
        """Return (SAMPLES, 3) float32 points spread over an object's surface by area, in map; deterministic."""
        if thing.id not in self._points:
            mesh = self.world.placed_mesh(thing)
            self._points[thing.id] = spread_points(mesh.vertices[mesh.triangles], SAMPLES)
        return self._points[thing.id]

    def seen(self, thing: WorldObject, poses: np.ndarray) -> np.ndarray:
        """Return (N,) float64: share of the object's points visible to the camera at robot poses (N, 3)."""
        poses = np.asarray(poses, np.float64).reshape(-1, 3)
        points = self.points_of(thing)
        eyes = np.column_stack(
            [
                poses[:, 0] + CAMERA[0] * np.cos(poses[:, 2]),
                poses[:, 1] + CAMERA[0] * np.sin(poses[:, 2]),
                CAMERA[1] + self._ground(poses),
            ]
        ).astype(np.float32)
        origins = np.repeat(eyes, len(points), axis=0)
        directions = np.tile(points, (len(poses), 1)) - origins
        hit = self._scene.cast_rays(np.hstack([origins, directions]))
        index = hit["primitive_ids"].numpy()
        owner = np.full(len(index), -1)
        known = index != 0xFFFFFFFF
        owner[known] = self.geometry.object_of_triangle[index[known]]
        return (owner == thing.id).reshape(len(poses), -1).mean(axis=1)

    def _ground(self, points: np.ndarray) -> np.ndarray:
        """Return the height (N,) of the ground under or nearest to points (N, 2+)."""
        terrain = self.world.terrain
        return np.zeros(len(points)) if terrain is None else terrain.nearest(points)

    def facing_poses(
        self, thing: WorldObject, start_xy: tuple[float, float], distance: float = MAX_DISTANCE, most: int = 0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return reachable poses (N, 3) that face the object's box within `distance`, without a line-of-sight check.

        Also returns their path lengths (N,) from the start, metres, shortest first. most: number of candidates kept,
        evenly spread, before the footprint check (0 = all).
        """
        low, high = self.world.box(thing)
        reach = distance + GO2.length / 2
        lengths = self.lengths(start_xy)
        (r0, c0), (r1, c1) = self.grid.cells_of(np.array([low[:2] - reach, high[:2] + reach]))
        r0, c0 = max(r0, 0), max(c0, 0)
        window = lengths[r0 : max(r1 + 1, 0), c0 : max(c1 + 1, 0)]
        cells = np.argwhere(np.isfinite(window))
        if not len(cells):
            return np.zeros((0, 3)), np.zeros(0)
        far = window[cells[:, 0], cells[:, 1]].astype(np.float64)
        places = self.grid.points_of(cells + np.array([r0, c0]))
        offset = np.clip(places, low[:2], high[:2]) - places
        gap = np.hypot(offset[:, 0], offset[:, 1])
        near = np.flatnonzero((gap <= reach) & (gap > GO2.width / 2))
        near = near[np.argsort(far[near], kind="stable")]
        if most and len(near) > most:
            near = near[np.linspace(0, len(near) - 1, most).astype(int)]
        poses = np.column_stack([places, np.arctan2(offset[:, 1], offset[:, 0])])[near]
        if not len(poses):
            return poses, far[near]
        good = (footprint_distances(poses, GO2, low, high) <= distance) & footprints_free(self.grid, poses)
        return poses[good], far[near][good]

    def way(self, start_xy: tuple[float, float], thing: WorldObject) -> np.ndarray:
        """Return the shortest path (N, 2), metres, from a place to a pose facing the object; empty if there is none."""
        poses, lengths = self.facing_poses(thing, start_xy)
        if not len(poses) or not np.isfinite(lengths[0]):
            return np.zeros((0, 2))
        try:
            return plan_path(self.grid, start_xy, poses[0][:2], TravelConfig(clearance=INFLATION))
        except NoPath:
            return np.zeros((0, 2))

    def views(self, thing: WorldObject, share: float = 0.06, distance: float = 0.9) -> np.ndarray:
        """Return reachable poses (N, 3) from which enough of an object is visible.

        share: least visible share of its points. distance: largest distance from its box, metres.
        """
        poses, _ = self.facing_poses(thing, self.world.start[:2], distance, most=48)
        return poses[self.seen(thing, poses) >= share] if len(poses) else poses

    def shortest_path(self, start_xy: tuple[float, float], thing: WorldObject) -> float:
        """Return the path length to the nearest success pose, metres, inf if there is none."""
        poses, lengths = self.facing_poses(thing, start_xy)
        for first in range(0, len(poses), 64):
            seen = self.seen(thing, poses[first : first + 64]) > 0.0
            if seen.any():
                return float(lengths[first + int(np.argmax(seen))])
        return math.inf


def truth_of(world: World) -> Truth:
    """Return the ground truth of the world at its start, computed once per world object."""
    kept = vars(world)  # cache on the frozen dataclass, as `functools.cached_property` does
    if _KEPT not in kept:
        kept[_KEPT] = Truth(world)
    truth: Truth = kept[_KEPT]
    return truth


def obstacle_grid(world: World) -> OccupancyGrid2D:
    """Return a grid of 0.05 m cells, occupied by geometry 0.03 to 0.55 m above the floor, and at drop-offs."""
    x0, y0, x1, y1 = world.bounds
    terrain = world.terrain
    shape = (math.ceil((y1 - y0) / RESOLUTION - 1e-6), math.ceil((x1 - x0) / RESOLUTION - 1e-6))
    cells = np.zeros(shape, np.uint8)
    if terrain is not None:
        cells[terrain.drops] = 1
    for flight in world.flights:  # stairs are obstacles for a navigator
        (c0, c1), (r0, r1) = (
            (round((low - first) / RESOLUTION), round((high - first) / RESOLUTION))
            for low, high, first in ((flight.x0, flight.x1, x0), (flight.y0, flight.y1, y0))
        )
        cells[max(r0, 0) : r1, max(c0, 0) : c1] = 1
    for wall in world.walls:
        if wall.z0 < BAND[1] and wall.z1 > (BAND[0] if terrain is None else CLIMB):  # lower walls are sills
            c0, c1 = (round((v - x0) / RESOLUTION) for v in (wall.x0, wall.x1))
            r0, r1 = (round((v - y0) / RESOLUTION) for v in (wall.y0, wall.y1))
            cells[max(r0, 0) : max(r1, r0 + 1), max(c0, 0) : max(c1, c0 + 1)] = 1
    for thing in world.objects:
        ground = 0.0 if terrain is None else float(terrain.nearest(np.array([thing.xy]))[0])
        foot = thing.pose[2] - ground
        if foot < BAND[1] and foot + thing.size[2] > BAND[0]:
            mesh = world.placed_mesh(thing)
            corners = mesh.vertices[mesh.triangles].astype(np.float64) - (0.0, 0.0, ground)
            _draw(cells, corners, (x0, y0))
    return OccupancyGrid2D((cells * 100).astype(np.int8), RESOLUTION, (x0, y0))


def _draw(cells: np.ndarray, corners: np.ndarray, origin: tuple[float, float]) -> None:
    """Mark the cells covered, seen from above, by triangles (T, 3, 3) clipped to the height band BAND."""
    low, high = corners[:, :, 2].min(axis=1), corners[:, :, 2].max(axis=1)
    polygons = list(corners[(low >= BAND[0]) & (high <= BAND[1])])
    crossing = (low < BAND[1]) & (high > BAND[0]) & ~((low >= BAND[0]) & (high <= BAND[1]))
    polygons += [p for p in (_clipped(c) for c in corners[crossing]) if len(p)]
    scale = 1 << _FRACTION
    for polygon in polygons:
        pixels = ((polygon[:, :2] - origin) / RESOLUTION - 0.5) * scale
        points = np.round(pixels).astype(np.int32)[None]
        cv2.fillPoly(cells, points, 1, lineType=cv2.LINE_8, shift=_FRACTION)


def _clipped(triangle: np.ndarray) -> np.ndarray:
    """Return the polygon (N, 3) of a triangle clipped to the height band BAND."""
    polygon = triangle
    for level, sign in ((BAND[0], 1.0), (BAND[1], -1.0)):
        kept = []
        for i in range(len(polygon)):
            a, b = polygon[i - 1], polygon[i]
            da, db = sign * (a[2] - level), sign * (b[2] - level)
            if da * db < 0.0:
                kept.append(a + (b - a) * (da / (da - db)))
            if db >= 0.0:
                kept.append(b)
        polygon = np.array(kept)
        if not len(polygon):
            break
    return polygon


def spread_points(corners: np.ndarray, number: int) -> np.ndarray:
    """Return (number, 3) float32 points spread by area over triangles (T, 3, 3), by a low-discrepancy sequence."""
    area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    marks = np.cumsum(area) / max(float(area.sum()), 1e-12)
    k = np.arange(number)
    which = np.minimum(np.searchsorted(marks, (k + 0.5) / number), len(area) - 1)
    u, v = (0.5 + k * 0.7548776662466927) % 1.0, (0.5 + k * 0.5698402909980532) % 1.0
    fold = u + v > 1.0
    u, v = np.where(fold, 1.0 - u, u)[:, None], np.where(fold, 1.0 - v, v)[:, None]
    a, b, c = corners[which, 0], corners[which, 1], corners[which, 2]
    return (a + u * (b - a) + v * (c - a)).astype(np.float32)
