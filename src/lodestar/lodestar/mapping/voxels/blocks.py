"""Hash table of blocks of 8 x 8 x 8 voxels, in a pool that is never reallocated.

A pool's arrays are reserved once (`reserve`), and the system commits their pages when blocks are first
written. So the map is never copied to grow, and at most one page is committed ahead of use. Pool indices of
released blocks are reused.
"""

from __future__ import annotations

import math
import mmap
from typing import Any

import numpy as np
from numba import njit

SIDE = 8  # voxels along an edge of a block
CELLS = SIDE**3
USED, FREE, LIVE, REFUSED = range(4)  # indices into a pool's `state` array
GROUP = 4  # blocks along an edge of a group that is tested for visibility at once
TILE = 16  # pixels along an edge of an image tile
REACH = 1 << 24  # voxels from the origin to the map's border (800 km at 5 cm)
_UNCOUNTED = getattr(mmap, "MAP_NORESERVE", 0x4000)  # Linux flag; Python names it from 3.13 on


def reserve(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """Return an array of zeros whose memory is committed page by page on first write.

    Until then it takes only address space. The system does not count the reserved memory as used, so a pool
    may be larger than the memory. Raises MemoryError if the system forbids that (vm.overcommit_memory = 2, or
    a limit on address space).
    """
    size = math.prod(shape) * np.dtype(dtype).itemsize
    if size == 0:
        return np.zeros(shape, dtype)
    try:
        pages = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _UNCOUNTED)
    except OSError as error:
        raise MemoryError(
            f"no address space for a pool of {size / 2**20:.0f} MiB ({error}): allow it (vm.overcommit_memory 0 or 1, "
            "ulimit -v), or set a smaller capacity"
        ) from error
    return np.frombuffer(pages, dtype).reshape(shape)


_SHORT = 0.9  # share of a pool in use from which a warning is given; chosen: leaves time to save the map


def shortage(what: str, used: int, capacity: int, refused: int, setting: str) -> str:
    """Return a warning if a pool is nearly full or has refused requests, else "".

    what: name of the pool's content. setting: the parameter that sets its size.
    """
    if not refused and used < _SHORT * capacity:
        return ""
    lost = f", and {refused:,} were refused, which the map lacks" if refused else ""
    return (
        f"{used:,} of {capacity:,} {what} are in use{lost}: raise {setting} (memory is taken only as it is used), or "
        "save this map and begin another"
    )


@njit(cache=True, nogil=True, inline="always")
def _slot(x, y, z, mask):
    mixed = (np.int64(x) * 73856093) ^ (np.int64(y) * 19349663) ^ (np.int64(z) * 83492791)
    mixed ^= mixed >> 15
    return (mixed * 668265263) & mask


@njit(cache=True, nogil=True, inline="always")
def _seek(table, coords, x, y, z):
    """Return the table's slot of the block at (x, y, z), or the free slot in which to insert it."""
    mask = len(table) - 1
    slot = _slot(x, y, z, mask)
    while table[slot] != 0:
        index = table[slot] - 1
        if coords[index, 0] == x and coords[index, 1] == y and coords[index, 2] == z:
            break
        slot = (slot + 1) & mask
    return slot


@njit(cache=True, nogil=True)
def find(table, coords, x, y, z):
    """Return the pool index of the block at (x, y, z); -1 = none."""
    return table[_seek(table, coords, x, y, z)] - 1


@njit(cache=True, nogil=True)
def obtain(table, coords, free, state, x, y, z):
    """Return the pool index of the block at (x, y, z), created if needed; -1 = the pool is full."""
    slot = _seek(table, coords, x, y, z)
    if table[slot] != 0:
        return table[slot] - 1
    if state[FREE] > 0:
        state[FREE] -= 1
        index = free[state[FREE]]
    elif state[USED] < len(coords):
        index = state[USED]
        state[USED] += 1
    else:
        state[REFUSED] += 1
        return -1
    state[LIVE] += 1
    coords[index, 0], coords[index, 1], coords[index, 2] = x, y, z
    table[slot] = index + 1
    return index


