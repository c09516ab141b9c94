"""Surfaces as a truncated signed distance field in blocks (OpenVox's geometry, RoboAtlas III-B)."""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numba import njit

from lodestar.geometry.camera import PinholeCamera
from lodestar.geometry.poses import inverse
from lodestar.mapping.blocks import CELLS, SIDE, BlockPool, find, give_back, in_view, obtain

SCALE = 32767.0  # of a distance in the pool: +-1 truncation
_FREE = 0.9 * SCALE  # from here on a voxel is free space, with no surface beside it
ARRAYS_VERSION = 1


@dataclass(frozen=True)
class GeometryConfig:
    """voxel: metres. truncation: metres either side of a surface (DESIGN section 4: 4-5 voxels).

    near, far: metres of depth; what is measured farther shows free space up to far. top: weight at which a voxel
    becomes a running mean. clear_margin, clear_per_metre: metres by which all depth around a surface voxel must pass
    it to show it empty; then its weight is halved, so that a surface is gone after a few such looks.
    capacity: blocks of 8 x 8 x 8 voxels at most; what finds no room is counted. 3 KiB each when used.
    """

    voxel: float = 0.05
    truncation: float = 0.20
    near: float = 0.1
    far: float = 5.0
    top: int = 64
    clear_margin: float = 0.10
    clear_per_metre: float = 0.02
    capacity: int = 1 << 17


