"""Surfaces as a truncated signed distance field in blocks (OpenVox's geometry, RoboAtlas III-B)."""

from __future__ import annotations

import threading
from collections.abc import Mapping

import numpy as np

from lodestar.geometry.camera import PinholeCamera
from lodestar.geometry.map_correction import MapCorrection
from lodestar.geometry.poses import inverse
from lodestar.mapping.config import GEOMETRY_TOP, GeometryConfig
from lodestar.mapping.voxels import tsdf_kernels as kernels
from lodestar.mapping.voxels.blocks import CELLS, SIDE, BlockPool, farthest, in_view
from lodestar.mapping.voxels.cell_devices import make_cells
from lodestar.mapping.voxels.cells import Cells, View
from lodestar.mapping.voxels.submaps import BlockSubmaps, is_still
from lodestar.mapping.voxels.tsdf_kernels import SCALE

__all__ = ["GeometryConfig", "TsdfVolume"]

ARRAYS_VERSION = 1
_COPIES = 8192  # most copies of blocks from earlier submaps; chosen: 17 MB


_DEFAULTS = GeometryConfig()


class TsdfVolume:
    """Distance, weight and colour of the voxels near surfaces. Safe for threads.

    It has its own lock, so depth images are integrated as they come, without waiting for semantics. cells:
    storage of the voxels, by default on the configured device; the index of blocks stays on the CPU.
    """

    def __init__(self, config: GeometryConfig = _DEFAULTS, cells: Cells | None = None):
        self.config = config
        self.blocks = BlockPool(config.capacity)
        self._cells = make_cells(config) if cells is None else cells
        self._submaps = BlockSubmaps(config.capacity, 0.0, _COPIES)
        self._lock = threading.Lock()

    def integrate(
        self,
        depth: np.ndarray,
        camera: PinholeCamera,
        volume_from_camera: np.ndarray,
        rgb: np.ndarray | None = None,
        node: tuple[int, int] = (-1, 0),
    ) -> int:
        """Fuse the surfaces of a depth image; return the number of blocks in view.

        depth: (H, W) float32, metres, invalid = 0 or NaN. rgb: (H, W, 3) uint8. volume_from_camera: (4, 4).
        Surfaces that were seen empty fade; blocks without surfaces are released. node: serial numbers of the
        trajectory's newest node and of the first node of its submap; -1 = unknown. Raises ValueError for
        images of another shape.
        """
        shape = (camera.height, camera.width)
        if depth.shape != shape or (rgb is not None and rgb.shape != (*shape, 3)):
            raise ValueError(f"images of the camera are {shape}; depth is {depth.shape}")
        if not np.isfinite(volume_from_camera).all():
            raise ValueError("the pose is not finite")
        depth = np.ascontiguousarray(depth, np.float32)
        rgb = np.zeros((0, 0, 3), np.uint8) if rgb is None else np.ascontiguousarray(rgb, np.uint8)
        with self._lock:
            return self._integrate(depth, camera, volume_from_camera, rgb, node)

    def _integrate(
        self,
        depth: np.ndarray,
        camera: PinholeCamera,
        pose: np.ndarray,
        rgb: np.ndarray,
        node: tuple[int, int],
    ) -> int:
        c, pool = self.config, self.blocks
        lens = (camera.fx, camera.fy, camera.cx, camera.cy)
        block = SIDE * c.voxel
        stride = int(np.clip(2.0 * c.voxel * camera.fx / c.far, 1, 8))
        kernels.touch(
            pool.table, pool.coords, pool.free, pool.state, depth, lens,
            np.ascontiguousarray(pose[:3, :3], np.float64), np.ascontiguousarray(pose[:3, 3], np.float64),
            c.near, c.far, c.truncation, block, stride,
        )  # fmt: skip
        back = inverse(pose)
        rotation, offset = np.ascontiguousarray(back[:3, :3]), np.ascontiguousarray(back[:3, 3])
        places = np.empty(pool.live, np.int32)
        found = in_view(
            pool.table, pool.coords, block, depth.shape, lens, rotation, offset, c.near, c.far + c.truncation,
            farthest(depth), c.truncation, places,
        )  # fmt: skip
        view = View(depth, rgb, lens, rotation, offset)
        if node[0] >= 0:
            self._begin(places[:found], node)
        empty = self._cells.integrate(places[:found], pool.coords[places[:found]], view)
        self._cells.clear(empty)
        kernels.release(pool.table, pool.coords, pool.free, pool.state, empty)
        self._forget(empty)
        return found

    def _begin(self, places: np.ndarray, node: tuple[int, int]) -> None:
        """Copy the blocks `places` that belong to an older submap than `node`, before they change."""
        old, serials = self._submaps.begun_before(places.astype(np.int64) * CELLS, *node)
        if len(old):
            self._submaps.keep(old, serials, *self._cells.read(old))

    def _forget(self, places: np.ndarray) -> None:
        self._submaps.tags[places] = 0
        for place in places.tolist():
            self._submaps.drop(place)

    # --- loop closures ----------------------------------------------------------------------------------------

    def bend(self, correction: MapCorrection) -> int:
        """Move each block with its submap after a loop closure; return the number of moved blocks.

        A block that several submaps saw is split. correction: in the frame of the volume.
        """
        with self._lock:
            pool, submaps, size = self.blocks, self._submaps, self.config.voxel
            places = pool.places()
            serials = submaps.tags[places].astype(np.int64) - 1
            moving = ~is_still(correction.of_serials(serials))
            apart = submaps.told_apart(correction, pool.coords, SIDE * size, size / 4.0)
            moving &= ~np.isin(places, apart.blocks)
            whole, moved = places[moving], _Moved(size)
            distance, weight, color = apart.states(*self._cells.read(apart.blocks))
            states = distance, weight, color
            before = apart.before(0)
            for part in _parts(len(apart.places)):
                sides, serial = apart.places[part], apart.serials[part]
                moves = correction.of_serials(serial)
                moved.add(pool.coords[sides], moves, serial, states, part.start, before[part])
            for part in _parts(len(whole)):
                some, serial = whole[part], serials[moving][part]
                moved.add(pool.coords[some], correction.of_serials(serial), serial, self._cells.read(some))
            left = np.concatenate([whole, apart.blocks]).astype(np.int32)
            self._cells.clear(left)
            self._forget(left)
            kernels.release(pool.table, pool.coords, pool.free, pool.state, left)
            for some, tags, *contents in moved.blocks():
                self._blend(some, tags, *contents)
            return len(left)

    def _blend(
        self,
        coords: np.ndarray,
        tags: np.ndarray,
        distance: np.ndarray,
        weight: np.ndarray,
        color: np.ndarray,
    ) -> None:
        """Add contents to the blocks at coords (B, 3), created if needed.

        If the pool is full, contents are dropped and their blocks counted as refused.
        """
        places = self.blocks.insert(coords)
        there = places >= 0
        places, tags = places[there], tags[there]
        own = self._cells.read(places)
        kernels.blend(*own, distance[there], weight[there], color[there], GEOMETRY_TOP)
        self._cells.write(places, *own)
        known = self._submaps.tags[places]
        self._submaps.tags[places] = np.where(known == 0, tags, np.minimum(known, tags))

    def surface(self, min_weight: int = 2) -> tuple[np.ndarray, np.ndarray]:
        """Return the voxels nearest to surfaces, seen at least `min_weight` times: centres and colours.

        Centres: (N, 3) float32 in the volume's frame, metres. Colours: (N, 3) uint8, black if no image came
        with the depth.
        """
        with self._lock:
            places = self.blocks.places()
            signed = np.zeros((len(places), CELLS), np.int16)  # distance, 0 = not seen
            colors = np.empty((len(places), CELLS, 3), np.uint8)
            for part in _parts(len(places)):
                distance, weight, colors[part] = self._cells.read(places[part])
                signed[part] = np.where(weight >= min_weight, np.where(distance == 0, -1, distance), 0)
            coords = self.blocks.coords[places].astype(np.int64)
        at = at_surfaces(signed.reshape(-1, SIDE, SIDE, SIDE), coords).reshape(-1, CELLS)
        blocks, cells = np.nonzero(at)
        inner = np.stack(np.unravel_index(cells, (SIDE, SIDE, SIDE)), axis=1)
        centres = (coords[blocks] * SIDE + inner + 0.5) * self.config.voxel
        return centres.astype(np.float32), colors[blocks, cells]

    def snapshot(self) -> dict[str, np.ndarray]:
        """Return copies of the coordinates and contents of all blocks, sorted by coordinates.

        coords: (B, 3) int32. distance: (B, 512) float32, in units of the truncation distance. weight: (B,
        512) uint8. color: (B, 512, 3) uint8.
        """
        arrays = self.to_arrays()
        return {**arrays, "distance": arrays["distance"].astype(np.float32) / np.float32(SCALE)}

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Return the whole state for a file: version, grid and the blocks in order of coordinates."""
        with self._lock:
            places = self.blocks.places()
            places = places[np.lexsort(self.blocks.coords[places].T[::-1])]
            distance, weight, color = self._cells.read(places)
            return {
                "version": np.array(ARRAYS_VERSION),
                "grid": np.array([self.config.voxel, self.config.truncation]),
                "coords": self.blocks.coords[places],
                "distance": distance,
                "weight": weight,
                "color": color,
            }

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, np.ndarray], config: GeometryConfig = _DEFAULTS, cells: Cells | None = None
    ) -> TsdfVolume:
        """Return the volume written by `to_arrays`.

        Raises ValueError for malformed arrays, another grid or too many blocks.
        """
        _check_arrays(arrays, config)
        volume = cls(config, cells)
        places = volume.blocks.insert(arrays["coords"])
        if volume.blocks.live != len(places):
            raise ValueError("a block stands twice in the file")
        volume._cells.write(places, arrays["distance"], arrays["weight"], arrays["color"])
        return volume


class _Moved:
    """Contents of blocks after a move, grouped by their new coordinates."""

    def __init__(self, size: float) -> None:
        self._size = size
        self._of: list[tuple[np.ndarray, ...]] = []

    def add(
        self,
        coords: np.ndarray,
        moves: np.ndarray,
        nodes: np.ndarray,
        contents: tuple[np.ndarray, np.ndarray, np.ndarray],
        first: int = 0,
        before: np.ndarray | None = None,
    ) -> None:
        """Move blocks at coords (S, 3) by `moves` (S, 4, 4); each voxel goes to the nearest new voxel.

        contents: distance, weight and colour; the rows of these blocks start at `first`. before: (S,), the
        row to subtract from each block's content, -1 = none.
        """
        before = np.full(len(coords), -1) if before is None else before
        pool = BlockPool(27 * len(coords) + 1)
        shape = (pool.capacity, CELLS)
        found = np.zeros(shape, np.int16), np.zeros(shape, np.uint8), np.zeros((*shape, 3), np.uint8)
        tags = np.zeros(pool.capacity, np.int32)
        kernels.add_moved(
            pool.table, pool.coords, pool.free, pool.state, *found, tags, np.ascontiguousarray(coords, np.int32),
            np.ascontiguousarray(moves), (nodes + 1).astype(np.int32), *contents, first, before, self._size,
        )  # fmt: skip
        used = pool.used
        self._of.append((pool.coords[:used].copy(), tags[:used], *(array[:used] for array in found)))

    def blocks(self) -> list[tuple[np.ndarray, ...]]:
        """Return coords (B, 3), tags (B,), distance, weight and colour of the moved blocks, in several parts."""
        return self._of


_SHAPES: dict[str, tuple[tuple[int, ...], type]] = {
    "coords": ((3,), np.int32),
    "distance": ((CELLS,), np.int16),
    "weight": ((CELLS,), np.uint8),
    "color": ((CELLS, 3), np.uint8),
}


def _parts(count: int, most: int = 4096) -> list[slice]:
    """Return slices of at most `most` items.

    Processing the blocks of a whole building at once would double its memory.
    """
    return [slice(start, start + most) for start in range(0, count, most)]


def at_surfaces(signed: np.ndarray, coords: np.ndarray) -> np.ndarray:
    """Return (B, 8, 8, 8) bool: of every two adjacent cells with a surface between them, the nearer one.

    signed: (B, 8, 8, 8) distances, above 0 in front of a surface, below 0 behind it, 0 not seen. coords: (B,
    3) int64 of the blocks. Cells of adjacent blocks are compared too.
    """
    found = np.zeros(signed.shape, bool)
    low = coords.min(axis=0, initial=0)
    reach = coords.max(axis=0, initial=0) - low + 2
    steps = np.array([reach[1] * reach[2], reach[2], 1])
    keys = (coords - low) @ steps
    order = np.argsort(keys)
    for axis in range(3):
        after = order[np.searchsorted(keys[order], keys + steps[axis]).clip(max=max(len(keys) - 1, 0))]
        first = np.flatnonzero(keys[after] == keys + steps[axis])
        cells, marks = np.moveaxis(signed, axis + 1, 1), np.moveaxis(found, axis + 1, 1)  # views, not copies
        one, other = _nearer(cells[:, :-1], cells[:, 1:])
        marks[:, :-1] |= one
        marks[:, 1:] |= other
        one, other = _nearer(cells[first, -1], cells[after[first], 0])
        marks[first, -1] |= one
        marks[after[first], 0] |= other
    return found


def _nearer(one: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return two bool arrays: whether a surface between adjacent cells is nearer to `one`, or to `other`."""
    passes = (np.sign(one) * np.sign(other)) < 0
    closer = np.abs(one) <= np.abs(other)
    return passes & closer, passes & ~closer


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
            raise ValueError(
                f"{name} is {arrays[name].shape} {arrays[name].dtype}, not {(count, *shape)} {dtype}"
            )
    if count > config.capacity:
        raise ValueError(f"{count} blocks; there is room for {config.capacity}")