@njit(cache=True, nogil=True)
def give_back(table, coords, free, state, index):
    """Release a block: remove it from the table and free its pool index.

    Later entries of its probe run are moved back, so that no tombstones are needed.
    """
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
    free[state[FREE]] = index
    state[FREE] += 1
    state[LIVE] -= 1


@njit(cache=True, nogil=True, error_model="numpy")
def farthest(depth):
    """Return the largest depth in each tile of TILE x TILE pixels, 0 = no measurement.

    depth: (H, W) float32, metres.
    """
    rows, columns = depth.shape
    tiles = np.zeros(((rows + TILE - 1) // TILE, (columns + TILE - 1) // TILE), np.float32)
    most = np.empty(columns, np.float32)
    for band in range(tiles.shape[0]):
        most[:] = np.float32(0.0)
        for row in range(band * TILE, min((band + 1) * TILE, rows)):
            line = depth[row]
            for column in range(columns):
                # NaN compares false
                most[column] = line[column] if line[column] > most[column] else most[column]
        for column in range(columns):
            tiles[band, column // TILE] = max(tiles[band, column // TILE], most[column])
    return tiles


@njit(cache=True, nogil=True, inline="always")
def _is_hidden(tiles, fx, fy, cx, cy, x, y, z, radius, slack):
    """Return whether a sphere, camera frame, lies completely more than `slack` behind the measured depth."""
    first, last = z - radius, z + radius
    if first <= slack + 1e-3:
        return False
    left, right, top, bottom = x - radius, x + radius, y - radius, y + radius
    u0 = fx * left / (first if left < 0.0 else last) + cx - 1.0
    u1 = fx * right / (first if right > 0.0 else last) + cx + 1.0
    v0 = fy * top / (first if top < 0.0 else last) + cy - 1.0
    v1 = fy * bottom / (first if bottom > 0.0 else last) + cy + 1.0
    rows, columns = tiles.shape
    row0, row1 = max(math.floor(v0 / TILE), 0), min(math.floor(v1 / TILE), rows - 1)
    column0, column1 = max(math.floor(u0 / TILE), 0), min(math.floor(u1 / TILE), columns - 1)
    for row in range(row0, row1 + 1):
        for column in range(column0, column1 + 1):
            if tiles[row, column] >= first - slack:
                return False
    return True


@njit(cache=True, nogil=True, inline="always")
def _may_show(x, y, z, radius, eye, lens, rotation, offset, tiles):
    """Return whether a sphere at (x, y, z), voxel frame, may be visible in a depth image.

    eye: (rows, columns, near, far, slack). lens: (fx, fy, cx, cy). rotation, offset: camera <- voxel frame.
    tiles: see `farthest`.
    """
    fx, fy, cx, cy = lens
    rows, columns, near, far, slack = eye
    c = rotation[2, 0] * x + rotation[2, 1] * y + rotation[2, 2] * z + offset[2]
    if c + radius < near or c - radius > far:
        return False
    a = rotation[0, 0] * x + rotation[0, 1] * y + rotation[0, 2] * z + offset[0]
    if fx * a + cx * c < -(fx + cx) * radius or (columns - cx) * c - fx * a < -(fx + columns - cx) * radius:
        return False
    b = rotation[1, 0] * x + rotation[1, 1] * y + rotation[1, 2] * z + offset[1]
    if fy * b + cy * c < -(fy + cy) * radius or (rows - cy) * c - fy * b < -(fy + rows - cy) * radius:
        return False
    return not _is_hidden(tiles, fx, fy, cx, cy, a, b, c, radius, slack)


@njit(cache=True, nogil=True, error_model="numpy")
def in_view(table, coords, block, shape, camera, rotation, offset, near, far, tiles, slack, result):
    """Write the pool indices of the blocks that a view may touch into `result`; return their number.

    block: edge of a block, metres. camera: (fx, fy, cx, cy). rotation, offset: camera <- voxel frame. tiles:
    `farthest` of the view's depth; blocks more than `slack` metres behind it are left out, so that other
    rooms cost no time. The run time depends on the size of the view, not on that of the map.
    """
    fx, fy, cx, cy = camera
    rows, columns = shape
    eye = rows, columns, near, far, slack
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    for corner in range(5):  # bounding box of the camera and the corners of the frustum's far plane
        z = far if corner < 4 else 0.0
        x = ((columns if corner & 1 else 0) - cx) / fx * z - offset[0]
        y = ((rows if corner & 2 else 0) - cy) / fy * z - offset[1]
        z -= offset[2]
        for a in range(3):
            value = rotation[0, a] * x + rotation[1, a] * y + rotation[2, a] * z
            low[a], high[a] = min(low[a], value), max(high[a], value)
    first, last = np.empty(3, np.int64), np.empty(3, np.int64)
    for a in range(3):
        if not (abs(low[a]) < REACH * 0.01 * block and abs(high[a]) < REACH * 0.01 * block):
            return 0
        first[a], last[a] = math.floor(low[a] / block), math.floor(high[a] / block)
    radius = 0.5 * math.sqrt(3.0) * block
    found = 0
    for gx in range(first[0], last[0] + 1, GROUP):  # test groups of blocks first: most are out of view
        for gy in range(first[1], last[1] + 1, GROUP):
            for gz in range(first[2], last[2] + 1, GROUP):
                x, y, z = (gx + 0.5 * GROUP) * block, (gy + 0.5 * GROUP) * block, (gz + 0.5 * GROUP) * block
                if not _may_show(x, y, z, GROUP * radius, eye, camera, rotation, offset, tiles):
                    continue
                for bx in range(gx, min(gx + GROUP, last[0] + 1)):
                    for by in range(gy, min(gy + GROUP, last[1] + 1)):
                        for bz in range(gz, min(gz + GROUP, last[2] + 1)):
                            x, y, z = (bx + 0.5) * block, (by + 0.5) * block, (bz + 0.5) * block
                            if not _may_show(x, y, z, radius, eye, camera, rotation, offset, tiles):
                                continue
                            index = find(table, coords, bx, by, bz)
                            if index >= 0 and found < len(result):
                                result[found] = index
                                found += 1
    return found


class BlockPool:
    """Index of blocks by coordinates; it assigns each block a pool index.

    The owner keeps the contents of the blocks in arrays with the same indices.
    """

    def __init__(self, capacity: int):
        self.coords = reserve((capacity, 3), np.int32)
        self.free = reserve((capacity,), np.int32)
        self.state = np.zeros(4, np.int64)
        self.table = reserve((1 << max(4, (2 * capacity - 1).bit_length()),), np.int32)

    @property
    def capacity(self) -> int:
        """Return the largest number of blocks."""
        return len(self.coords)

    @property
    def used(self) -> int:
        """Return the number of pool indices used so far, including released ones.

        Memory is committed up to there.
        """
        return int(self.state[USED])

    @property
    def live(self) -> int:
        """Return the number of blocks in the map."""
        return int(self.state[LIVE])

    @property
    def refused(self) -> int:
        """Return the number of requests for a block that failed because the pool was full."""
        return int(self.state[REFUSED])

    def places(self) -> np.ndarray:
        """Return the pool indices (B,) of the blocks in the map, ascending."""
        there = np.ones(self.used, bool)
        there[self.free[: int(self.state[FREE])]] = False
        return np.flatnonzero(there)

    def insert(self, coords: np.ndarray) -> np.ndarray:
        """Return the pool indices (B,) of the blocks at coords (B, 3) int32, created if needed.

        -1 = the pool is full.
        """
        return _insert(self.table, self.coords, self.free, self.state, np.ascontiguousarray(coords, np.int32))


@njit(cache=True, nogil=True)
def _insert(table, coords, free, state, wanted):
    places = np.empty(len(wanted), np.int32)
    for i in range(len(wanted)):
        places[i] = obtain(table, coords, free, state, wanted[i, 0], wanted[i, 1], wanted[i, 2])
    return places
