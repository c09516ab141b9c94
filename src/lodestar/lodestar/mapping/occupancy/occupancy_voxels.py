"""Occupancy of voxels as OctoMap computes it (Hornung et al. 2013), in blocks instead of a tree."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from lodestar.geometry.map_correction import MapCorrection, displacement
from lodestar.mapping.occupancy import occupancy_kernels, octomap_stream
from lodestar.mapping.occupancy.occupancy_kernels import HALF
from lodestar.mapping.voxels.blocks import CELLS, SIDE, BlockPool, reserve, shortage
from lodestar.mapping.voxels.submaps import BlockSubmaps, is_still

kernels: Any = occupancy_kernels  # mypy does not accept the tuples of arrays in their calls


def _log_odds(probability: float) -> np.float32:
    return np.float32(np.log(probability / (1.0 - probability)))


_HIT, _MISS = _log_odds(0.7), _log_odds(0.4)  # log-odds of a hit and a miss of one scan; OctoMap's defaults
_LOW, _HIGH = _log_odds(0.1192), _log_odds(0.971)  # clamping thresholds of log-odds; OctoMap's defaults
# Blocks to each side of the sensor whose pool indices a dense table caches; it grows with the cube. Rays that leave it
# look up their blocks one by one. Chosen: 20 m at 0.05 m and two for rounding, 4.6 MB.
_NEAR = 52


class OccupancyVoxels:
    """Log-odds of voxels in a frame of their own; states, values and files are those of OctoMap's OcTree.

    capacity: largest number of blocks; requests beyond it are counted and their values dropped. Not safe for
    threads; the map that owns it holds the lock.
    """

    def __init__(self, resolution: float, capacity: int = 1 << 18):
        self._resolution, self._capacity = resolution, capacity
        self._touched = np.empty(1 << 17, np.int64)  # voxels marked by the current scan
        self._around = np.empty((1, 1, 1), np.int32)  # pool indices of the blocks around the sensor of a scan
        self._clear()

    def _clear(self) -> None:
        self._pool = BlockPool(self._capacity)
        # nan = unseen, in the blocks in use; the last block is a sink for writes that the pool has no room for
        self._log_odds = reserve((self._capacity + 1, CELLS), np.float32)
        self._marks = reserve((self._capacity + 1, CELLS), np.uint8)
        self._submaps = BlockSubmaps(self._capacity + 1, np.nan)
        # state before the last loop closure: the submaps, and coordinates, contents and tags of the blocks
        self._before: tuple[BlockSubmaps, tuple[np.ndarray, np.ndarray, np.ndarray]] | None = None

    @property
    def _index(self) -> tuple:
        return self._pool.table, self._pool.coords, self._pool.free, self._pool.state

    def insert(
        self, points: np.ndarray, origin: np.ndarray, max_range: float, node: tuple[int, int] | None = None
    ) -> np.ndarray:
        """Integrate rays from `origin` (3,) to `points` (N, 3); return the voxels (M, 3) int64 that changed.

        These were unseen before, or changed between empty and full. Rays longer than `max_range`, metres,
        only clear voxels up to it. node: serial numbers of the trajectory's newest node and of the first node
        of its submap; None = unknown. As in OctoMap with `discretize`, a voxel is updated once per scan, and
        a hit outweighs rays that pass through it.
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
        if node is not None and node[0] >= 0:
            places, serials = self._submaps.begun_before(touched, *node)
            there = places < self._capacity  # without those in the sink block, which are not kept
            places, serials = places[there], serials[there]
            self._submaps.keep(places, serials, self._log_odds[places])
        count = kernels.update_marked(self._log_odds, self._marks, touched, _HIT, _MISS, _LOW, _HIGH)
        changed = touched[:count]
        if self._pool.refused:
            changed = changed[changed < self._capacity * CELLS]
        return self._voxels(changed)

    def _list_more(self, max_range: float) -> None:
        """Enlarge the list of touched voxels, so that at least one more ray fits."""
        ray = int(3 * (max_range / self._resolution + 4)) + 1
        self._touched = np.concatenate([self._touched, np.empty(len(self._touched) + ray, np.int64)])

    @property
    def shortage(self) -> str:
        """Return a warning with its remedy if the pool is nearly full or has refused blocks; "" otherwise."""
        pool = self._pool
        return shortage(
            "blocks of occupancy", pool.used, pool.capacity, pool.refused, "mapping.octomap.blocks"
        )

    def _voxels(self, flat: np.ndarray) -> np.ndarray:
        """Return the voxels (M, 3) int64 for `flat`: a block's pool index * CELLS + cell."""
        return kernels.voxels_at(self._pool.coords, flat)

    # --- loop closures ----------------------------------------------------------------------------------------

    def corners(self, correction: MapCorrection) -> np.ndarray:
        """Return the centres (N, 3) of the blocks after a correction, metres.

        Centres and correction: in the voxel frame.
        """
        places = np.arange(self._pool.used)
        centres = (self._pool.coords[: len(places)] + 0.5) * (SIDE * self._resolution)
        return centres + displacement(correction.of_serials(self._submaps.tags[places] - 1), centres)

    def bend(self, correction: MapCorrection) -> int:
        """Move each block with its submap after a loop closure; return the number of moved blocks.

        A block that several submaps saw is split. correction: in the voxel frame. If it undoes the last one,
        the state from before the last one is restored, and later observations are lost. Values move to the
        nearest voxel; where several meet, they are added.
        """
        if correction.undoes and self._before is not None:
            self._submaps, (coords, log_odds, self._submaps.tags), self._before = *self._before, None
            self._pool = BlockPool(self._pool.capacity)
            self._pool.insert(coords)
            self._log_odds[: len(coords)] = log_odds
            return len(coords)
        submaps, used, side = self._submaps, self._pool.used, SIDE * self._resolution
        arrays = self._pool.coords[:used].copy(), self._log_odds[:used].copy(), submaps.tags.copy()
        self._before = submaps.copied(), arrays
        serials = submaps.tags[:used].astype(np.int64) - 1
        moving = ~is_still(correction.of_serials(serials))
        apart = submaps.told_apart(correction, self._pool.coords, side, self._resolution / 4.0)
        moving[apart.blocks] = False
        whole = np.flatnonzero(moving)
        (states,) = apart.states(self._log_odds[apart.blocks])
        content = np.concatenate([self._log_odds[whole], states])
        before = np.concatenate([np.full(len(whole), -1), apart.before(len(whole))])
        source, node = np.concatenate([whole, apart.places]), np.concatenate([serials[whole], apart.serials])
        gone = np.concatenate([whole, apart.blocks])
        for place in gone.tolist():
            submaps.drop(place)
        coords = self._pool.coords[source].copy()
        self._log_odds[gone], submaps.tags[gone] = np.nan, 0
        moves, tags = np.ascontiguousarray(correction.of_serials(node)), (node + 1).astype(np.int32)
        kernels.add_moved(
            *self._index, self._log_odds, submaps.tags, coords, content, before, moves, tags, self._resolution, _LOW,
            _HIGH,
        )  # fmt: skip
        return len(gone)

    def submap_arrays(self) -> dict[str, np.ndarray]:
        """Return the blocks' node tags for `read_submaps`; copies of blocks are not saved."""
        used = self._pool.used
        return {
            "submap_coords": self._pool.coords[:used].copy(),
            "submap_tags": self._submaps.tags[:used].copy(),
        }

    def read_submaps(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Restore node tags from `submap_arrays` for the blocks that exist. Raises ValueError for malformed arrays."""
        if "submap_coords" not in arrays:
            return
        coords, tags = arrays["submap_coords"].astype(np.int32), arrays["submap_tags"].astype(np.int32)
        if coords.shape != (len(tags), 3):
            raise ValueError("the submaps of the blocks do not fit")
        known = {tuple(place): tag for place, tag in zip(coords.tolist(), tags.tolist())}
        for place, coord in enumerate(self._pool.coords[: self._pool.used].tolist()):
            self._submaps.tags[place] = known.get(tuple(coord), 0)

    def _known(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the observed voxels (N, 3) int64 and their log-odds (N,)."""
        values = self._log_odds[: self._pool.used].reshape(-1)
        seen = np.flatnonzero(~np.isnan(values))
        return self._voxels(seen), values[seen]

    def labels(self, points: np.ndarray) -> np.ndarray:
        """Return (N,) int32: UNSEEN, EMPTY or FULL at points (N, 3), metres, voxel frame."""
        table, coords, _, _ = self._index
        return kernels.labels(
            table, coords, self._log_odds, np.ascontiguousarray(points, np.float64), self._resolution
        )

    def columns(
        self, cells: np.ndarray, levels: np.ndarray, voxels_from_map: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return two (N,) bool: whether any voxel above each 2-D cell was empty, and whether any was full.

        cells: (N, 3) x, y and height of the floor; levels: (L,) heights above it; metres. voxels_from_map:
        (4, 4).
        """
        table, coords, _, _ = self._index
        found = kernels.column_states(
            table, coords, self._log_odds, cells, np.ascontiguousarray(voxels_from_map, np.float64), levels,
            self._resolution,
        )  # fmt: skip
        return found[:, 0], found[:, 1]

    def binary_data(self) -> bytes:
        """Return the data of octomap_msgs/Octomap with binary = true."""
        voxels, log_odds = self._known()
        return octomap_stream.write_binary(voxels, log_odds >= 0.0)

    def to_bytes(self) -> bytes:
        """Return all voxels as an OctoMap file (.ot), for `read`."""
        return octomap_stream.write_file(*self._known(), self._resolution)

    def read(self, data: bytes) -> None:
        """Replace the contents by those of an OctoMap file (.ot).

        Raises ValueError for another resolution or a malformed file.
        """
        voxels, log_odds, resolution = octomap_stream.read_file(data)
        if abs(resolution - self._resolution) > 1e-9:
            raise ValueError(
                f"its octree has voxels of {resolution:.3f} m, this map's measure {self._resolution} m"
            )
        self._write(voxels, log_odds)

    def _write(self, voxels: np.ndarray, log_odds: np.ndarray) -> None:
        """Replace all voxels by these (N, 3) with log-odds (N,). Raises ValueError if they exceed the capacity."""
        blocks = len(np.unique(octomap_stream.codes_of(voxels) >> 9)) if len(voxels) else 0
        if blocks > self._capacity:
            raise ValueError(f"{blocks} blocks of occupancy; there is room for {self._capacity}")
        self._clear()
        kernels.write_voxels(*self._index, self._log_odds, voxels, log_odds)

    def resampled(self, centres: np.ndarray, labels: np.ndarray) -> OccupancyVoxels:
        """Return a new map of this resolution, EMPTY or FULL at centres (N, 3) according to labels (N,)."""
        made = OccupancyVoxels(self._resolution, self._capacity)
        voxels = np.floor(np.asarray(centres, np.float64) / self._resolution).astype(np.int64)
        seen = (labels >= 0) & (np.abs(voxels) < HALF).all(axis=1)
        made._write(voxels[seen], np.where(labels[seen] > 0, _HIT, _MISS))
        return made

    def heights(self) -> tuple[float, float]:
        """Return the lowest and highest z of observed voxels, metres; (0, 0) if there are none."""
        voxels, _ = self._known()
        if not len(voxels):
            return 0.0, 0.0
        low, high = voxels[:, 2].min() * self._resolution, (voxels[:, 2].max() + 1) * self._resolution
        return float(low), float(high)

    def memory(self) -> int:
        """Return the memory used, bytes; the system commits the pool's pages on first use."""
        used = self._pool.used
        return int(
            used * (self._log_odds[0].nbytes + self._marks[0].nbytes)
            + self._touched.nbytes
            + self._around.nbytes
        )
