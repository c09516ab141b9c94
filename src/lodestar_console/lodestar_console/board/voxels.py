"""The surface cloud by voxels: takes whole clouds, and returns changes since a revision."""

from __future__ import annotations

import threading
from dataclasses import dataclass

import numpy as np

MOST_VOXELS = 400_000  # largest cloud; a larger one is thinned to every second, third ... voxel
MOST_REMOVED = 200_000  # removed voxels kept
_HALF = 1 << 15  # voxels in each direction of an axis, the range of int16


@dataclass(frozen=True)
class CloudChange:
    """Voxels that changed.

    cells: (N, 3) int16 in voxels of `pitch` m from map's origin; colors: (N, 3) uint8; instances: (N,)
    uint32, 0 = none; removed: (M, 3) int16; previous 0: the whole cloud is contained.
    """

    revision: int
    previous: int
    stamp: float
    pitch: float
    cells: np.ndarray
    colors: np.ndarray
    instances: np.ndarray
    removed: np.ndarray


class VoxelCloud:
    """Holder of the newest cloud, one point per voxel. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.revision = 0
        self.stamp = 0.0
        self.pitch = 0.05
        self.left_out = 0  # number of voxels dropped by thinning
        self._keys = np.zeros(0, np.int64)  # voxel keys, ascending
        self._looks = np.zeros(0, np.uint64)  # per voxel: colour and instance
        self._changed = np.zeros(0, np.int64)  # per voxel: revision of its last change
        self._removed = (np.zeros(0, np.int64), np.zeros(0, np.int64))  # removed keys, revisions of removal
        self._complete_since = 0

    def __len__(self) -> int:
        return len(self._keys)

    def show(
        self, points: np.ndarray, colors: np.ndarray, instances: np.ndarray, pitch: float, stamp: float
    ) -> bool:
        """Replace the cloud; return whether it changed.

        points: (N, 3) m in map; colors: (N, 3) uint8; instances: (N,) ids.

        Points that are not finite, or whose voxel index exceeds int16, are left out.
        """
        cells = np.floor(points / pitch + 1e-3)
        good = (np.isfinite(cells) & (np.abs(cells) < _HALF)).all(axis=1)
        step = -(-int(good.sum()) // MOST_VOXELS) if good.any() else 1
        keys, first = np.unique(_keys(cells[good].astype(np.int64)), return_index=True)
        if step > 1:
            keys, first = keys[::step], first[::step]
        colors = colors[good][first].astype(np.uint64)
        looks = (colors[:, 0] << 56) | (colors[:, 1] << 48) | (colors[:, 2] << 40)
        looks |= instances[good][first].astype(np.uint64) & 0xFFFFFFFF
        with self._lock:
            self.left_out = int(good.sum()) - len(keys) if step > 1 else 0
            return self._take(keys, looks, pitch, stamp)

    def _take(self, keys: np.ndarray, looks: np.ndarray, pitch: float, stamp: float) -> bool:
        place = np.searchsorted(self._keys, keys)
        inside = np.minimum(place, max(len(self._keys) - 1, 0))
        known = self._keys[inside] == keys if len(self._keys) else np.zeros(len(keys), bool)
        same = known.copy()
        same[known] = self._looks[inside[known]] == looks[known]
        stays = np.zeros(len(self._keys), bool)
        stays[inside[known]] = True
        gone = self._keys[~stays]
        other_pitch = pitch != self.pitch
        if same.all() and not len(gone) and not other_pitch:
            return False
        self.revision += 1
        changed = np.full(len(keys), self.revision, np.int64)
        changed[same] = self._changed[inside[same]]
        if other_pitch:
            changed[:] = self._complete_since = self.revision
        self._note_removed(gone, keys)
        self._keys, self._looks, self._changed, self.pitch, self.stamp = keys, looks, changed, pitch, stamp
        return True

    def _note_removed(self, gone: np.ndarray, keys: np.ndarray) -> None:
        before, revisions = self._removed
        still = ~np.isin(before, keys)
        before = np.concatenate([before[still], gone])
        revisions = np.concatenate([revisions[still], np.full(len(gone), self.revision, np.int64)])
        over = len(before) - MOST_REMOVED
        if over > 0:
            self._complete_since = max(self._complete_since, int(revisions[over - 1]))
            before, revisions = before[over:], revisions[over:]
        self._removed = before, revisions

    def since(self, revision: int) -> CloudChange | None:
        """Return the voxels that changed since a revision, None = unchanged."""
        with self._lock:
            if revision == self.revision:
                return None
            whole = not max(self._complete_since, 1) <= revision <= self.revision
            start = 0 if whole else revision
            news = self._changed > start
            gone, at = self._removed
            looks = self._looks[news]
            colors = np.stack([(looks >> shift) & 0xFF for shift in (56, 48, 40)], axis=1)
            return CloudChange(
                revision=self.revision,
                previous=start,
                stamp=self.stamp,
                pitch=self.pitch,
                cells=_cells(self._keys[news]),
                colors=colors.astype(np.uint8),
                instances=(looks & 0xFFFFFFFF).astype(np.uint32),
                removed=_cells(gone[:0] if whole else gone[at > start]),
            )


def _keys(cells: np.ndarray) -> np.ndarray:
    """Return a unique key (N,) int64 for each cell (N, 3) int64."""
    shifted = cells + _HALF
    return (shifted[:, 0] << 32) | (shifted[:, 1] << 16) | shifted[:, 2]


def _cells(keys: np.ndarray) -> np.ndarray:
    return np.stack([((keys >> shift) & 0xFFFF) - _HALF for shift in (32, 16, 0)], axis=1).astype(np.int16)
