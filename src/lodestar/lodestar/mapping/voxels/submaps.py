"""Submaps of a map's blocks, so that a loop closure moves each with its part of the trajectory (ADR 0095).

A map stores one content per block, for readers. If a block is changed in a later submap than the one in which
it was begun, it is copied first. The difference between two successive copies, or between the last copy and
the content, holds the observations of one submap. A loop closure moves these differences separately and adds
them up again.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np
from numba import njit

from lodestar.geometry.map_correction import MapCorrection, displacement
from lodestar.mapping.voxels.blocks import CELLS, SIDE
from lodestar.mapping.voxels.cell_packs import CellPack
from lodestar.mapping.voxels.voxel_kernels import cell

# most copies of blocks, beyond which the oldest are dropped; chosen: 40 MB of log-odds
MOST = 32_768
# most voxels that a moved block reaches: fewer than a cube of SIDE + sqrt(3) voxels has room for
MOVED = 2 * CELLS
_TOGETHER = 64  # rows per numpy call; chosen: other threads run in between


class Copy(NamedTuple):
    """Copy of a block at the end of a submap.

    serial: serial number of the submap's node. packs: one pack per array of the block's contents. row: the
    block's row in them.
    """

    serial: int
    packs: tuple[CellPack, ...]
    row: int


class BlockSubmaps:
    """Submaps of the blocks of a pool: where each content was begun, and copies from earlier submaps.

    tags: (capacity,) int32, serial number of the trajectory node at which the content was begun, + 1; 0 =
    unknown. copies: by pool index, oldest first. empty: value of an unseen cell.
    """

    def __init__(self, capacity: int, empty: float, most: int = MOST) -> None:
        self.tags = np.zeros(capacity, np.int32)
        self.copies: OrderedDict[int, list[Copy]] = OrderedDict()
        self._empty, self._most, self._count = empty, most, 0
        self._found = np.empty((2, 1024), np.int32)

    def copied(self) -> BlockSubmaps:
        """Return a copy of this object without tags; the packed contents, which never change, are shared."""
        copy = BlockSubmaps(0, self._empty, self._most)
        copy.copies = OrderedDict((place, list(kept)) for place, kept in self.copies.items())
        copy._count = self._count
        return copy

    def begun_before(self, voxels: np.ndarray, serial: int, submap: int) -> tuple[np.ndarray, np.ndarray]:
        """Register a change of voxels; return the blocks (B,) to copy before it, and the nodes they began at.

        These blocks were begun before the current submap; from now on they count as begun at the newest node.
        voxels: (N,) int64, block * CELLS + cell. serial, submap: serial numbers of the newest node and of the
        first node of its submap.
        """
        if self._found.shape[1] < len(self.tags):
            self._found = np.empty((2, len(self.tags)), np.int32)
        count = _begin(voxels, self.tags, serial + 1, submap + 1, self._found)
        return self._found[0, :count], self._found[1, :count]

    def keep(self, places: np.ndarray, serials: np.ndarray, *contents: np.ndarray) -> None:
        """Store copies of the blocks `places` (B,) as they were at the end of their submaps.

        serials: (B,), nodes that began them. contents: (B, 512, ...) each.
        """
        packs = tuple(CellPack(one, self._empty) for one in contents)
        for row, (place, serial) in enumerate(zip(places.tolist(), serials.tolist())):
            self.copies.setdefault(place, []).append(Copy(serial, packs, row))
        self._count += len(places)
        while self._count > self._most:
            _, dropped = self.copies.popitem(last=False)
            self._count -= len(dropped)

    def told_apart(self, correction: MapCorrection, coords: np.ndarray, side: float, within: float) -> Sides:
        """Return the contents, by submap, of the blocks whose submaps a correction moves differently.

        These are blocks whose submaps move apart by more than `within` metres. correction: in the frame of
        the blocks. coords: (capacity, 3). side: edge of a block, metres.
        """
        kept = list(self.copies.items())
        if not kept:
            return Sides(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, bool), [])
        counts = np.array([len(copies) + 1 for _, copies in kept])
        places = np.repeat(np.array([place for place, _ in kept], np.int64), counts)
        nodes = [
            serial for place, copies in kept for serial in (*(c.serial for c in copies), self.tags[place] - 1)
        ]
        serials = np.array(nodes, np.int64)
        starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
        ends = displacement(correction.of_serials(serials), (coords[places] + 0.5) * side)
        gaps = np.linalg.norm(ends - np.repeat(ends[starts], counts, axis=0), axis=1)
        apart = np.maximum.reduceat(gaps, starts) > within
        rows, first = np.repeat(apart, counts), np.zeros(len(places), bool)
        first[starts] = True
        contents = [copies for (_, copies), yes in zip(kept, apart) if yes]
        return Sides(places[rows], serials[rows], first[rows], contents)

    def drop(self, place: int) -> None:
        """Drop the copies of a block."""
        self._count -= len(self.copies.pop(place, ()))

    def clear(self) -> None:
        """Drop all copies and tags, so that the contents belong to no known node."""
        self.tags[:] = 0
        self.copies.clear()
        self._count = 0

    @property
    def memory(self) -> int:
        """Return the number of stored copies of blocks."""
        return self._count


@dataclass(frozen=True)
class Sides:
    """Contents of B blocks as their submaps saw them: K entries, block by block, oldest first.

    places, serials: (K,), pool index of the block and serial number of the node. first: (K,) bool, whether
    the entry is the first of its block. copies: all copies of each block; its newest content is in the pool.
    """

    places: np.ndarray
    serials: np.ndarray
    first: np.ndarray
    copies: list[list[Copy]]

    @property
    def blocks(self) -> np.ndarray:
        """Return the pool indices (B,) of the blocks."""
        return self.places[self.first]

    def states(self, *newest: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return the contents (K, ...) of all entries, one array per array given to `keep`.

        newest: (B, ...) each, the contents of the blocks in the pool. Rows are copied in small parts, because
        one large numpy call would block other threads for tenths of a second.
        """
        found = tuple(np.empty((len(self.places), *one.shape[1:]), one.dtype) for one in newest)
        is_newest = np.roll(self.first, -1)
        last_rows = np.flatnonzero(is_newest)
        for start in range(0, len(last_rows), _TOGETHER):
            part = slice(start, start + _TOGETHER)
            for one, last in zip(found, newest):
                one[last_rows[part]] = last[part]
        there = np.flatnonzero(~is_newest).tolist()
        of_packs: dict[int, list[tuple[int, Copy]]] = {}
        for row, copy in zip(there, chain.from_iterable(self.copies)):
            of_packs.setdefault(id(copy.packs), []).append((row, copy))
        for members in of_packs.values():
            rows = np.array([copy.row for _, copy in members])
            at = np.array([row for row, _ in members])
            for pack, one in zip(members[0][1].packs, found):
                pack.write(rows, one, at)
        return found

    def before(self, offset: int) -> np.ndarray:
        """Return (K,) int64: row of the previous state of the same block, plus `offset`; -1 for the first."""
        rows = np.arange(len(self.places)) + offset - 1
        return np.where(self.first, -1, rows)


