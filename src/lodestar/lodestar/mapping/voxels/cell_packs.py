"""Compressed copies of blocks without their empty cells, for thousands of copies that are seldom read."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from lodestar.mapping.voxels.blocks import CELLS

_BITS = CELLS // 8  # bytes of the bit mask that marks a block's non-empty cells


class CellPack:
    """Lossless compressed contents of B blocks, without the cells whose bytes all equal those of `empty`."""

    def __init__(self, blocks: np.ndarray, empty: float) -> None:
        """Pack `blocks`, (B, 512, ...) of any dtype. empty: value of an empty cell."""
        cells = _as_bytes(np.ascontiguousarray(blocks))
        value = np.array([empty]).astype(blocks.dtype).view(np.uint8)
        self._empty = np.tile(value, cells.shape[2] // len(value))  # bytes of an empty cell
        self._data, self._starts = _pack(cells, self._empty)

    def __len__(self) -> int:
        return len(self._starts)

    @property
    def nbytes(self) -> int:
        """Return the size of the packed data in bytes."""
        return int(self._data.nbytes + self._starts.nbytes)

    def write(self, rows: np.ndarray, out: np.ndarray, at: np.ndarray) -> None:
        """Unpack the blocks `rows` (N,) into rows `at` (N,) of `out` (K, 512, ...), of the packed dtype."""
        _write(self._data, self._starts, self._empty, rows, at, _as_bytes(out))


def _as_bytes(blocks: np.ndarray) -> np.ndarray:
    """Return a view of the blocks' memory as bytes per cell, (B, 512, W) uint8."""
    return blocks.reshape(len(blocks), CELLS, math.prod(blocks.shape[2:])).view(np.uint8)


@njit(cache=True, nogil=True)
def _is_there(cells, b, k, empty):
    """Return whether any byte of cell `k` of block `b` differs from an empty cell's."""
    for w in range(cells.shape[2]):  # noqa: SIM110
        if cells[b, k, w] != empty[w]:
            return True
    return False


@njit(cache=True, nogil=True)
def _pack(cells, empty):
    """Return the packed bytes and the start of each block in them.

    A block is packed as a bit mask of its cells, then the non-empty cells.
    """
    count, width = len(cells), cells.shape[2]
    data = np.zeros(count * (_BITS + CELLS * width), np.uint8)
    starts, end = np.empty(count, np.int64), 0
    for b in range(count):
        starts[b], bits = end, end
        end += _BITS
        for k in range(CELLS):
            if _is_there(cells, b, k, empty):
                data[bits + (k >> 3)] |= np.uint8(1 << (k & 7))
                for w in range(width):
                    data[end + w] = cells[b, k, w]
                end += width
    return data[:end].copy(), starts


@njit(cache=True, nogil=True)
def _write(data, starts, empty, rows, at, out):
    """Unpack blocks; see `CellPack.write`. out: (K, 512, W)."""
    width = out.shape[2]
    for n in range(len(rows)):
        bits, there = starts[rows[n]], starts[rows[n]] + _BITS
        for k in range(CELLS):
            if data[bits + (k >> 3)] >> (k & 7) & 1:
                for w in range(width):
                    out[at[n], k, w] = data[there + w]
                there += width
            else:
                for w in range(width):
                    out[at[n], k, w] = empty[w]
