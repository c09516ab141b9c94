"""OctoMap's file and message streams, written from voxels and read back into voxels.

Voxels are (N, 3) int64 coordinates, counted from the centre of the tree.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from lodestar.mapping.occupancy.occupancy_kernels import DEPTH, HALF

_NODE = np.dtype([("value", "<f4"), ("children", "u1")])  # packed as in the file
_MOST = 1 << 27  # most voxels in a file: pruned leaves of a corrupt file could fill any memory
_HEADER = (
    "# Octomap OcTree file\n# (feel free to add / change comments, but leave the first line as it is!)\n#\n"
)
_ALL_EMPTY, _ALL_FULL = 0x5555, 0xAAAA  # eight leaves of one state, two bits each
_LEAF_EMPTY, _LEAF_FULL, _INNER = 1, 2, 3


def codes_of(voxels: np.ndarray) -> np.ndarray:
    """Return (N,) int64 Morton codes in the order of OctoMap's children: x is the lowest bit."""
    keys = voxels + HALF
    codes = np.zeros(len(keys), np.int64)
    for level in range(DEPTH):
        for axis in range(3):
            codes |= (keys[:, axis] >> level & 1) << (3 * level + axis)
    return codes


def _levels(codes: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return per level, from the leaves' parents to the root, the nodes' codes and their first children.

    A first child is an index into the nodes of the level below.
    """
    levels: list[tuple[np.ndarray, np.ndarray]] = []
    below = codes
    while len(levels) < DEPTH:
        above = below >> 3
        first = np.flatnonzero(np.append(True, above[1:] != above[:-1]))
        levels.append((above[first], first))
        below = above[first]
    return levels


def _preorder(codes: list[np.ndarray]) -> np.ndarray:
    """Return the order that sorts nodes so that parents precede their children.

    codes: of the nodes, level by level from the leaves up.
    """
    first = np.concatenate([each << (3 * level) for level, each in enumerate(codes)])
    level = np.concatenate([np.full(len(each), level) for level, each in enumerate(codes)])
    return np.lexsort((-level, first))


def write_full(voxels: np.ndarray, log_odds: np.ndarray) -> tuple[bytes, int]:
    """Return the data of a tree with probabilities, and its number of nodes. log_odds: (N,) float32."""
    if not len(voxels):
        return b"", 0
    codes = codes_of(voxels)
    order = np.argsort(codes)
    codes, values = codes[order], log_odds[order]
    all_codes, nodes = [codes], [_nodes(values, np.zeros(len(codes), np.uint8))]
    below = codes
    for above, first in _levels(codes):
        values = np.maximum.reduceat(values, first)
        children = np.bitwise_or.reduceat(np.left_shift(1, below & 7), first)
        all_codes.append(above)
        nodes.append(_nodes(values, children))
        below = above
    stream = np.concatenate(nodes)[_preorder(all_codes)]
    return stream.tobytes(), len(stream)


def _nodes(values: np.ndarray, children: np.ndarray) -> np.ndarray:
    nodes = np.empty(len(values), _NODE)
    nodes["value"], nodes["children"] = values, children
    return nodes


def write_binary(voxels: np.ndarray, full: np.ndarray) -> bytes:
    """Return the data of a pruned tree that only tells occupied from free voxels. full: (N,) bool."""
    if not len(voxels):
        return b""
    codes = codes_of(voxels)
    order = np.argsort(codes)
    codes, states = codes[order], np.where(full[order], _LEAF_FULL, _LEAF_EMPTY)
    inner_codes, inner_words, below = [codes[:0]], [states[:0]], codes
    for above, first in _levels(codes):
        words = np.bitwise_or.reduceat(states << 2 * (below & 7), first)
        states = np.full(len(words), _INNER)
        states[words == _ALL_EMPTY], states[words == _ALL_FULL] = _LEAF_EMPTY, _LEAF_FULL
        inner_codes.append(above[states == _INNER])
        inner_words.append(words[states == _INNER])
        below = above
    return np.concatenate(inner_words)[_preorder(inner_codes)].astype("<u2").tobytes()


def write_file(voxels: np.ndarray, log_odds: np.ndarray, resolution: float) -> bytes:
    """Return the content of a .ot file as OctoMap writes it."""
    data, count = write_full(voxels, log_odds)
    return f"{_HEADER}id OcTree\nsize {count}\nres {resolution:g}\ndata\n".encode() + data


def read_file(content: bytes) -> tuple[np.ndarray, np.ndarray, float]:
    """Return the voxels, their log-odds (N,) float32, and the resolution of a .ot file.

    Raises ValueError if it is malformed.
    """
    head, mark, data = content.partition(b"\ndata\n")
    lines = [
        line.split() for line in head.decode("ascii", "replace").splitlines() if not line.startswith("#")
    ]
    fields: dict[str, Any] = {line[0]: line[1] for line in lines if len(line) == 2}
    try:
        resolution, count = float(fields["res"]), int(fields["size"])
    except (KeyError, ValueError):
        raise ValueError("not an OctoMap file: its header has no size or resolution") from None
    if not mark or fields.get("id") != "OcTree" or count < 0 or len(data) != count * _NODE.itemsize:
        raise ValueError("not an OctoMap file with probabilities, or a part of it is missing")
    nodes = np.frombuffer(data, _NODE)
    values, children = nodes["value"].copy(), nodes["children"].copy()
    if not np.isfinite(values).all():
        raise ValueError("an OctoMap file whose log-odds are not finite")
    total = _count_voxels(children) if count else 0
    if not 0 <= total <= _MOST:
        raise ValueError("an OctoMap file whose nodes are no tree, or stand for too many voxels")
    voxels, found = np.empty((total, 3), np.int64), np.empty(total, np.float32)
    _read_voxels(values, children, voxels, found)
    return voxels, found, resolution


@njit(cache=True)
def _count_voxels(children):
    """Return the number of voxels in a tree given in preorder.

    Returns -1 if it is not a tree of DEPTH levels, or is too large.
    """
    waiting = np.zeros(DEPTH + 1, np.int64)  # children not yet read at each level
    waiting[0], level, total = 1, 0, 0
    for n in range(len(children)):
        while level >= 0 and waiting[level] == 0:
            level -= 1
        if level < 0:
            return -1
        waiting[level] -= 1
        if children[n] == 0:
            total += 1 << (3 * (DEPTH - level))
        elif level == DEPTH:
            return -1
        else:
            level += 1
            for child in range(8):
                waiting[level] += children[n] >> child & 1
        if total > _MOST:
            return -1
    return total if waiting.sum() == 0 else -1


@njit(cache=True)
def _read_voxels(values, children, voxels, found):
    """Write the voxels of a tree that passed `_count_voxels` to `voxels`, and their values to `found`."""
    corner = np.zeros((DEPTH + 1, 3), np.int64)  # corner of the current node at each level
    left = np.zeros(DEPTH + 1, np.int64)  # bits of its children that are not yet read
    level, count = 0, 0
    for n in range(len(values)):
        if n > 0:
            while left[level] == 0:
                level -= 1
            child = 0
            while left[level] >> child & 1 == 0:
                child += 1
            left[level] ^= 1 << child
            size = 1 << (DEPTH - level - 1)
            for axis in range(3):
                corner[level + 1, axis] = corner[level, axis] + (child >> axis & 1) * size
            level += 1
        left[level] = children[n]
        if children[n] != 0:
            continue
        size = 1 << (DEPTH - level)
        for k in range(size**3):
            voxels[count, 0] = corner[level, 0] + k % size - HALF
            voxels[count, 1] = corner[level, 1] + k // size % size - HALF
            voxels[count, 2] = corner[level, 2] + k // size**2 - HALF
            found[count] = values[n]
            count += 1
        level -= 1