@njit(cache=True, nogil=True)
def _begin(voxels, tags, tag, submap, found):
    """Tag the blocks of voxels with the node `tag`; return the number of those begun before `submap`.

    These blocks and their nodes are written to `found`. voxels: (N,), block * CELLS + cell.
    """
    count, last = 0, np.int64(-1)
    for n in range(len(voxels)):
        block = voxels[n] >> 9
        if block == last:
            continue
        last = block
        if tags[block] == 0:
            tags[block] = tag
        elif tags[block] < submap:
            found[0, count], found[1, count] = block, tags[block] - 1
            count += 1
            tags[block] = tag
    return count


assert CELLS == 1 << 9


def is_still(moves: np.ndarray) -> np.ndarray:
    """Return (N,) bool: whether each of moves (N, 4, 4) is the identity."""
    return np.asarray((moves == np.eye(4)).all(axis=(1, 2)))


@njit(cache=True, nogil=True, inline="always")
def _bounds(coords, move, resolution, low, high):
    """Write the first and last voxel that a moved block may reach to `low` and `high`; move: (4, 4), metres."""
    half = SIDE * resolution / 2.0
    for a in range(3):
        middle, reach = move[a, 3], 0.0
        for b in range(3):
            middle += move[a, b] * (coords[b] * SIDE * resolution + half)
            reach += abs(move[a, b]) * half
        low[a] = math.floor((middle - reach) / resolution)
        high[a] = math.floor((middle + reach) / resolution)


@njit(cache=True, nogil=True, inline="always")
def _is_planar(move):
    """Return whether a move (4, 4) keeps the z axis."""
    return max(abs(move[2, 0]), abs(move[2, 1]), abs(move[0, 2]), abs(move[1, 2])) < 1e-9


@njit(cache=True, nogil=True, inline="always")
def _source_levels(coords, move, resolution, low, high, levels):
    """Write to `levels`, for each height low .. high, the level of the block that a planar move takes there.

    Levels are 0 to 7, -1 = none. move: (4, 4), metres.
    """
    for z in range(low, high + 1):
        k = math.floor(((z + 0.5) * resolution - move[2, 3]) / resolution + 1e-9)
        levels[z - low] = k & 7 if k >> 3 == coords[2] else -1


