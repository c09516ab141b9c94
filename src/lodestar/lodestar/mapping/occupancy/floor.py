"""Height of the floor per cell of the 2-D grid, and drop-offs: steps, descending stairs, holes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import cv2
import numpy as np

from lodestar.geometry.map_correction import MapCorrection
from lodestar.geometry.poses import yaw_of
from lodestar.grid.correction import moved_cells
from lodestar.grid.footprint import GO2
from lodestar.mapping.config import FLOOR_STEP, FloorConfig
from lodestar.mapping.occupancy import floor_kernels, low_things
from lodestar.mapping.occupancy.floor_shapes import bridges, grown, spread, without_bumps
from lodestar.mapping.voxels.submaps import cells_after

FLOOR_SLOPE = 0.15  # rise over run of the floor (8.5 degrees); stairs have 0.5 and more
FLOOR_GAP_STEP = 0.06  # m, largest difference of height across a gap in which no floor was seen
FLOOR_GAP_SLOPE = 0.05  # m, added to FLOOR_GAP_STEP per metre of the gap; a beam over an edge falls by more
# m below the floor from which a surface or a ray contradicts it; chosen: twice FLOOR_NOISE
FLOOR_DOUBT = 0.04
# m around a contradiction, within which unseen ground does not count as floor; chosen: a gap between rings
FLOOR_SPREAD = 1.0
FLOOR_EDGE = 0.5  # m around a drop-off within which unseen floor counts as part of it
FLOOR_NOISE = 0.02  # m, standard deviation of the height of a return (range noise and body motion)
FLOOR_NOISE_PER_METER = 0.01  # m, added to FLOOR_NOISE per metre of range (0.6 degrees of attitude)
FLOOR_GATE = 3.0  # standard deviations within which a return belongs to the known surface
FLOOR_LEAST_GATE = 0.05  # m, least value of that distance
# m below the robot's feet from which a ray shows another storey, seen through a stairwell; chosen: five
# steps, which show a flight of stairs, and less than the height of a storey minus the headroom of 1.9 m below
# it
FLOOR_DEPTH = 0.8
FLOOR_RISE = 0.3  # m by which the floor may rise through drift of TF; higher surfaces are objects on it
# m above the floor, less FLOOR_NOISE_PER_METER, from which an object is an obstacle: a Go2's belly is 0.10
# above it
FLOOR_LOW = 0.07
# m above the floor up to which an object is low: rays pass over it. Higher objects are in the octree, and a
# cell with a wall or a leg only in its corner must not become an obstacle; chosen: a pallet is 0.15 high
FLOOR_LOW_TOP = 0.2
FLOOR_LOW_REACH = 2.5  # m, largest range of returns for low objects; chosen: attitude adds 0.025 m there

_MIRROR = 0.15  # m below a certain floor, from which on a return is a mirror image
_CONFIRMED = 2  # hits from which on a surface below the floor is a drop-off
_CROSSED = 3.0  # m, range within which a ray updates the cells that it crosses
_FOOT = 0.6  # m, height up to which the lowest return of a standing object lies; LiDAR rings at 12 m are so far apart
_BESIDE = 1.2  # m from the robot's centre, within which most of the lowest surfaces are floor
_ENOUGH = 60  # cells needed to compare the floor with the feet, or to detect a height drift of the pose
# share of the known floor nearby that must appear lower for the pose's height to count as drifted; chosen
_FALLS = 0.1
_SMOOTH = 0.05  # least weight of one comparison in `feet_error`
_NEIGHBOURS = np.ones((3, 3), np.uint8)
_AROUND = np.ones((5, 5), np.uint8)
_LAYERS = {
    "height": np.float32,
    "variance": np.float32,
    "hits": np.uint8,
    "above": np.uint8,
    "face": np.uint8,
    "passed": np.float32,
    "trodden": np.bool_,
    "closest": np.float32,
    "begun": np.int32,
    "top": np.float32,
    "tops": np.uint8,
}


@dataclass(frozen=True)
class FloorState:
    """Known floor; each mask is (rows, columns) bool.

    floor: floor that was seen, walked on, or lies between pieces of seen floor. drop: a drop-off, or floor
    that may be its edge. low: an object that is low but too high for the robot to step over. reference:
    (rows, columns) float32, height of the floor, metres in map, NaN = none.
    """

    floor: np.ndarray
    drop: np.ndarray
    reference: np.ndarray
    low: np.ndarray


class FloorMap:
    """Height of the lowest surface per cell of a 2-D grid, whose extent is set by the owner."""

    def __init__(self, config: FloorConfig, resolution: float) -> None:
        self.config, self._resolution = config, resolution
        self.height = np.empty((0, 0), np.float32)  # m, valid where hits > 0
        self.variance = np.empty((0, 0), np.float32)  # m^2
        self.hits = np.empty((0, 0), np.uint8)  # scans that saw a surface at this height
        self.above = np.empty((0, 0), np.uint8)  # scans in a row that saw only a higher surface
        self.face = np.empty((0, 0), np.uint8)  # evidence for a vertical face
        # m, height of the lowest ray that passed below a doubtful level, NaN = none
        self.passed = np.empty((0, 0), np.float32)
        self.trodden = np.empty((0, 0), np.bool_)  # whether the robot has stood on the cell
        # cells, smallest distance from which a ray has crossed it
        self.closest = np.empty((0, 0), np.float32)
        # serial number of the trajectory node at which the cell was first seen, + 1; 0 = unknown
        self.begun = np.empty((0, 0), np.int32)
        self.top = np.empty((0, 0), np.float32)  # m, highest surface near the floor, valid where tops > 0
        self.tops = np.empty((0, 0), np.uint8)  # evidence for `top`
        self._make_scratch((0, 0))
        self._ground: float | None = None  # m, height of the floor under the robot
        # layers, corner and ground before the last loop closure
        self._before: tuple[dict[str, np.ndarray], np.ndarray, float | None] | None = None
        # m, running mean of the height of the floor seen around the robot above its feet
        self.feet_error, self._compared = 0.0, 0
        self._bridges = bridges(config.far_bridge, resolution)

    def _make_scratch(self, shape: tuple[int, int]) -> None:
        self._scan = 0
        # number of the last scan that saw a cell, took one of its hits, and measured its top
        self._seen, self._touched, self._tipped = (np.zeros(shape, np.int32) for _ in range(3))
        self._crossed = np.zeros(shape, np.bool_)  # cells crossed by a ray since `take_crossed`
        self._low = np.zeros(shape, np.bool_)  # `low` of the last `state`
        self._lowest, self._highest, self._spread, self._tip = (np.zeros(shape, np.float32) for _ in range(4))

    def _blank(self, shape: tuple[int, int]) -> dict[str, np.ndarray]:
        fills = {"height": np.nan, "passed": np.nan, "closest": np.inf, "top": np.nan}
        return {name: np.full(shape, fills.get(name, 0), kind) for name, kind in _LAYERS.items()}

    def grow(self, shape: tuple[int, int], row: int, column: int) -> None:
        """Grow to `shape`; the former cell (0, 0) moves to (row, column)."""
        blank = self._blank(shape)
        rows, columns = self.height.shape
        for name, layer in blank.items():
            layer[row : row + rows, column : column + columns] = getattr(self, name)
            setattr(self, name, layer)
        self._make_scratch(shape)

    def move(self, jump: np.ndarray, corner: np.ndarray) -> None:
        """Move all layers by a jump (4, 4) of the map.

        corner: (column, row) of cell (0, 0); the grid must be large enough for the result.
        """
        shape, layers = self.height.shape, {}
        for name, blank in self._blank(shape).items():
            layer = getattr(self, name)
            fill = float(blank.flat[0]) if blank.size else 0.0
            moved, first = moved_cells(layer, corner, self._resolution, jump, fill)
            column, row = (first - corner).tolist()
            to_row, to_column = max(row, 0), max(column, 0)
            part = moved[to_row - row : shape[0] - row, to_column - column : shape[1] - column]
            blank[to_row : to_row + part.shape[0], to_column : to_column + part.shape[1]] = part
            layers[name] = blank
        for name, layer in layers.items():  # only after all layers have been computed
            setattr(self, name, layer)
        self.height += np.float32(jump[2, 3])
        self.passed += np.float32(jump[2, 3])
        self.top += np.float32(jump[2, 3])
        self._low = np.zeros_like(self._low)
        if self._ground is not None:
            self._ground += float(jump[2, 3])

    def bend(self, correction: MapCorrection, corner: np.ndarray) -> None:
        """Move each cell with the part of the trajectory on which it was first seen, after a loop closure.

        If the correction undoes the last one, the layers from before the last one are restored. corner: as
        for `move`.
        """
        if correction.undoes and self._before is not None:
            self._restore(corner)
            return
        self._before = {name: getattr(self, name).copy() for name in _LAYERS}, np.array(corner), self._ground
        rows = np.where(self.begun > 0, correction.rows_of(self.begun - 1), -1).astype(np.int32)
        unknown = (self.begun == 0) & (np.isfinite(self.passed) | np.isfinite(self.closest) | self.trodden)
        if unknown.any():  # cells only crossed by rays move with the nearest part of the trajectory
            at = np.argwhere(unknown)
            rows[unknown] = correction.rows_at((at[:, ::-1] + corner + 0.5) * self._resolution)
        came = cells_after(rows, correction.moves, corner, self._resolution, self.hits)
        known, source = came >= 0, came[came >= 0]
        lift = correction.moves[:, 2, 3][rows.reshape(-1)[source]].astype(np.float32)
        layers = self._blank(self.hits.shape)
        for name, layer in layers.items():
            layer[known] = getattr(self, name).reshape(-1)[source]
        layers["height"][known] += lift
        layers["passed"][known] += lift
        layers["top"][known] += lift
        self._low = np.zeros_like(self._low)
        for name, layer in layers.items():
            setattr(self, name, layer)
        if self._ground is not None:
            self._ground += float(correction.jump[2, 3])

    def _restore(self, corner: np.ndarray) -> None:
        assert self._before is not None
        layers, first, self._ground = self._before
        self._low = np.zeros_like(self._low)
        blank = self._blank(self.hits.shape)
        column, row = (np.asarray(first) - corner).tolist()
        for name, layer in layers.items():
            rows, columns = layer.shape
            blank[name][row : row + rows, column : column + columns] = layer
            setattr(self, name, blank[name])
        self._before = None

    def tread(self, map_from_base: np.ndarray, corner: np.ndarray) -> None:
        """Mark the cells under the feet of a robot at pose (4, 4) as floor. corner: (column, row) of cell (0, 0)."""
        foot = map_from_base[:3, 3] - self.config.base_height * map_from_base[:3, 2]
        self._ground = float(foot[2])
        x, y, yaw = foot[0], foot[1], yaw_of(map_from_base)
        pitch = math.atan2(map_from_base[2, 0], math.hypot(map_from_base[0, 0], map_from_base[1, 0]))
        floor_kernels.tread(
            self.height, self.variance, self.hits, self.trodden, x / self._resolution - corner[0],
            y / self._resolution - corner[1], yaw, GO2.length / 2.0, GO2.width / 2.0, self._resolution,
            float(foot[2]), math.tan(pitch), FLOOR_NOISE**2, FLOOR_STEP,
        )  # fmt: skip
        self._compare_feet(
            round(x / self._resolution) - int(corner[0]), round(y / self._resolution) - int(corner[1])
        )

    def _above_next_storey(self, returns: np.ndarray, origin: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the ends (N, 3) of rays, shortened to FLOOR_DEPTH below the robot's feet, and which were.

        Lower returns belong to another storey. The second result is (N,) bool.
        """
        if self._ground is None:
            return returns, np.zeros(len(returns), np.bool_)
        lowest = self._ground - FLOOR_DEPTH
        below = returns[:, 2] < lowest
        if below.any():
            share = (origin[2] - lowest) / np.maximum(origin[2] - returns[below, 2], 1e-6)
            returns = returns.copy()
            returns[below] = origin + share[:, None] * (returns[below] - origin)
        return returns, below

    def _compare_feet(self, column: int, row: int) -> None:
        """Update `feet_error`: height of the floor around a cell, relative to the robot's feet, metres.

        An error other than 0 means that `base_height` is wrong.
        """
        reach = round(_BESIDE / self._resolution)
        window = np.s_[max(row - reach, 0) : row + reach + 1, max(column - reach, 0) : column + reach + 1]
        around = self.height[window][(self.hits[window] >= _CONFIRMED) & ~self.trodden[window]]
        if len(around) >= _ENOUGH and self._ground is not None:
            self._compared += 1
            error = float(np.median(around)) - self._ground
            self.feet_error += max(_SMOOTH, 1.0 / self._compared) * (error - self.feet_error)

    def observe(
        self, returns: np.ndarray, origin: np.ndarray, corner: np.ndarray, max_range: float, begun: int = 0
    ) -> np.ndarray:
        """Add the returns of one scan; return (N,) bool: the returns to use for the occupancy map.

        Mirror images in the floor and returns from another storey are False. returns: (N, 3), origin: (3,),
        metres in map. corner: (column, row) of cell (0, 0). max_range: metres in plan up to which a ray
        updates the cells that it crosses. begun: serial number of the trajectory node + 1, stored for cells
        seen for the first time; 0 = unknown.
        """
        self._scan += 1
        used = np.ones(len(returns), np.bool_)
        ground = self._ground if self._ground is not None else 0.0
        returns, below = self._above_next_storey(returns, origin)
        ends, start = floor_kernels.in_cells(returns, origin, corner, self._resolution)
        floor_kernels.trace_below(
            self.height, self.hits, self.passed, self._touched, self._scan, ends, start,
            ground - FLOOR_DOUBT, ground + FLOOR_RISE, _MIRROR, used,
        )  # fmt: skip
        used &= ~below
        cells, rays = floor_kernels.lowest_returns(
            ends, used, self._lowest, self._highest, self._spread, self._seen, self._scan, FLOOR_NOISE,
            FLOOR_NOISE_PER_METER, start, self._resolution,
        )  # fmt: skip
        drift = self._drift(cells, start)
        floor_kernels.fuse_heights(
            cells, self._lowest, self._highest, self._spread, self.height, self.variance, self.hits, self.above,
            self.face, FLOOR_GATE, FLOOR_LEAST_GATE, FLOOR_RISE, FLOOR_STEP,
        )  # fmt: skip
        up = np.array([0.0, 0.0, max(drift, 0.0)])
        self._observe_tops(ends - up, used, start - up, ground + FLOOR_RISE - up[2])
        if begun:
            first = self.begun.reshape(-1)
            fresh = cells[first[cells] == 0]
            first[fresh] = begun
        # larger distances make no difference
        needed = max(float(self._bridges[-1][-1]), _CROSSED) / self._resolution
        floor_kernels.cross(
            self.closest, self._crossed, ends[rays], start, max_range / self._resolution, needed
        )
        return used

    def _drift(self, cells: np.ndarray, start: np.ndarray) -> float:
        """Return the upward height drift of this scan's pose, metres >= 0.

        It is the median rise of known floor around the robot. If the drift is downwards, 0 is returned; the
        tops of seen cells are then lowered with the scan's floor, and the other tops nearby lose evidence.
        cells: (N,) flat, of this scan. start: (3,), sensor in cells.
        """
        rows, columns = np.divmod(cells, self.height.shape[1])
        known = self.hits[rows, columns] >= _CONFIRMED
        known &= (
            np.hypot(columns + 0.5 - start[0], rows + 0.5 - start[1]) * self._resolution <= FLOOR_LOW_REACH
        )
        at = rows[known], columns[known]
        if len(at[0]) < _ENOUGH:
            return 0.0
        offsets = self._lowest[at] - self.height[at]
        if np.mean(offsets < -FLOOR_LEAST_GATE) >= _FALLS:
            self.top[at] += np.minimum(offsets, 0.0)
            reach = math.ceil(FLOOR_LOW_REACH / self._resolution)
            row, column = math.floor(start[1]), math.floor(start[0])
            around = np.s_[max(row - reach, 0) : row + reach + 1, max(column - reach, 0) : column + reach + 1]
            doubted = ~self._low[around] & (self.tops[around] > low_things.SEEN)
            self.tops[around][doubted] = low_things.SEEN
        return max(float(np.median(offsets)), 0.0)

    def _observe_tops(self, ends: np.ndarray, used: np.ndarray, start: np.ndarray, highest: float) -> None:
        """Update the highest surface of each cell from rays, to find low objects.

        ends, start: rays as returned by `floor_kernels.in_cells`. used: (N,) bool, rays to use. highest:
        metres; higher surfaces are ignored.
        """
        scan, side = self._scan, self._resolution
        cells = low_things.tips(
            ends, used, self._tip, self._tipped, scan, start, side, FLOOR_LOW_REACH, highest,
            FLOOR_NOISE_PER_METER,
        )  # fmt: skip
        low_things.fuse(cells, self._tip, self.top, self.tops, self._low, FLOOR_LEAST_GATE)
        low_things.pass_under(
            ends, used, self.top, self.tops, self._tipped, scan, start, side, FLOOR_LOW_REACH, highest,
            FLOOR_LEAST_GATE,
        )  # fmt: skip

    def take_crossed(self) -> np.ndarray:
        """Return (rows, columns) bool: cells crossed by rays since the last call, and their neighbours."""
        crossed = cv2.dilate(self._crossed.view(np.uint8), _NEIGHBOURS) > 0
        self._crossed[:] = False
        return crossed

    def state(self) -> FloorState:
        """Return the floor that is reachable from where the robot has stood, drop-offs and low objects.

        Before the robot has stood anywhere, the search starts at surfaces near z = 0.
        """
        if not self.hits.size:
            shape = self.hits.shape
            none = np.zeros(shape, bool)
            return FloorState(none, none, np.zeros(shape, np.float32), none)
        seeds = self.trodden
        if not seeds.any():
            seeds = (self.hits > 0) & (np.abs(self.height) <= FLOOR_STEP)
        seen, reference = self.walk(seeds)
        level = without_bumps(reference, self._resolution)
        seen &= ~self._rim(seen, level)
        suspect, drop = self._ends(seen, level)
        with np.errstate(invalid="ignore"):
            foot = ~seen & (self.hits > 0) & (self.height > level) & (self.height < level + _FOOT)
            floor = self.bridged(seen, foot) & (seen | ~(self.height < level - FLOOR_DOUBT))
        if suspect.any():
            unsure = spread(suspect, ~seen, FLOOR_SPREAD, self._resolution)
            # keep seen floor above: the wall of a shaft shows below its edge
            sure = cv2.dilate(unsure.view(np.uint8), _NEIGHBOURS) == 0
            seen &= self.trodden | sure
            floor &= seen | sure
        if drop.any():
            drop = grown(drop, FLOOR_EDGE, self._resolution) & ~seen
        with np.errstate(invalid="ignore"):
            rises = self.top - level
            self._low = (self.tops >= low_things.SURE) & (rises > FLOOR_LOW) & (rises <= FLOOR_LOW_TOP)
        return FloorState(floor & ~drop, drop, level, self._low)

    def walk(self, seeds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the floor reachable from the seeds, and its height.

        The floor is (rows, columns) bool; the height is float32, metres, NaN = none.
        """
        return floor_kernels.walk(
            self.height, self.hits, self.face, seeds, self._resolution, FLOOR_STEP, FLOOR_GAP_STEP,
            FLOOR_GAP_SLOPE, FLOOR_SLOPE, FLOOR_DOUBT,
        )  # fmt: skip

    def _ends(self, seen: np.ndarray, level: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return two (rows, columns) bool: cells that may be a drop-off, and cells that certainly are one.

        There rays pass below the height of the floor, or the surface lies lower. seen: seen floor. level:
        (rows, columns) float32, metres, height of the floor.
        """
        step, doubt = FLOOR_STEP, FLOOR_DOUBT
        with np.errstate(invalid="ignore"):
            lower = (self.height < level - step) & (self.hits >= _CONFIRMED)
            drop = ~seen & (lower | (self.passed < level - step))
            suspect = ~seen & ((self.passed < level - doubt) | (self.height < level - step))
        return drop | suspect, drop

    def _rim(self, seen: np.ndarray, level: np.ndarray) -> np.ndarray:
        """Return (rows, columns) bool: seen floor at the rim of a shaft.

        Such floor borders on unseen cells and lies a little lower than the floor beside it, like the top of the
        shaft's wall.
        """
        highest = cv2.dilate(np.where(seen, level, np.float32(-np.inf)), _AROUND)
        beside = cv2.dilate((~seen).view(np.uint8), _NEIGHBOURS) > 0
        low = (self.height < highest - FLOOR_DOUBT) & (self.height < level + FLOOR_DOUBT)
        return seen & beside & ~self.trodden & low

    def bridged(self, seen: np.ndarray, foot: np.ndarray) -> np.ndarray:
        """Return (rows, columns) bool: seen floor, and gaps in it as narrow as those between LiDAR rings.

        The width allowed depends on the smallest distance from which a ray has crossed the cell. foot: cells
        where objects stand on the floor.
        """
        distance = self.closest * np.float32(self._resolution)
        return floor_kernels.bridge(seen, foot, distance, *self._bridges)

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Return all layers as arrays for `read`."""
        return {f"floor_{name}": getattr(self, name).copy() for name in _LAYERS}

    def read(self, arrays: Mapping[str, np.ndarray], free: np.ndarray) -> None:
        """Restore the state from the arrays of `to_arrays`.

        Raises ValueError for layers of another shape than `free`. free: (rows, columns) bool. A map of an
        earlier version has no floor layer; its floor is set to z = 0 under free cells.
        """
        blank = self._blank(free.shape)
        if not any(f"floor_{name}" in arrays for name in _LAYERS):
            blank["height"][free], blank["hits"][free] = 0.0, 1
            blank["variance"][free] = FLOOR_NOISE**2
        for name, layer in blank.items():
            given = arrays.get(f"floor_{name}", layer).astype(layer.dtype)
            if given.shape != free.shape:
                raise ValueError(f"the layer {name} of the floor does not fit the grid")
            setattr(self, name, given)
        self._make_scratch(free.shape)

    def memory(self) -> int:
        """Return the memory used, bytes."""
        scratch = 2 * self._crossed.nbytes + 3 * self._seen.nbytes + 4 * self._lowest.nbytes
        return sum(getattr(self, name).nbytes for name in _LAYERS) + scratch
