"""The height of the floor in each column, and drop-offs: steps, descending stairs, holes."""

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
from lodestar.mapping import floor_kernels, low_things
from lodestar.mapping.config import FloorConfig
from lodestar.mapping.floor_shapes import bridges, grown, spread, without_bumps
from lodestar.mapping.submaps import cells_after

_MIRROR = 0.15  # m under a floor that is sure, from which on a return is its mirror image
_CONFIRMED = 2  # hits from which on a surface that lies too low is a drop-off
_CROSSED = 3.0  # m, within which rays that cross a cell tell of it
_FOOT = 0.6  # m, height of the lowest return from a thing that stands on the floor; rings at 12 m are so far apart
_BESIDE = 1.2  # m from the middle of the robot, within which most of what is seen lowest is floor
_ENOUGH = 60  # cells of it that tell whether the feet stand on it, or the pose's height has drifted
_FALLS = (
    0.1  # share of the known floor around that must lie lower for the pose's height to have drifted; chosen
)
_SMOOTH = 0.05  # least weight of one turn in `feet_error`
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
    """The known floor. floor, drop, low: (rows, columns) bool; reference: float32, metres in map, NaN = none.

    floor: seen, walked on, or between pieces of seen floor. drop: a drop-off, or floor that may be its edge. low: there
    lies a thing that the robot does not step over.
    """

    floor: np.ndarray
    drop: np.ndarray
    reference: np.ndarray
    low: np.ndarray


