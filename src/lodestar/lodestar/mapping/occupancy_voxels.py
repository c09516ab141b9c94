"""Occupancy of voxels as OctoMap computes it (Hornung et al. 2013), in blocks instead of a tree."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lodestar.mapping import occupancy_kernels, octomap_stream
from lodestar.mapping.blocks import CELLS, BlockPool, reserve, shortage
from lodestar.mapping.occupancy_kernels import HALF

kernels: Any = occupancy_kernels  # their arrays come as tuples, which mypy does not count


def _log_odds(probability: float) -> np.float32:
    return np.float32(np.log(probability / (1.0 - probability)))


_HIT, _MISS = _log_odds(0.7), _log_odds(0.4)  # of one scan; OctoMap's defaults
_LOW, _HIGH = _log_odds(0.1192), _log_odds(0.971)  # where log-odds are clamped; OctoMap's defaults
# Blocks to each side of the sensor whose places a dense table has, which grows with the cube; rays that lead farther
# look theirs up one by one. Chosen: 20 m at 0.05 m and two for rounding, 4.6 MB.
_NEAR = 52


class OccupancyVoxels:
    """Log-odds of voxels, metres in a frame of its own; states, values and files are those of OctoMap's OcTree.

    capacity: blocks for which there is room; what would need more is counted and not kept.

    Not safe for threads; the map around it holds the lock.
    """

    def __init__(self, resolution: float, capacity: int = 1 << 18):
        self._resolution, self._capacity = resolution, capacity
        self._touched = np.empty(1 << 17, np.int64)  # voxels of the scan under way
        self._around = np.empty((1, 1, 1), np.int32)  # places of the blocks about the sensor of a scan
        self._clear()

    def _clear(self) -> None:
        self._pool = BlockPool(self._capacity)
        # nan = unseen, in the blocks in use; the last block takes what there is no room for
        self._log_odds = reserve((self._capacity + 1, CELLS), np.float32)
        self._marks = reserve((self._capacity + 1, CELLS), np.uint8)

    @property
    def _index(self) -> tuple:
        return self._pool.table, self._pool.coords, self._pool.free, self._pool.state

    def insert(self, points: np.ndarray, origin: np.ndarray, max_range: float) -> np.ndarray:
        """Integrate rays from `origin` (3,) to `points` (N, 3); longer ones are free up to `max_range`.

        Returns the voxels (M, 3) int64 that were unseen or changed between empty and full. As in OctoMap with
        `discretize`, a voxel is updated once per scan, and a hit counts more than rays that pass.
        """
        ends, origin = np.ascontiguousarray(points, np.float64), np.asarray(origin, np.float32)
        tally, done = np.zeros(1, np.int64), 0
        side = 2 * min((math.ceil(max_range / self._resolution) >> 3) + 2, _NEAR) + 1
        if len(self._around) != side:
            self._around = np.empty((side, side, side), np.int32)
        while True:
            done = kernels.mark_rays(
                *self._index, self._log_odds, self._marks, self._touched, tally, self._around, ends, done,
                origin, self._resolution, max_range,
            )  # fmt: skip
            if done == len(ends):
                break
            self._list_more(max_range)
        touched = self._touched[: int(tally[0])]
        count = kernels.update_marked(self._log_odds, self._marks, touched, _HIT, _MISS, _LOW, _HIGH)
        changed = touched[:count]
        if self._pool.refused:
            changed = changed[changed < self._capacity * CELLS]
        return self._voxels(changed)

    def _list_more(self, max_range: float) -> None:
        """Make room in the list of voxels for one ray more at least."""
        ray = int(3 * (max_range / self._resolution + 4)) + 1
        self._touched = np.concatenate([self._touched, np.empty(len(self._touched) + ray, np.int64)])

    @property
    def shortage(self) -> str:
        """Return what is to be done where the pool is nearly full, or was; "" where it is not."""
        pool = self._pool
        return shortage(
            "blocks of occupancy", pool.used, pool.capacity, pool.refused, "mapping.octomap.blocks"
        )

    def _voxels(self, flat: np.ndarray) -> np.ndarray:
        """(M, 3) int64 voxels at place * CELLS + cell."""
        return kernels.voxels_at(self._pool.coords, flat)

    def _known(self) -> tuple[np.ndarray, np.ndarray]:
        """Voxels (N, 3) int64 that were seen, and their log-odds (N,)."""
        values = self._log_odds[: self._pool.used].reshape(-1)
        seen = np.flatnonzero(~np.isnan(values))
        return self._voxels(seen), values[seen]

    def labels(self, points: np.ndarray) -> np.ndarray:
        """(N,) int32: UNSEEN, EMPTY or FULL at points (N, 3)."""
        table, coords, _, _ = self._index
        return kernels.labels(
            table, coords, self._log_odds, np.ascontiguousarray(points, np.float64), self._resolution
        )

    def columns(
        self, cells: np.ndarray, levels: np.ndarray, voxels_from_map: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """(N,) bool each: whether a voxel was empty, and whether one was full, of those over cells of a plan.

        cells: (N, 3) x, y and height of the floor; levels: (L,) over it; metres. voxels_from_map: (4, 4).
        """
        table, coords, _, _ = self._index
        found = kernels.column_states(
            table, coords, self._log_odds, cells, np.ascontiguousarray(voxels_from_map, np.float64), levels,
            self._resolution,
        )  # fmt: skip
        return found[:, 0], found[:, 1]

    def full_data(self) -> bytes:
        """The stream of octomap_msgs/Octomap with binary = false."""
        return octomap_stream.write_full(*self._known())[0]

    def binary_data(self) -> bytes:
        """The stream of octomap_msgs/Octomap with binary = true."""
        voxels, log_odds = self._known()
        return octomap_stream.write_binary(voxels, log_odds >= 0.0)

    def to_bytes(self) -> bytes:
        """Return all voxels, for `read`: an OctoMap file (.ot)."""
        return octomap_stream.write_file(*self._known(), self._resolution)

    def read(self, data: bytes) -> None:
        """Become what `to_bytes` or OctoMap wrote. Raises ValueError for another resolution or what is no such file."""
        voxels, log_odds, resolution = octomap_stream.read_file(data)
        if abs(resolution - self._resolution) > 1e-9:
            raise ValueError(
                f"its octree has voxels of {resolution:.3f} m, this map's measure {self._resolution} m"
            )
        self._write(voxels, log_odds)

    def _write(self, voxels: np.ndarray, log_odds: np.ndarray) -> None:
        """These voxels are all that is known. Raises ValueError for more than there is room for."""
        blocks = len(np.unique(octomap_stream.codes_of(voxels) >> 9)) if len(voxels) else 0
        if blocks > self._capacity:
            raise ValueError(f"{blocks} blocks of occupancy; there is room for {self._capacity}")
        self._clear()
        kernels.write_voxels(*self._index, self._log_odds, voxels, log_odds)

    def resampled(self, centres: np.ndarray, labels: np.ndarray) -> OccupancyVoxels:
        """New voxels of this resolution; those at centres (N, 3) are EMPTY or FULL by labels (N,)."""
        made = OccupancyVoxels(self._resolution, self._capacity)
        voxels = np.floor(np.asarray(centres, np.float64) / self._resolution).astype(np.int64)
        seen = (labels >= 0) & (np.abs(voxels) < HALF).all(axis=1)
        made._write(voxels[seen], np.where(labels[seen] > 0, _HIT, _MISS))
        return made

    def heights(self) -> tuple[float, float]:
        """Lowest and highest z of what was ever seen, metres; (0, 0) where nothing was."""
        voxels, _ = self._known()
        if not len(voxels):
            return 0.0, 0.0
        low, high = voxels[:, 2].min() * self._resolution, (voxels[:, 2].max() + 1) * self._resolution
        return float(low), float(high)

    def memory(self) -> int:
        """Bytes held; the pool's pages are committed by the system when they are first used."""
        used = self._pool.used
        return int(
            used * (self._log_odds[0].nbytes + self._marks[0].nbytes)
            + self._touched.nbytes
            + self._around.nbytes
        )