@njit(cache=True, nogil=True)
def _touch(table, coords, free, state, depth, camera, rotation, offset, near, far, truncation, block, stride):
    """Blocks within truncation of measured points exist."""
    fx, fy, cx, cy = camera
    rows, columns = depth.shape
    last_x, last_y, last_z = 1 << 40, 0, 0
    for row in range(stride // 2, rows, stride):
        b = (row - cy) / fy
        for column in range(stride // 2, columns, stride):
            z = depth[row, column]
            if not (z >= near and z <= far):  # also refuses NaN
                continue
            a = (column - cx) / fx
            dx = rotation[0, 0] * a + rotation[0, 1] * b + rotation[0, 2]
            dy = rotation[1, 0] * a + rotation[1, 1] * b + rotation[1, 2]
            dz = rotation[2, 0] * a + rotation[2, 1] * b + rotation[2, 2]
            for step in range(-1, 2):
                t = z + step * truncation
                x = math.floor((dx * t + offset[0]) / block)
                y = math.floor((dy * t + offset[1]) / block)
                w = math.floor((dz * t + offset[2]) / block)
                if x == last_x and y == last_y and w == last_z:
                    continue
                last_x, last_y, last_z = x, y, w
                obtain(table, coords, free, state, x, y, w)


@njit(cache=True, nogil=True, inline="always")
def _is_clear(depth, row, column, spread, bound):
    """Whether everything around a pixel is farther than `bound`."""
    rows, columns = depth.shape
    if row < spread or column < spread or row + spread >= rows or column + spread >= columns:
        return False
    for down in (-spread, spread):
        for right in (-spread, spread):
            if not depth[row + down, column + right] > bound:
                return False
    return True


@njit(cache=True, nogil=True, inline="always")
def _has_surface(distance, weight):
    """Whether any voxel of a block is not far out in free space."""
    for cell in range(CELLS):  # noqa: SIM110 - compiled, where any() takes no generator
        if weight[cell] > 0 and distance[cell] < _FREE:
            return True
    return False


@njit(cache=True, nogil=True)
def _integrate(places, coords, distance, weight, color, depth, rgb, camera, rotation, offset, size, near, far,
               truncation, top, margins, empty):  # fmt: skip
    """Fuse the depth image into the voxels of these blocks; places of blocks without a surface go to `empty`."""
    fx, fy, cx, cy = camera
    rows, columns = depth.shape
    colored = rgb.shape[0] == rows
    step_x, step_y, step_z = rotation[0, 2] * size, rotation[1, 2] * size, rotation[2, 2] * size
    scale = SCALE / truncation
    found = 0
    for index in places:
        for i in range(SIDE):
            vx = (coords[index, 0] * SIDE + i + 0.5) * size
            for j in range(SIDE):
                vy = (coords[index, 1] * SIDE + j + 0.5) * size
                vz = (coords[index, 2] * SIDE + 0.5) * size
                x = rotation[0, 0] * vx + rotation[0, 1] * vy + rotation[0, 2] * vz + offset[0] - step_x
                y = rotation[1, 0] * vx + rotation[1, 1] * vy + rotation[1, 2] * vz + offset[1] - step_y
                z = rotation[2, 0] * vx + rotation[2, 1] * vy + rotation[2, 2] * vz + offset[2] - step_z
                for k in range(SIDE):
                    x, y, z = x + step_x, y + step_y, z + step_z
                    if z < near or z > far + truncation:
                        continue
                    inverse_z = 1.0 / z
                    u, v = x * inverse_z * fx + cx + 0.5, y * inverse_z * fy + cy + 0.5
                    if not (u >= 0.0 and v >= 0.0 and u < columns and v < rows):
                        continue
                    row, column = int(v), int(u)
                    measured = depth[row, column]
                    gap = measured - z
                    if not (measured >= near and gap >= -truncation):
                        continue
                    if measured > far and (z > far or gap < truncation):
                        continue
                    cell = (i * SIDE + j) * SIDE + k
                    count = np.int64(weight[index, cell])
                    value = SCALE
                    old = np.float64(distance[index, cell])
                    if gap < truncation:
                        value = gap * scale
                    elif count > 0 and old < _FREE:
                        spread = min(int(0.5 * size * fx * inverse_z) + 1, 12)
                        if not _is_clear(depth, row, column, spread, z + margins[0] + margins[1] * z):
                            continue
                        count = max(count >> 1, np.int64(1))
                    distance[index, cell] = np.int16(math.floor((old * count + value) / (count + 1) + 0.5))
                    weight[index, cell] = min(count + 1, top)
                    if colored and gap < truncation:
                        blank = color[index, cell, 0] == 0 and color[index, cell, 1] == 0 and color[index, cell, 2] == 0
                        known = 0 if blank else count  # it may have been seen as free space before
                        for channel in range(3):
                            before = np.float64(color[index, cell, channel])
                            mean = (before * known + rgb[row, column, channel]) / (known + 1)
                            color[index, cell, channel] = np.uint8(mean + 0.5)
        if not _has_surface(distance[index], weight[index]):
            empty[found] = index
            found += 1
    return found


@njit(cache=True, nogil=True)
def _release(table, coords, free, state, distance, weight, color, places):
    for index in places:
        give_back(table, coords, free, state, index)
        weight[index] = 0
        distance[index] = 0
        if color[index].any():  # without colour its memory was never committed
            color[index] = 0


@njit(cache=True)
def _sample(table, coords, distance, weight, points, size):
    result = np.full(len(points), np.nan, np.float32)
    for i in range(len(points)):
        x, y, z = math.floor(points[i, 0] / size), math.floor(points[i, 1] / size), math.floor(points[i, 2] / size)
        index = find(table, coords, x >> 3, y >> 3, z >> 3)
        if index >= 0:
            cell = ((x & 7) * SIDE + (y & 7)) * SIDE + (z & 7)
            if weight[index, cell] > 0:
                result[i] = distance[index, cell] / SCALE
    return result


_DEFAULTS = GeometryConfig()


class TsdfVolume:
    """Distance, weight and colour of the voxels near surfaces; safe for threads.

    Works at the rate of depth, with a lock of its own: it never waits for semantics.
    """

    def __init__(self, config: GeometryConfig = _DEFAULTS):
        self.config = config
        self.blocks = BlockPool(config.capacity)
        shape = (config.capacity, CELLS)
        self._distance = np.zeros(shape, np.int16)
        self._weight = np.zeros(shape, np.uint8)
        self._color = np.zeros((*shape, 3), np.uint8)
        self._lock = threading.Lock()

    def integrate(
        self, depth: np.ndarray, camera: PinholeCamera, volume_from_camera: np.ndarray, rgb: np.ndarray | None = None
    ) -> int:
        """The surfaces seen in depth (H, W) float32, metres, invalid = 0 or NaN, are in the map.

        rgb: (H, W, 3) uint8. volume_from_camera: (4, 4). Surfaces that were seen empty fade, and blocks without any
        are given back. Returns the number of blocks looked at. Raises ValueError for images of another shape.
        """
        shape = (camera.height, camera.width)
        if depth.shape != shape or (rgb is not None and rgb.shape != (*shape, 3)):
            raise ValueError(f"images of the camera are {shape}; depth is {depth.shape}")
        if not np.isfinite(volume_from_camera).all():
            raise ValueError("the pose is not finite")
        depth = np.ascontiguousarray(depth, np.float32)
        rgb = np.zeros((0, 0, 3), np.uint8) if rgb is None else np.ascontiguousarray(rgb, np.uint8)
        with self._lock:
            return self._integrate(depth, camera, volume_from_camera, rgb)

    def _integrate(self, depth: np.ndarray, camera: PinholeCamera, pose: np.ndarray, rgb: np.ndarray) -> int:
        c, pool = self.config, self.blocks
        lens = (camera.fx, camera.fy, camera.cx, camera.cy)
        block = SIDE * c.voxel
        stride = int(np.clip(2.0 * c.voxel * camera.fx / c.far, 1, 8))
        _touch(
            pool.table, pool.coords, pool.free, pool.state, depth, lens,
            np.ascontiguousarray(pose[:3, :3], np.float64), np.ascontiguousarray(pose[:3, 3], np.float64),
            c.near, c.far, c.truncation, block, stride,
        )  # fmt: skip
        back = inverse(pose)
        rotation, offset = np.ascontiguousarray(back[:3, :3]), np.ascontiguousarray(back[:3, 3])
        places = np.empty(pool.live, np.int32)
        found = in_view(
            pool.table, pool.coords, block, depth.shape, lens, rotation, offset, c.near, c.far + c.truncation, places
        )
        empty = np.empty(found, np.int32)
        gone = _integrate(
            places[:found], pool.coords, self._distance, self._weight, self._color, depth, rgb, lens, rotation,
            offset, c.voxel, c.near, c.far, c.truncation, c.top, (c.clear_margin, c.clear_per_metre), empty,
        )  # fmt: skip
        _release(
            pool.table, pool.coords, pool.free, pool.state, self._distance, self._weight, self._color, empty[:gone],
        )  # fmt: skip
        return found

    def distances(self, points: np.ndarray) -> np.ndarray:
        """(N,) float32 at points (N, 3): signed distance over truncation in [-1, 1], NaN where nothing was seen."""
        points = np.ascontiguousarray(points, np.float64)
        with self._lock:
            return _sample(
                self.blocks.table, self.blocks.coords, self._distance, self._weight, points, self.config.voxel
            )

    def surface_voxels(self) -> int:
        """Voxels just under a surface: seen, with a seen neighbour in their block on its other side."""
        with self._lock:
            places, total = self.blocks.places(), 0
            for start in range(0, len(places), 4096):  # a whole building at a time would need its memory again
                some = places[start : start + 4096]
                cube = (len(some), SIDE, SIDE, SIDE)
                seen = (self._weight[some] > 0).reshape(cube)
                under = seen & (self._distance[some] <= 0).reshape(cube)
                over = seen & ~under
                at_surface = np.zeros(cube, bool)
                for axis in (1, 2, 3):
                    low = tuple(slice(None, -1) if a == axis else slice(None) for a in range(4))
                    high = tuple(slice(1, None) if a == axis else slice(None) for a in range(4))
                    at_surface[low] |= under[low] & over[high]
                    at_surface[high] |= under[high] & over[low]
                total += int(at_surface.sum())
            return total

    def snapshot(self) -> dict[str, np.ndarray]:
        """Copies of coords (B, 3) int32, distance (B, 512) float32, weight (B, 512) uint8, color (B, 512, 3) uint8.

        Distances are over truncation. Blocks are in the order of their coordinates.
        """
        arrays = self.to_arrays()
        return {**arrays, "distance": arrays["distance"].astype(np.float32) / np.float32(SCALE)}

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Everything needed to go on from here, for a file: version, grid and the blocks in order of coordinates."""
        with self._lock:
            places = self.blocks.places()
            places = places[np.lexsort(self.blocks.coords[places].T[::-1])]
            return {
                "version": np.array(ARRAYS_VERSION),
                "grid": np.array([self.config.voxel, self.config.truncation]),
                "coords": self.blocks.coords[places],
                "distance": self._distance[places],
                "weight": self._weight[places],
                "color": self._color[places],
            }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray], config: GeometryConfig = _DEFAULTS) -> TsdfVolume:
        """The volume that `to_arrays` wrote. Raises ValueError for other arrays, another grid or too many blocks."""
        _check_arrays(arrays, config)
        volume = cls(config)
        places = volume.blocks.insert(arrays["coords"])
        if volume.blocks.live != len(places):
            raise ValueError("a block stands twice in the file")
        volume._distance[places] = arrays["distance"]
        volume._weight[places] = arrays["weight"]
        volume._color[places] = arrays["color"]
        return volume


_SHAPES: dict[str, tuple[tuple[int, ...], type]] = {
    "coords": ((3,), np.int32),
    "distance": ((CELLS,), np.int16),
    "weight": ((CELLS,), np.uint8),
    "color": ((CELLS, 3), np.uint8),
}


def _check_arrays(arrays: Mapping[str, np.ndarray], config: GeometryConfig) -> None:
    missing = ({"version", "grid"} | _SHAPES.keys()) - set(arrays)
    if missing:
        raise ValueError(f"no geometry: {', '.join(sorted(missing))} is missing")
    if int(arrays["version"]) != ARRAYS_VERSION:
        raise ValueError(f"geometry of version {int(arrays['version'])}; this reads {ARRAYS_VERSION}")
    if not np.allclose(arrays["grid"], (config.voxel, config.truncation)):
        raise ValueError(f"voxels of {arrays['grid']} m; the map has {(config.voxel, config.truncation)}")
    count = len(arrays["coords"])
    for name, (shape, dtype) in _SHAPES.items():
        if arrays[name].shape != (count, *shape) or arrays[name].dtype != dtype:
            raise ValueError(f"{name} is {arrays[name].shape} {arrays[name].dtype}, not {(count, *shape)} {dtype}")
    if count > config.capacity:
        raise ValueError(f"{count} blocks; there is room for {config.capacity}")