class FloorMap:
    """Heights of the lowest surface per cell, on the cells of a grid that the owner places and grows."""

    def __init__(self, config: FloorConfig, resolution: float) -> None:
        self.config, self._resolution = config, resolution
        self.height = np.empty((0, 0), np.float32)  # m, valid where hits > 0
        self.variance = np.empty((0, 0), np.float32)  # m^2
        self.hits = np.empty((0, 0), np.uint8)  # scans that saw it at this height
        self.above = np.empty((0, 0), np.uint8)  # scans in a row that saw a higher surface only
        self.face = np.empty((0, 0), np.uint8)  # evidence for a vertical face
        self.passed = np.empty(
            (0, 0), np.float32
        )  # m, lowest ray through the column, NaN = none that matters
        self.trodden = np.empty((0, 0), np.bool_)  # the robot has stood on the cell
        self.closest = np.empty((0, 0), np.float32)  # cells, least distance from which a ray has crossed it
        # serial number of the node of the robot's way at which the cell was first seen, + 1; 0 = not known
        self.begun = np.empty((0, 0), np.int32)
        self.top = np.empty((0, 0), np.float32)  # m, highest surface near the floor, valid where tops > 0 ...
        self.tops = np.empty((0, 0), np.uint8)  # ... and the evidence for it
        self._make_scratch((0, 0))
        self._ground: float | None = None  # m, under the robot
        # layers, corner and ground before the last loop closure
        self._before: tuple[dict[str, np.ndarray], np.ndarray, float | None] | None = None
        # m, mean of the last turns: height of the floor that is seen around the robot over that of its feet
        self.feet_error, self._compared = 0.0, 0
        self._bridges = bridges(config, resolution)

    def _make_scratch(self, shape: tuple[int, int]) -> None:
        self._scan = 0
        # the last scan that saw, reduced and looked at the top of a cell
        self._seen, self._touched, self._tipped = (np.zeros(shape, np.int32) for _ in range(3))
        self._crossed = np.zeros(shape, np.bool_)  # by a ray since `take_crossed`
        self._low = np.zeros(shape, np.bool_)  # of the last `state`
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
        """Move by a (4, 4) jump of the map. corner: (column, row) of cell (0, 0); the grid contains the result."""
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
        for name, layer in layers.items():  # all or none
            setattr(self, name, layer)
        self.height += np.float32(jump[2, 3])
        self.passed += np.float32(jump[2, 3])
        self.top += np.float32(jump[2, 3])
        self._low = np.zeros_like(self._low)
        if self._ground is not None:
            self._ground += float(jump[2, 3])

    def bend(self, correction: MapCorrection, corner: np.ndarray) -> None:
        """Move each cell with the part of the robot's way on which it was first seen. corner: as for `move`.

        A correction that takes the last one back restores the layers from before that one.
        """
        if correction.undoes and self._before is not None:
            self._restore(corner)
            return
        self._before = {name: getattr(self, name).copy() for name in _LAYERS}, np.array(corner), self._ground
        rows = np.where(self.begun > 0, correction.rows_of(self.begun - 1), -1).astype(np.int32)
        unknown = (self.begun == 0) & (np.isfinite(self.passed) | np.isfinite(self.closest) | self.trodden)
        if unknown.any():  # rays have crossed them: they belong to the way beside them
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
        """Mark the cells under the feet of a robot at a (4, 4) pose as floor. corner: (column, row) of cell (0, 0)."""
        foot = map_from_base[:3, 3] - self.config.base_height * map_from_base[:3, 2]
        self._ground = float(foot[2])
        x, y, yaw = foot[0], foot[1], yaw_of(map_from_base)
        pitch = math.atan2(map_from_base[2, 0], math.hypot(map_from_base[0, 0], map_from_base[1, 0]))
        floor_kernels.tread(
            self.height, self.variance, self.hits, self.trodden, x / self._resolution - corner[0],
            y / self._resolution - corner[1], yaw, GO2.length / 2.0, GO2.width / 2.0, self._resolution,
            float(foot[2]), math.tan(pitch), self.config.noise**2, self.config.step,
        )  # fmt: skip
        self._compare_feet(
            round(x / self._resolution) - int(corner[0]), round(y / self._resolution) - int(corner[1])
        )

    def _above_next_storey(self, returns: np.ndarray, origin: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the ends (N, 3) of rays, no deeper than `depth`, and (N,) bool: those that end on a storey below."""
        if self._ground is None:
            return returns, np.zeros(len(returns), np.bool_)
        lowest = self._ground - self.config.depth
        below = returns[:, 2] < lowest
        if below.any():
            share = (origin[2] - lowest) / np.maximum(origin[2] - returns[below, 2], 1e-6)
            returns = returns.copy()
            returns[below] = origin + share[:, None] * (returns[below] - origin)
        return returns, below

    def _compare_feet(self, column: int, row: int) -> None:
        """Follow how far the floor around a cell lies over the feet; a wrong `base_height` shows as that error."""
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
        """Add the returns (N, 3) of one scan from `origin` (3,), metres in map. corner: (column, row) of cell (0, 0).

        max_range: metres in plan up to which a ray tells of the cells that it crosses. begun: of cells that are seen
        for the first time. Returns (N,) bool: the returns that are not mirror images in the floor.
        """
        config = self.config
        self._scan += 1
        used = np.ones(len(returns), np.bool_)
        ground = self._ground if self._ground is not None else 0.0
        returns, below = self._above_next_storey(returns, origin)
        ends, start = floor_kernels.in_cells(returns, origin, corner, self._resolution)
        floor_kernels.trace_below(
            self.height, self.hits, self.passed, self._touched, self._scan, ends, start,
            ground - config.doubt, ground + config.rise, _MIRROR, used,
        )  # fmt: skip
        used &= ~below
        cells, rays = floor_kernels.lowest_returns(
            ends, used, self._lowest, self._highest, self._spread, self._seen, self._scan, config.noise,
            config.noise_per_meter, start, self._resolution,
        )  # fmt: skip
        drift = self._drift(cells, start)
        floor_kernels.fuse_heights(
            cells, self._lowest, self._highest, self._spread, self.height, self.variance, self.hits, self.above,
            self.face, config.gate, config.least_gate, config.rise, config.step,
        )  # fmt: skip
        up = np.array([0.0, 0.0, max(drift, 0.0)])
        self._observe_tops(ends - up, used, start - up, ground + config.rise - up[2])
        if begun:
            first = self.begun.reshape(-1)
            fresh = cells[first[cells] == 0]
            first[fresh] = begun
        needed = (
            max(float(self._bridges[-1][-1]), _CROSSED) / self._resolution
        )  # what lies farther is as good as inf
        floor_kernels.cross(
            self.closest, self._crossed, ends[rays], start, max_range / self._resolution, needed
        )
        return used

    def _drift(self, cells: np.ndarray, start: np.ndarray) -> float:
        """Return by how many metres this scan sees most of the known floor around the robot higher than the map has it:
        the height of its pose has drifted. Where the drift is downwards, the heights of seen cells fall at once; their
        tops fall here with them, and tops of floor that the scan does not see are not believed any longer.

        cells: (N,) flat, start: (3,), in cells.
        """
        rows, columns = np.divmod(cells, self.height.shape[1])
        known = self.hits[rows, columns] >= _CONFIRMED
        known &= (
            np.hypot(columns + 0.5 - start[0], rows + 0.5 - start[1]) * self._resolution
            <= self.config.low_reach
        )
        at = rows[known], columns[known]
        if len(at[0]) < _ENOUGH:
            return 0.0
        offsets = self._lowest[at] - self.height[at]
        if np.mean(offsets < -self.config.least_gate) >= _FALLS:
            self.top[at] += np.minimum(offsets, 0.0)
            reach = math.ceil(self.config.low_reach / self._resolution)
            row, column = math.floor(start[1]), math.floor(start[0])
            around = np.s_[max(row - reach, 0) : row + reach + 1, max(column - reach, 0) : column + reach + 1]
            doubted = ~self._low[around] & (self.tops[around] > low_things.SEEN)
            self.tops[around][doubted] = low_things.SEEN
        return max(float(np.median(offsets)), 0.0)

    def _observe_tops(self, ends: np.ndarray, used: np.ndarray, start: np.ndarray, highest: float) -> None:
        """Follow the highest surfaces up to `highest`, metres; ends and start as of `floor_kernels.in_cells`."""
        config, scan, side = self.config, self._scan, self._resolution
        cells = low_things.tips(
            ends, used, self._tip, self._tipped, scan, start, side, config.low_reach, highest,
            config.noise_per_meter,
        )  # fmt: skip
        low_things.fuse(cells, self._tip, self.top, self.tops, self._low, config.least_gate)
        low_things.pass_under(
            ends, used, self.top, self.tops, self._tipped, scan, start, side, config.low_reach, highest,
            config.least_gate,
        )  # fmt: skip

    def take_crossed(self) -> np.ndarray:
        """Return (rows, columns) bool: cells that rays have crossed nearby since the last call, and those beside."""
        crossed = cv2.dilate(self._crossed.view(np.uint8), _NEIGHBOURS) > 0
        self._crossed[:] = False
        return crossed

    def state(self) -> FloorState:
        """Floor, drop-offs and the height of the floor, as seen by somebody who walks from where the robot has stood.

        Where it has told of no place that it stood on, the floor is what lies at z = 0.
        """
        config, shape = self.config, self.hits.shape
        if not self.hits.size:
            none = np.zeros(shape, bool)
            return FloorState(none, none, np.zeros(shape, np.float32), none)
        seeds = self.trodden
        if not seeds.any():
            seeds = (self.hits > 0) & (np.abs(self.height) <= config.step)
        seen, reference = self.walk(seeds)
        level = without_bumps(reference, self._resolution)
        seen &= ~self._rim(seen, level)
        suspect, drop = self._ends(seen, level)
        with np.errstate(invalid="ignore"):
            foot = ~seen & (self.hits > 0) & (self.height > level) & (self.height < level + _FOOT)
            floor = self.bridged(seen, foot) & (seen | ~(self.height < level - config.doubt))
        if suspect.any():
            unsure = spread(suspect, ~seen, config.spread, self._resolution)
            sure = (
                cv2.dilate(unsure.view(np.uint8), _NEIGHBOURS) == 0
            )  # the wall of a shaft shows below its edge
            seen &= self.trodden | sure
            floor &= seen | sure
        if drop.any():
            drop = grown(drop, config.edge, self._resolution) & ~seen
        with np.errstate(invalid="ignore"):
            rises = self.top - level
            self._low = (self.tops >= low_things.SURE) & (rises > config.low) & (rises <= config.low_top)
        return FloorState(floor & ~drop, drop, level, self._low)

    def walk(self, seeds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Floor that a walk from the seeds finds, (rows, columns) bool, and its height, float32, metres, NaN = none."""
        config = self.config
        return floor_kernels.walk(
            self.height, self.hits, self.face, seeds, self._resolution, config.step, config.gap_step,
            config.gap_slope, config.slope, config.doubt,
        )  # fmt: skip

    def _ends(self, seen: np.ndarray, level: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(rows, columns) bool: where something says that the floor ends, and where it surely does.

        Rays pass under it there, or a surface lies lower. level: (rows, columns) float32, metres, of the floor.
        """
        step, doubt = self.config.step, self.config.doubt
        with np.errstate(invalid="ignore"):
            lower = (self.height < level - step) & (self.hits >= _CONFIRMED)
            drop = ~seen & (lower | (self.passed < level - step))
            suspect = ~seen & ((self.passed < level - doubt) | (self.height < level - step))
        return drop | suspect, drop

    def _rim(self, seen: np.ndarray, level: np.ndarray) -> np.ndarray:
        """(rows, columns) bool: seen floor beside unseen ground that lies a little lower than the floor beside it, as
        the upper part of a shaft's wall does.
        """
        highest = cv2.dilate(np.where(seen, level, np.float32(-np.inf)), _AROUND)
        beside = cv2.dilate((~seen).view(np.uint8), _NEIGHBOURS) > 0
        low = (self.height < highest - self.config.doubt) & (self.height < level + self.config.doubt)
        return seen & beside & ~self.trodden & low

    def bridged(self, seen: np.ndarray, foot: np.ndarray) -> np.ndarray:
        """(rows, columns) bool: seen floor, and gaps in it as wide as those between the rings of a LiDAR at the least
        distance from which rays have crossed them. foot: where things stand, on floor.
        """
        distance = self.closest * np.float32(self._resolution)
        return floor_kernels.bridge(seen, foot, distance, *self._bridges)

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Return the whole state, for `read`."""
        return {f"floor_{name}": getattr(self, name).copy() for name in _LAYERS}

    def read(self, arrays: Mapping[str, np.ndarray], free: np.ndarray) -> None:
        """Restore the state of `to_arrays`. Raises ValueError for layers of another shape than `free`.

        free: (rows, columns) bool; a map of an earlier version has no floor layer: its floor is z = 0 under free cells.
        """
        blank = self._blank(free.shape)
        if not any(f"floor_{name}" in arrays for name in _LAYERS):
            blank["height"][free], blank["hits"][free] = 0.0, 1
            blank["variance"][free] = self.config.noise**2
        for name, layer in blank.items():
            given = arrays.get(f"floor_{name}", layer).astype(layer.dtype)
            if given.shape != free.shape:
                raise ValueError(f"the layer {name} of the floor does not fit the grid")
            setattr(self, name, given)
        self._make_scratch(free.shape)

    def memory(self) -> int:
        """Bytes held."""
        scratch = 2 * self._crossed.nbytes + 3 * self._seen.nbytes + 4 * self._lowest.nbytes
        return sum(getattr(self, name).nbytes for name in _LAYERS) + scratch
