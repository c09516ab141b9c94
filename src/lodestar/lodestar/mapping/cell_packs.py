"""Contents of blocks without their empty cells, for copies that are kept in thousands and seldom read."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from lodestar.mapping.blocks import CELLS

_BITS = CELLS // 8  # bytes that say which cells of a block are there


class CellPack:
    """Contents of B blocks in one, without the cells that are `empty` throughout. Nothing is lost."""

    def __init__(self, blocks: np.ndarray, empty: float) -> None:
        """blocks: (B, 512, ...) of any type."""
        cells = _as_bytes(np.ascontiguousarray(blocks))
        value = np.array([empty]).astype(blocks.dtype).view(np.uint8)
        self._empty = np.tile(value, cells.shape[2] // len(value))  # bytes of an empty cell
        self._data, self._starts = _pack(cells, self._empty)

    def __len__(self) -> int:
        return len(self._starts)

    @property
    def nbytes(self) -> int:
        """Return the bytes of all contents."""
        return int(self._data.nbytes + self._starts.nbytes)

    def write(self, rows: np.ndarray, out: np.ndarray, at: np.ndarray) -> None:
        """Write the blocks at `rows` (N,) to rows `at` (N,) of `out` (K, 512, ...), of the type that was packed."""
        _write(self._data, self._starts, self._empty, rows, at, _as_bytes(out))


def _as_bytes(blocks: np.ndarray) -> np.ndarray:
    """Return the same memory as bytes of cells, (B, 512, W) uint8."""
    return blocks.reshape(len(blocks), CELLS, math.prod(blocks.shape[2:])).view(np.uint8)


@njit(cache=True, nogil=True)
def _is_there(cells, b, k, empty):
    """Return whether a byte of a cell differs from that of an empty one."""
    for w in range(cells.shape[2]):  # noqa: SIM110
        if cells[b, k, w] != empty[w]:
            return True
    return False


@njit(cache=True, nogil=True)
def _pack(cells, empty):
    """Return data, for each block the bits of its cells and then those that are there, and where each block begins."""
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
    """See `CellPack.write`; out: (K, 512, W)."""
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
