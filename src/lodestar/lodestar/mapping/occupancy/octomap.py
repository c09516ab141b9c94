"""OctoMap from LiDAR or depth, and the 2-D grid projected from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import cv2
import numpy as np

from lodestar.geometry.corrections import Anchor
from lodestar.geometry.map_correction import MapCorrection
from lodestar.geometry.poses import inverse, transform_points
from lodestar.grid.footprint import GO2
from lodestar.grid.occupancy import FREE, OCCUPIED, UNKNOWN, OccupancyGrid2D
from lodestar.mapping.config import OctoMapConfig
from lodestar.mapping.occupancy import occupancy_kernels
from lodestar.mapping.occupancy.floor import FloorMap, FloorState
from lodestar.mapping.occupancy.occupancy_voxels import OccupancyVoxels
from lodestar.perception.frames import RgbdFrame

OCTOMAP_DEPTH_STRIDE = 8  # pixels between rays of a depth image; chosen
OCTOMAP_GROWTH = 4.0  # metres by which the grid grows at a time; chosen

kernels: Any = occupancy_kernels  # mypy does not accept the arrays in their calls
# (4, 3) m around the robot's centre, corners of the square in which it turns
_BODY = GO2.circumscribed_radius * np.array(
    [[-1.0, -1.0, 0.0], [-1.0, 1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0]]
)


class MapExtentError(ValueError):
    """Raised for points or poses so far away that the grid would exceed its size limit."""


class OctoMapper:
    """Integrates rays into occupancy voxels; `project` returns the 2-D grid.

    `project` recomputes only the columns that changed since its last call. The octree has its own frame,
    which equals `map` until a jump of map <- odom; then the whole frame moves. anchor: the robot's trajectory
    within this map, and the last correction.
    """

    KIND, VERSION = "octomap", 1

    def __init__(self, config: OctoMapConfig = OctoMapConfig()):
        self.config = config
        self._octree = OccupancyVoxels(config.resolution, config.blocks)
        levels = np.arange(config.band_low + config.resolution / 2, config.band_high, config.resolution)
        self._levels = levels.astype(np.float64)  # m above the floor
        self._floor = FloorMap(config.floor, config.resolution) if config.floor.enabled else None
        # height of the floor, in voxels, for which each column was projected
        self._asked = np.empty((0, 0), np.int16)
        # (column, row) of cell (0, 0) in multiples of resolution
        self._origin_cell: tuple[int, int] | None = None
        self._cells = np.empty((0, 0), np.int8)  # state of the voxels in the height band above the floor
        self._dirty = np.empty((0, 0), np.bool_)
        self.anchor = Anchor()  # pose of the octree's frame; the cells lie in map

    @property
    def is_empty(self) -> bool:
        """Return whether nothing has been observed yet."""
        return self._origin_cell is None

    @property
    def sees_drop_offs(self) -> bool:
        """Return whether drop-offs become obstacles of the 2-D grid."""
        return self._floor is not None and not self.is_empty

    def surface(self) -> tuple[np.ndarray, tuple[float, float]] | None:
        """Return the height of the lowest surface per column, and the corner (x, y) of cell (0, 0).

        Heights: (rows, columns) float32, metres in map, NaN = unseen. None without a floor layer.
        """
        if self._floor is None or self._origin_cell is None:
            return None
        heights = np.where(self._floor.hits > 0, self._floor.height, np.float32(np.nan))
        column, row = self._origin_cell
        return heights, (column * self.config.resolution, row * self.config.resolution)

    @property
    def feet_error(self) -> float:
        """Return the height of the floor around the robot relative to its feet, metres.

        It is 0 without a floor layer.
        """
        return 0.0 if self._floor is None else self._floor.feet_error

    def follow(
        self, map_from_odom: np.ndarray, odom_from_sensor: np.ndarray, stamp: float | None = None
    ) -> bool:
        """Move the map by a jump of map <- odom since the last call; return whether it moved.

        Both poses: (4, 4). stamp: of the poses, seconds; without it no loop closure is detected and the map moves as a
        whole. Raises ValueError for poses that are not finite, MapExtentError for a jump out of bounds; then nothing
        has moved, and the next call applies the jump again.
        """
        with self.anchor.correction(map_from_odom, odom_from_sensor, stamp) as jump:
            if jump is not None and not self.is_empty:
                (self._move if jump.is_rigid else self._bend)(jump)
        if self.is_empty:
            self.anchor.map_from_part = np.eye(4)
        return jump is not None and not self.is_empty

    def _bend(self, correction: MapCorrection) -> None:
        """Move each part of the map with its submap; mark all columns for projection."""
        pose = self.anchor.map_from_part
        in_tree = correction.seen_from(inverse(pose))
        blocks = transform_points(pose, self._octree.corners(in_tree))[:, :2]
        margin = 8.0 * self.config.resolution
        self._extend(*self._bounds(blocks.min(axis=0) - margin, blocks.max(axis=0) + margin))
        self._octree.bend(in_tree)
        if self._floor is not None:
            self._floor.bend(correction, np.asarray(self._origin_cell))
        self._cells[:], self._dirty[:] = UNKNOWN, True

    def _move(self, correction: MapCorrection) -> None:
        """Move the cells and the floor rigidly; the octree moves with the anchor."""
        jump = correction.jump
        known = np.argwhere((self._cells != UNKNOWN) | self._dirty)
        if not len(known):
            return
        cells = (known[:, ::-1] + np.asarray(self._origin_cell) + 0.5) * self.config.resolution
        points = np.column_stack([cells, np.zeros(len(cells))])
        moved = transform_points(jump, points)
        self._extend(*self._bounds(moved[:, :2].min(axis=0), moved[:, :2].max(axis=0)))
        corner = np.asarray(self._origin_cell)
        places = np.floor(moved[:, :2] / self.config.resolution).astype(np.int64) - corner
        blank, dirty = np.full_like(self._cells, UNKNOWN), np.zeros_like(self._dirty)
        dirty[places[:, 1], places[:, 0]] = True
        if self._floor is not None:
            self._floor.move(jump, corner)
        self._cells, self._dirty = blank, dirty

    def insert_points(
        self, points_sensor: np.ndarray, map_from_sensor: np.ndarray, map_from_base: np.ndarray | None = None
    ) -> int:
        """Integrate rays from the sensor to its returns; return the number of rays used.

        points_sensor: (N, 3) metres; points that are not finite or nearer than min_range are ignored, because
        a beam without a return, which some drivers report at the origin, carries no information (ADR 0027).
        map_from_sensor, map_from_base: (4, 4). The ground under the robot's base counts as floor; as long as
        no map_from_base was given, the floor is at z = 0. Raises MapExtentError, and integrates nothing, if
        the pose is out of bounds.
        """
        points = np.asarray(points_sensor, np.float32)
        distance_squared = np.einsum("ij,ij->i", points, points)
        with np.errstate(invalid="ignore"):
            keep = np.isfinite(distance_squared) & (distance_squared >= self.config.min_range**2)
        points_map = transform_points(map_from_sensor, points[keep].astype(np.float64))
        if not len(points_map):
            return 0
        origin = np.asarray(map_from_sensor[:3, 3], np.float64)
        stands = np.empty((0, 3)) if map_from_base is None else map_from_base[:3, 3] + _BODY
        self._cover(origin, np.concatenate([points_map, stands]))
        if self._floor is not None:
            points_map = self._observe_floor(self._floor, points_map, origin, map_from_base)
        tree_from_map = inverse(self.anchor.map_from_part)
        points_tree = transform_points(tree_from_map, points_map)
        changed = self._octree.insert(
            points_tree,
            tree_from_map[:3, :3] @ origin + tree_from_map[:3, 3],
            self.config.max_range,
            self._node,
        )
        self._mark_changed(changed)
        return len(points_map)

    @property
    def _node(self) -> tuple[int, int] | None:
        """Return the serial numbers of the trajectory's newest node and of its submap's first, or None."""
        way = self.anchor.trajectory
        return (way.serial, way.submap) if len(way) else None

    def _mark_changed(self, voxels: np.ndarray) -> None:
        """Mark the columns that contain voxels (N, 3) of the octree for projection."""
        kernels.mark_columns(
            voxels, np.ascontiguousarray(self.anchor.map_from_part, np.float64), self.config.resolution,
            np.asarray(self._origin_cell, np.int64), self._dirty,
        )  # fmt: skip

    def _observe_floor(
        self, floor: FloorMap, points_map: np.ndarray, origin: np.ndarray, map_from_base: np.ndarray | None
    ) -> np.ndarray:
        """Update the floor with returns (N, 3); return those (M, 3) to integrate into the voxels.

        Returns from another storey and mirror images in the floor are left out.
        """
        corner = np.asarray(self._origin_cell)
        if map_from_base is not None:
            floor.tread(map_from_base, corner)
        node = self._node
        used = floor.observe(
            points_map, origin, corner, self.config.max_range, 0 if node is None else node[0] + 1
        )
        return points_map if used.all() else points_map[used]

    def insert_depth(self, frame: RgbdFrame, map_from_base: np.ndarray | None = None) -> int:
        """Integrate rays of a depth image, one per OCTOMAP_DEPTH_STRIDE pixels; return their number."""
        return self.insert_points(self.depth_points(frame), frame.map_from_camera, map_from_base)

    def depth_points(self, frame: RgbdFrame) -> np.ndarray:
        """Return points (N, 3), metres in the camera's frame, of every OCTOMAP_DEPTH_STRIDE-th pixel.

        Pixels without valid depth are left out.
        """
        stride = OCTOMAP_DEPTH_STRIDE
        depth = frame.depth[::stride, ::stride]
        points = (frame.camera.rays(stride) * depth[..., None]).reshape(-1, 3)
        valid = np.isfinite(points[:, 2]) & (points[:, 2] > 0.0) & (points[:, 2] <= self.config.depth_range)
        return np.asarray(points[valid])

    def project(self, stamp: float) -> OccupancyGrid2D:
        """Return the 2-D grid of the height band above the floor.

        A cell is occupied if a voxel in the band above its floor is occupied, free if one is free, else
        unknown. With a floor layer, drop-offs and low objects are occupied too, and only cells with known
        floor are free; so are unseen cells on which the robot has stood.
        """
        floor = self._floor.state() if self._floor is not None else None
        up = self._voxels_up(floor) if floor is not None else self._asked
        changed = self._changed_columns(up)
        rows, columns = np.nonzero(changed)
        if len(rows):
            self._asked[rows, columns] = up[rows, columns]
            self._cells[rows, columns] = self._column_states(rows, columns)
            self._dirty[:] = False
        cells = self._cells.copy()
        if self._floor is not None and floor is not None:
            cells[(cells == FREE) & ~floor.floor] = UNKNOWN
            # a camera does not see the floor under its robot
            cells[(cells == UNKNOWN) & self._floor.trodden] = FREE
            cells[floor.drop | floor.low] = OCCUPIED
        resolution = self.config.resolution
        column0, row0 = self._origin_cell if self._origin_cell is not None else (0, 0)
        return OccupancyGrid2D(cells, resolution, (column0 * resolution, row0 * resolution), stamp=stamp)

    def _voxels_up(self, floor: FloorState) -> np.ndarray:
        """Return (rows, columns) int16: the floor's height in whole voxels, rounded to suppress noise."""
        voxels = np.rint(floor.reference / self.config.resolution)
        return np.where(np.isnan(voxels), np.float32(0.0), voxels).astype(np.int16)

    def _changed_columns(self, up: np.ndarray) -> np.ndarray:
        """Return (rows, columns) bool: the columns to project again.

        up: (rows, columns), floor height in voxels. A column whose floor height changed is included if its state was
        known or if rays have crossed it since.
        """
        if self._floor is None:
            return self._spread_dirty() if self._dirty.any() else self._dirty
        if not self._dirty.size:
            return self._dirty
        moved = up != self._asked
        self._dirty |= moved & (self._cells != UNKNOWN)
        return self._spread_dirty() | (moved & self._floor.take_crossed())

    def _spread_dirty(self) -> np.ndarray:
        """Return the columns marked for projection, and their neighbours.

        In a rotated map a voxel may lie over up to four columns.
        """
        return cv2.dilate(self._dirty.view(np.uint8), np.ones((3, 3), np.uint8)) > 0

    def binary_data(self) -> bytes:
        """Return the data of octomap_msgs/Octomap with binary = true (occupied or free)."""
        return self._in_map().binary_data()

    def _in_map(self) -> OccupancyVoxels:
        """Return the octree with voxels along the axes of `map`.

        Before the first jump of map <- odom it is the octree itself, afterwards a resampled one.
        """
        if np.array_equal(self.anchor.map_from_part, np.eye(4)):
            return self._octree
        resolution, (low, high) = self.config.resolution, self._octree.heights()
        known = np.argwhere(self._cells != UNKNOWN)
        plan = (known[:, ::-1] + np.asarray(self._origin_cell) + 0.5) * resolution
        levels = (np.arange(np.floor(low / resolution), np.ceil(high / resolution)) + 0.5) * resolution
        levels = levels + self.anchor.map_from_part[2, 3]
        centres = np.column_stack([np.repeat(plan, len(levels), axis=0), np.tile(levels, len(plan))])
        labels = self._octree.labels(transform_points(inverse(self.anchor.map_from_part), centres))
        return self._octree.resampled(centres, labels)

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Return the map as arrays, for `from_arrays`."""
        return {
            "octree": np.frombuffer(self._octree.to_bytes(), np.uint8),
            "cells": self._cells.copy(),
            "dirty": self._dirty.copy(),
            "origin_cell": np.array(self._origin_cell or (0, 0), np.int64),
            "map_from_tree": self.anchor.map_from_part.copy(),
            **(self._floor.to_arrays() if self._floor is not None else {}),
            **self._octree.submap_arrays(),
            **self.anchor.trajectory.to_arrays(),
        }

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, np.ndarray], config: OctoMapConfig = OctoMapConfig()
    ) -> OctoMapper:
        """Return the map from the arrays of `to_arrays`.

        Raises ValueError or KeyError for malformed or inconsistent arrays.
        """
        mapper = cls(config)
        cells, dirty = arrays["cells"].astype(np.int8), arrays["dirty"].astype(np.bool_)
        pose, corner = arrays["map_from_tree"].astype(np.float64), arrays["origin_cell"].tolist()
        if cells.ndim != 2 or cells.shape != dirty.shape or pose.shape != (4, 4) or len(corner) != 2:
            raise ValueError("cells and pose of the grid do not fit")
        if cells.size > config.max_cells or not np.isfinite(pose).all():
            raise ValueError(f"a grid of {cells.shape} cells, or its pose is not finite")
        mapper._octree.read(arrays["octree"].tobytes())
        if mapper._floor is not None:
            mapper._floor.read(arrays, cells == FREE)
        elif "floor_height" in arrays:  # saved with a floor layer: project again for z = 0
            dirty = dirty | (cells != UNKNOWN)
        mapper._octree.read_submaps(arrays)
        mapper._cells, mapper._dirty, mapper.anchor = cells, dirty, Anchor(pose)
        mapper.anchor.trajectory.read(arrays)
        mapper._asked = np.zeros(cells.shape, np.int16)
        mapper._origin_cell = (int(corner[0]), int(corner[1])) if cells.size else None
        return mapper

    @property
    def shortage(self) -> str:
        """Return a warning with its remedy if there is little or no room for more voxels; "" otherwise."""
        return self._octree.shortage

    def memory(self) -> int:
        """Return the memory used by octree and grid, bytes."""
        grids = self._cells.nbytes + self._dirty.nbytes + self._asked.nbytes
        return self._octree.memory() + grids + (self._floor.memory() if self._floor is not None else 0)

    def _column_states(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Return (N,) int8 states of grid columns from the voxels in the height band above their floor."""
        resolution = self.config.resolution
        column0, row0 = self._origin_cell  # type: ignore[misc]
        cells = np.empty((len(rows), 3))
        cells[:, 0] = (columns + column0 + 0.5) * resolution
        cells[:, 1] = (rows + row0 + 0.5) * resolution
        cells[:, 2] = self._asked[rows, columns] * resolution
        empty, full = self._octree.columns(cells, self._levels, inverse(self.anchor.map_from_part))
        states = np.full(len(rows), UNKNOWN, np.int8)
        states[empty] = FREE
        states[full] = OCCUPIED
        return states

    def _cover(self, origin: np.ndarray, points_map: np.ndarray) -> None:
        """Extend the grid to cover the sensor and the points up to max_range.

        Known cells keep their positions in map.
        """
        reach = self.config.max_range
        low = np.maximum(points_map[:, :2].min(axis=0), origin[:2] - reach)
        high = np.minimum(points_map[:, :2].max(axis=0), origin[:2] + reach)
        low, high = np.minimum(low, origin[:2]), np.maximum(high, origin[:2])
        self._extend(*self._bounds(low, high))

    def _bounds(self, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the first and last cell (column, row) between two points (2,), with a margin of one."""
        resolution = self.config.resolution
        first = np.floor(low / resolution).astype(np.int64) - 1
        return first, np.floor(high / resolution).astype(np.int64) + 1

    def _extend(self, first: np.ndarray, last: np.ndarray) -> None:
        """Extend the grid to the cells from `first` to `last`, (column, row) in multiples of the resolution."""
        resolution = self.config.resolution
        old_first = first if self._origin_cell is None else np.asarray(self._origin_cell)
        old_last = old_first + self._cells.shape[::-1] - 1 if self._cells.size else last
        if self._cells.size and (first >= old_first).all() and (last <= old_last).all():
            return
        step = round(OCTOMAP_GROWTH / resolution)
        new_first = np.where(first < old_first, first - step, old_first)
        new_last = np.where(last > old_last, last + step, old_last)
        columns, rows = (new_last - new_first + 1).tolist()
        if rows * columns > self.config.max_cells:
            low, high = first * resolution, last * resolution
            raise MapExtentError(
                f"points from {low.round(1).tolist()} to {high.round(1).tolist()} m would need a grid of {rows} x "
                f"{columns} cells (bound {self.config.max_cells}); is the pose of the sensor right?"
            )
        self._grow(new_first, rows, columns)

    def _grow(self, new_first: np.ndarray, rows: int, columns: int) -> None:
        cells, asked = np.full((rows, columns), UNKNOWN, np.int8), np.zeros((rows, columns), np.int16)
        dirty = np.zeros((rows, columns), np.bool_)
        column, row = 0, 0
        if self._cells.size:
            column, row = (np.asarray(self._origin_cell) - new_first).tolist()
            window = np.s_[row : row + self._cells.shape[0], column : column + self._cells.shape[1]]
            cells[window], dirty[window], asked[window] = self._cells, self._dirty, self._asked
        self._cells, self._dirty, self._asked = cells, dirty, asked
        if self._floor is not None:
            self._floor.grow((rows, columns), row, column)
        self._origin_cell = (int(new_first[0]), int(new_first[1]))
