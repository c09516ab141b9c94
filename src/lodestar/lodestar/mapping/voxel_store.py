"""Sparse voxels that remember which instances were seen in them.

A pool of voxels is reserved once and committed by the system as it fills, so the map is never copied to grow;
only the table of indices into it is.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

CANDIDATES = 4  # instances that a voxel remembers (DESIGN section 4)
GONE = -1  # owner of a pool entry that holds no voxel
_USED, _FREE, _LIVE, _REFUSED = range(4)


@njit(cache=True, inline="always")
def _slot(x, y, z, mask):
    mixed = (x * 73856093) ^ (y * 19349663) ^ (z * 83492791)
    mixed ^= mixed >> 15
    return (mixed * 668265263) & mask


@njit(cache=True)
def _find(table, coords, x, y, z):
    mask = len(table) - 1
    slot = _slot(x, y, z, mask)
    while table[slot] != 0:
        index = table[slot] - 1
        if coords[index, 0] == x and coords[index, 1] == y and coords[index, 2] == z:
            return index
        slot = (slot + 1) & mask
    return -1


@njit(cache=True)
def _rehash(table, coords, owner, used):
    mask = len(table) - 1
    for index in range(used):
        if owner[index] == GONE:
            continue
        slot = _slot(coords[index, 0], coords[index, 1], coords[index, 2], mask)
        while table[slot] != 0:
            slot = (slot + 1) & mask
        table[slot] = index + 1


@njit(cache=True)
def _erase(table, coords, index):
    """Take one voxel out of the table, moving later entries of its run back (no tombstones)."""
    mask = len(table) - 1
    hole = _slot(coords[index, 0], coords[index, 1], coords[index, 2], mask)
    while table[hole] != index + 1:
        hole = (hole + 1) & mask
    probe = hole
    while True:
        probe = (probe + 1) & mask
        if table[probe] == 0:
            break
        other = table[probe] - 1
        home = _slot(coords[other, 0], coords[other, 1], coords[other, 2], mask)
        if ((probe - home) & mask) >= ((probe - hole) & mask):
            table[hole] = table[probe]
            hole = probe
    table[hole] = 0


@njit(cache=True)
def _add_vote(ids, weights, index, voter, weight):
    """Give one voter weight in a voxel and return who has most there (0 = background)."""
    chosen = -1
    least = 0
    for k in range(CANDIDATES):
        if weights[index, k] > 0 and ids[index, k] == voter:
            chosen = k
            break
        if weights[index, k] < weights[index, least]:
            least = k
    if chosen < 0:
        if weights[index, least] > weight:  # all places taken by stronger ones: wear the weakest down
            weights[index, least] -= weight
        else:
            ids[index, least] = voter
            weights[index, least] = weight
    elif weights[index, chosen] + weight > 255:
        for k in range(CANDIDATES):
            weights[index, k] //= 2
        weights[index, chosen] += weight
    else:
        weights[index, chosen] += weight
    best = 0
    for k in range(1, CANDIDATES):
        if weights[index, k] > weights[index, best]:
            best = k
    return ids[index, best]


@njit(cache=True)
def _vote(table, coords, owner, ids, weights, occupancy, seen, free, state, points, voters, weight, gain, top, mark):
    for i in range(len(points)):
        x, y, z = points[i, 0], points[i, 1], points[i, 2]
        index = _find(table, coords, x, y, z)
        if index < 0:
            if voters[i] == 0:
                continue
            if state[_FREE] > 0:
                state[_FREE] -= 1
                index = free[state[_FREE]]
            elif state[_USED] < len(owner):
                index = state[_USED]
                state[_USED] += 1
            else:
                state[_REFUSED] += 1
                continue
            state[_LIVE] += 1
            coords[index, 0], coords[index, 1], coords[index, 2] = x, y, z
            weights[index, :] = 0
            occupancy[index] = 0
            seen[index] = 0
            mask = len(table) - 1
            slot = _slot(x, y, z, mask)
            while table[slot] != 0:
                slot = (slot + 1) & mask
            table[slot] = index + 1
        if seen[index] == mark:
            continue
        seen[index] = mark
        occupancy[index] = min(occupancy[index] + gain, top)
        owner[index] = _add_vote(ids, weights, index, voters[i], weight)


@njit(cache=True)
def _owners(table, coords, owner, points):
    result = np.zeros(len(points), np.int32)
    for i in range(len(points)):
        index = _find(table, coords, points[i, 0], points[i, 1], points[i, 2])
        if index >= 0:
            result[i] = owner[index]
    return result


@njit(cache=True)
def _carve(coords, owner, occupancy, seen, used, mark, size, depth, camera, rotation, offset, near, far, margins,
           inside, empty, hidden, dead):  # fmt: skip
    """Compare every voxel in view with the depth measured at its place.

    Counts per instance: `inside` the image, seen `empty`, `hidden` behind something. Voxels that were seen empty
    and have no occupancy left are listed in `dead`; their number is returned.
    """
    fx, fy, cx, cy = camera
    rows, columns = depth.shape
    found = 0
    half_width = max(cx, columns - 1 - cx) / fx
    half_height = max(cy, rows - 1 - cy) / fy
    reach = far * math.sqrt(1.0 + half_width**2 + half_height**2)
    eye_x = -(rotation[0, 0] * offset[0] + rotation[1, 0] * offset[1] + rotation[2, 0] * offset[2])
    eye_y = -(rotation[0, 1] * offset[0] + rotation[1, 1] * offset[1] + rotation[2, 1] * offset[2])
    low_x, high_x = (eye_x - reach) / size, (eye_x + reach) / size
    low_y, high_y = (eye_y - reach) / size, (eye_y + reach) / size
    for i in range(used):
        who = owner[i]
        ix, iy = coords[i, 0], coords[i, 1]
        if who == GONE or ix < low_x or ix > high_x or iy < low_y or iy > high_y:
            continue
        x, y, z = (ix + 0.5) * size, (iy + 0.5) * size, (coords[i, 2] + 0.5) * size
        c = rotation[2, 0] * x + rotation[2, 1] * y + rotation[2, 2] * z + offset[2]
        if c < near or c > far:
            continue
        u = (rotation[0, 0] * x + rotation[0, 1] * y + rotation[0, 2] * z + offset[0]) / c * fx + cx
        v = (rotation[1, 0] * x + rotation[1, 1] * y + rotation[1, 2] * z + offset[1]) / c * fy + cy
        column, row = int(u + 0.5), int(v + 0.5)
        spread = min(int(0.5 * size * fx / c) + 1, 12)
        if u < spread or v < spread or column + spread >= columns or row + spread >= rows:
            continue
        inside[who] += 1
        margin = margins[0] + margins[1] * c
        middle = depth[row, column]
        if middle == 0.0:
            hidden[who] += 1
            continue
        if middle < c - margin:
            hidden[who] += 1
            continue
        if middle <= c + margin or seen[i] == mark:
            continue
        # Empty only where nothing near its outline is as close: thin things are smaller than a voxel.
        clear = True
        for k in range(4):
            around = depth[row + spread * (1, 1, -1, -1)[k], column + spread * (1, -1, 1, -1)[k]]
            if around == 0.0 or around <= c + margin:
                clear = False
                break
        if not clear:
            continue
        empty[who] += 1
        occupancy[i] -= 1
        if occupancy[i] < 0:
            dead[found] = i
            found += 1
    return found


@njit(cache=True)
def _remove(table, coords, owner, free, state, indices):
    for i in range(len(indices)):
        index = indices[i]
        _erase(table, coords, index)
        owner[index] = GONE
        free[state[_FREE]] = index
        state[_FREE] += 1
        state[_LIVE] -= 1


@njit(cache=True)
def _rename(owner, ids, weights, used, old, new):
    """Make every vote for `old` one for `new`; returns how many voxels changed owner."""
    changed = 0
    for i in range(used):
        if owner[i] == GONE:
            continue
        source = -1
        target = -1
        for k in range(CANDIDATES):
            if weights[i, k] > 0 and ids[i, k] == old:
                source = k
            elif weights[i, k] > 0 and ids[i, k] == new:
                target = k
        if source < 0:
            continue
        if target < 0:
            ids[i, source] = new
        else:
            weights[i, target] = min(255, np.int64(weights[i, target]) + np.int64(weights[i, source]))
            weights[i, source] = 0
        best = 0
        for k in range(1, CANDIDATES):
            if weights[i, k] > weights[i, best]:
                best = k
        if owner[i] != ids[i, best]:
            changed += 1
        owner[i] = ids[i, best]
    return changed


class VoxelStore:
    """Voxels by integer coordinates: votes per instance, an owner, an occupancy.

    Not safe for threads; the map around it holds the lock.
    """

    def __init__(self, size: float, capacity: int):
        self.size = size
        self.coords = np.zeros((capacity, 3), np.int32)
        self.owner = np.zeros(capacity, np.int32)
        self._ids = np.zeros((capacity, CANDIDATES), np.int32)
        self.weights = np.zeros((capacity, CANDIDATES), np.uint8)
        self.occupancy = np.zeros(capacity, np.int8)
        self._seen = np.zeros(capacity, np.int32)
        self._free = np.zeros(capacity, np.int32)
        self._state = np.zeros(4, np.int64)
        self._table = np.zeros(1 << 14, np.int32)

    @property
    def used(self) -> int:
        """Pool entries in use or once used: arrays are meaningful up to here, where `owner` is not GONE."""
        return int(self._state[_USED])

    @property
    def live(self) -> int:
        """Voxels in the map."""
        return int(self._state[_LIVE])

    @property
    def refused(self) -> int:
        """Voxels that found no room since the start."""
        return int(self._state[_REFUSED])

    def vote(self, points: np.ndarray, voters: np.ndarray, weight: int, gain: int, top: int, mark: int) -> None:
        """Each voxel of `points` (N, 3) int32 gets one vote of frame `mark`, its first, by voters (N,) int32.

        Voter 0 is the background: it votes only in voxels that exist. Occupancy rises by `gain` up to `top`.
        """
        while (self.live + len(points)) * 2 > len(self._table) and len(self._table) < 4 * len(self.owner):
            self._table = np.zeros(len(self._table) * 2, np.int32)
            _rehash(self._table, self.coords, self.owner, self.used)
        _vote(
            self._table, self.coords, self.owner, self._ids, self.weights, self.occupancy, self._seen, self._free,
            self._state, points, voters, weight, gain, top, mark,
        )  # fmt: skip

    def owners(self, points: np.ndarray) -> np.ndarray:
        """(N,) int32: who owns the voxels at points (N, 3) int32; 0 = nobody, or none there."""
        return _owners(self._table, self.coords, self.owner, points)

    def carve(
        self, depth: np.ndarray, camera: tuple, camera_from_voxels: np.ndarray, near: float, far: float,
        margins: tuple[float, float], mark: int, ids: int,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
        """Lower the occupancy of voxels that depth was measured through, and drop those that have none left.

        margins: metres, and metres per metre of range, by which depth must pass a voxel.
        Returns per instance id below `ids`: voxels inside the image, seen empty, hidden; (ids,) int32 each.
        """
        counts = np.zeros((3, ids), np.int32)
        dead = np.empty(self.used, np.int32)
        found = _carve(
            self.coords, self.owner, self.occupancy, self._seen, self.used, mark, self.size, depth, camera,
            np.ascontiguousarray(camera_from_voxels[:3, :3]), np.ascontiguousarray(camera_from_voxels[:3, 3]),
            near, far, margins, counts[0], counts[1], counts[2], dead,
        )  # fmt: skip
        self.remove(dead[:found])
        return counts[0], counts[1], counts[2]

    def remove(self, indices: np.ndarray) -> None:
        """Forget the voxels at these places of the pool."""
        _remove(self._table, self.coords, self.owner, self._free, self._state, indices)

    def rename(self, old: int, new: int) -> int:
        """Make every vote for `old` one for `new`; returns how many voxels changed their owner."""
        return _rename(self.owner, self._ids, self.weights, self.used, old, new)

    def reassign(self, places: np.ndarray, old: int, new: int) -> None:
        """Make the votes for `old` in the voxels at these places of the pool votes for `new`."""
        ids = self._ids[places]
        ids[ids == old] = new
        self._ids[places] = ids
        self.owner[places] = np.where(self.owner[places] == old, new, self.owner[places])

    def drop(self, instance: int) -> None:
        """Forget the voxels of an instance and every vote for it."""
        own = np.flatnonzero(self.owner[: self.used] == instance)
        self.rename(instance, 0)
        self.remove(own)

    def owned(self) -> np.ndarray:
        """Places in the pool of the voxels that belong to an instance."""
        return np.flatnonzero(self.owner[: self.used] > 0)