@njit(cache=True, nogil=True, inline="always")
def _source_column(coords, move, resolution, x, y):
    """Return the lowest cell of the block's column that a planar move (4, 4) takes to (x, y); -1 = none."""
    u, v = (x + 0.5) * resolution - move[0, 3], (y + 0.5) * resolution - move[1, 3]
    i = math.floor((move[0, 0] * u + move[1, 0] * v) / resolution)
    j = math.floor((move[0, 1] * u + move[1, 1] * v) / resolution)
    return cell(i, j, 0) if i >> 3 == coords[0] and j >> 3 == coords[1] else -1


@njit(cache=True, nogil=True, inline="always")
def _source_cell(coords, move, resolution, x, y, z):
    """Return the cell of the block that a move (4, 4), metres, takes to voxel (x, y, z); -1 = none."""
    u, v, w = (
        (x + 0.5) * resolution - move[0, 3],
        (y + 0.5) * resolution - move[1, 3],
        (z + 0.5) * resolution - move[2, 3],
    )
    i = math.floor((move[0, 0] * u + move[1, 0] * v + move[2, 0] * w) / resolution)
    j = math.floor((move[0, 1] * u + move[1, 1] * v + move[2, 1] * w) / resolution)
    k = math.floor((move[0, 2] * u + move[1, 2] * v + move[2, 2] * w) / resolution)
    if i >> 3 != coords[0] or j >> 3 != coords[1] or k >> 3 != coords[2]:
        return -1
    return cell(i, j, k)


@njit(cache=True, nogil=True)
def moved_voxels(coords, move, resolution, found):
    """Write the voxels that a block reaches by a rigid move (4, 4), metres, to `found`; return their number.

    found: (MOVED, 4) int64, x, y and z of a voxel, and the cell of the block that moves there.
    """
    low, high, levels = np.empty(3, np.int64), np.empty(3, np.int64), np.empty(4 * SIDE, np.int64)
    _bounds(coords, move, resolution, low, high)
    planar, column, count = _is_planar(move), np.int64(0), 0
    if planar:
        _source_levels(coords, move, resolution, low[2], high[2], levels)
    for x in range(low[0], high[0] + 1):
        for y in range(low[1], high[1] + 1):
            if planar:
                column = _source_column(coords, move, resolution, x, y)
                if column < 0:
                    continue
            for z in range(low[2], high[2] + 1):
                if planar:
                    level = levels[z - low[2]]
                    at = column + level if level >= 0 else -1
                else:
                    at = _source_cell(coords, move, resolution, x, y, z)
                if at >= 0:
                    found[count, 0], found[count, 1], found[count, 2], found[count, 3] = x, y, z, at
                    count += 1
    return count


def cells_after(
    rows: np.ndarray, moves: np.ndarray, first: np.ndarray, resolution: float, weight: np.ndarray
) -> np.ndarray:
    """Return (rows, columns) int64: the flat index of the cell that moved to each cell, -1 = none.

    rows: (rows, columns) int32, index of each cell's move, -1 = empty cell. moves: (N, 4, 4), in map. first:
    (column, row) of cell (0, 0), in multiples of the resolution. weight: (rows, columns); if several cells
    move to one place, the one of the largest weight wins.
    """
    return _cells_after(
        rows, np.ascontiguousarray(moves), np.asarray(first, np.int64), resolution, weight.astype(np.float32)
    )


@njit(cache=True, nogil=True)
def _cells_after(which, moves, first, resolution, weight):
    rows, columns = which.shape
    came = np.full((rows, columns), -1, np.int64)
    for row in range(rows):
        for column in range(columns):
            k = which[row, column]
            if k < 0:
                continue
            m, own = moves[k], weight[row, column]
            # centres of its quarters, so that no target cell is left out; then its own centre
            for part in range(5):
                du, dv = 0.5, 0.5
                if part < 4:
                    du, dv = 0.25 + 0.5 * (part % 2), 0.25 + 0.5 * (part // 2)
                x, y = (column + first[0] + du) * resolution, (row + first[1] + dv) * resolution
                to_column = math.floor((m[0, 0] * x + m[0, 1] * y + m[0, 3]) / resolution) - first[0]
                to_row = math.floor((m[1, 0] * x + m[1, 1] * y + m[1, 3]) / resolution) - first[1]
                if not (0 <= to_row < rows and 0 <= to_column < columns):
                    continue
                other = came[to_row, to_column]
                if other < 0 or own > weight[other // columns, other % columns]:
                    came[to_row, to_column] = row * columns + column
    return came
