"""Compiled loops over the arrays of the signed distance field."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from lodestar.mapping.voxels.blocks import CELLS, SIDE, give_back, obtain
from lodestar.mapping.voxels.submaps import MOVED, moved_voxels
from lodestar.mapping.voxels.voxel_kernels import cell as cell_of

SCALE = 32767.0  # stored value of a distance of +1 truncation
FREE_SPACE = 0.9 * SCALE  # stored distance from which a voxel is free space without an adjacent surface


@njit(cache=True, nogil=True, error_model="numpy")
def touch(table, coords, free, state, depth, camera, rotation, offset, near, far, truncation, block, stride):
    """Create the blocks within the truncation distance of measured points."""
    fx, fy, cx, cy = camera
    rows, columns = depth.shape
    # last block per step: adjacent pixels mostly lie in the same block
    last = np.full((3, 3), 1 << 40, np.int64)
    for row in range(stride // 2, rows, stride):
        b = (row - cy) / fy
        for column in range(stride // 2, columns, stride):
            z = depth[row, column]
            if not (z >= near and z <= far):  # false for NaN
                continue
            a = (column - cx) / fx
            dx = (rotation[0, 0] * a + rotation[0, 1] * b + rotation[0, 2]) / block
            dy = (rotation[1, 0] * a + rotation[1, 1] * b + rotation[1, 2]) / block
            dz = (rotation[2, 0] * a + rotation[2, 1] * b + rotation[2, 2]) / block
            for step in range(3):
                t = z + (step - 1) * truncation
                x = math.floor(dx * t + offset[0] / block)
                y = math.floor(dy * t + offset[1] / block)
                w = math.floor(dz * t + offset[2] / block)
                if x == last[step, 0] and y == last[step, 1] and w == last[step, 2]:
                    continue
                last[step, 0], last[step, 1], last[step, 2] = x, y, w
                obtain(table, coords, free, state, x, y, w)


@njit(cache=True, nogil=True, inline="always")
def _is_clear(depth, row, column, spread, bound):
    """Return whether all depth around a pixel is larger than `bound`."""
    rows, columns = depth.shape
    if row < spread or column < spread or row + spread >= rows or column + spread >= columns:
        return False
    for down in (-spread, spread):
        for right in (-spread, spread):
            if not depth[row + down, column + right] > bound:
                return False
    return True


@njit(cache=True, nogil=True, inline="always")
def _has_surface(distance, weight):
    """Return whether any voxel of a block is nearer to a surface than FREE_SPACE."""
    for cell in range(CELLS):  # noqa: SIM110 - compiled, where any() takes no generator
        if weight[cell] > 0 and distance[cell] < FREE_SPACE:
            return True
    return False


@njit(cache=True, nogil=True)
def _lattice(rotation, size):
    """Return (3, 512) float32: offsets of a block's cells from its first one, in the camera's axes."""
    lattice = np.empty((3, CELLS), np.float32)
    for cell in range(CELLS):
        i, j, k = cell // (SIDE * SIDE), cell // SIDE % SIDE, cell % SIDE
        for a in range(3):
            lattice[a, cell] = (rotation[a, 0] * i + rotation[a, 1] * j + rotation[a, 2] * k) * size
    return lattice


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _project(first, lattice, lens, rows, columns, near, far, depths, pixels):
    """Write the depth of each cell of a block, and its pixel in the flat image, -1 = outside."""
    x0, y0, z0 = first
    fx, fy, cx, cy = lens
    zero, one, wide, high = np.float32(0.0), np.float32(1.0), np.float32(columns), np.float32(rows)
    for cell in range(CELLS):
        z = z0 + lattice[2, cell]
        scale = one / z
        u = (x0 + lattice[0, cell]) * scale * fx + cx
        v = (y0 + lattice[1, cell]) * scale * fy + cy
        good = (z >= near) & (z <= far) & (u >= zero) & (u < wide) & (v >= zero) & (v < high)
        column, row = np.int32(u if good else zero), np.int32(v if good else zero)
        depths[cell] = z
        pixels[cell] = row * np.int32(columns) + column if good else np.int32(-1)


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _measure(image, distance, weight, pixels, depths, near, far, truncation, gaps, acts):
    """Choose the action per cell; return the number of cells with an action, and of those with action 2.

    Actions, written to `acts`: 0 = none, 1 = average the measured gap, 2 = test whether a surface there was
    seen empty. gaps: written, metres from the cell to the measured depth, at most `truncation`.
    """
    touched, doubtful = 0, 0
    free = np.int16(FREE_SPACE)
    for cell in range(CELLS):
        measured = image[pixels[cell]] if pixels[cell] >= 0 else np.float32(0.0)
        z = depths[cell]
        gap = measured - z
        seen = (measured >= near) & (gap >= -truncation)
        seen &= (measured <= far) | ((z <= far) & (gap >= truncation))
        clear = seen & (gap >= truncation) & (weight[cell] > 0) & (distance[cell] < free)
        gaps[cell] = min(gap, truncation)
        acts[cell] = np.uint8(2) if clear else np.uint8(seen)
        touched += seen
        doubtful += clear
    return touched, doubtful


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _average(distance, weight, gaps, acts, scale, top):
    """Update the running means of distance for the cells whose action (see `_measure`) is 1."""
    one, half = np.float32(1.0), np.float32(0.5)
    for cell in range(CELLS):
        count = np.float32(weight[cell])
        mean = (np.float32(distance[cell]) * count + gaps[cell] * scale) / (count + one)
        taken = acts[cell] == 1
        distance[cell] = np.int16(math.floor(mean + half)) if taken else distance[cell]
        weight[cell] = np.uint8(min(weight[cell] + 1, top)) if taken else weight[cell]


@njit(cache=True, nogil=True, inline="always")
def _paint(color, weight, rgb, pixels, gaps, acts, truncation):
    """Update the running means of the colours of cells near the surface with action 1 (see `_measure`).

    It must be called before the weights of the cells grow.
    """
    columns = rgb.shape[1]
    for cell in range(CELLS):
        if acts[cell] != 1 or gaps[cell] >= truncation:
            continue
        row, column = pixels[cell] // columns, pixels[cell] % columns
        blank = color[cell, 0] == 0 and color[cell, 1] == 0 and color[cell, 2] == 0
        known = 0 if blank else np.int64(weight[cell])  # the cell may have been free space before
        for channel in range(3):
            mean = (np.float64(color[cell, channel]) * known + rgb[row, column, channel]) / (known + 1)
            color[cell, channel] = np.uint8(mean + 0.5)


@njit(cache=True, nogil=True, error_model="numpy")
def integrate(places, coords, distance, weight, color, depth, rgb, camera, rotation, offset, size, near, far,
               truncation, top, margins, empty):  # fmt: skip
    """Fuse the depth image into the blocks `places`; return the number of blocks without a surface.

    Their pool indices are written to `empty`.
    """
    fx, fy, cx, cy = camera
    rows, columns = depth.shape
    colored = rgb.shape[0] == rows
    image = depth.reshape(-1)
    lattice = _lattice(rotation, size)
    lens = np.float32(fx), np.float32(fy), np.float32(cx + 0.5), np.float32(cy + 0.5)
    nearest, end = np.float32(near), np.float32(far + truncation)
    short, scale = np.float32(truncation), np.float32(SCALE / truncation)
    depths, pixels = np.empty(CELLS, np.float32), np.empty(CELLS, np.int32)
    gaps, acts = np.empty(CELLS, np.float32), np.empty(CELLS, np.uint8)
    found = 0
    for number, index in enumerate(places):
        x, y = (coords[number, 0] * SIDE + 0.5) * size, (coords[number, 1] * SIDE + 0.5) * size
        z = (coords[number, 2] * SIDE + 0.5) * size
        first = (
            np.float32(rotation[0, 0] * x + rotation[0, 1] * y + rotation[0, 2] * z + offset[0]),
            np.float32(rotation[1, 0] * x + rotation[1, 1] * y + rotation[1, 2] * z + offset[1]),
            np.float32(rotation[2, 0] * x + rotation[2, 1] * y + rotation[2, 2] * z + offset[2]),
        )
        _project(first, lattice, lens, rows, columns, nearest, end, depths, pixels)
        touched, doubtful = _measure(
            image, distance[index], weight[index], pixels, depths, nearest, np.float32(far), short, gaps, acts
        )
        if touched:
            if colored:
                _paint(color[index], weight[index], rgb, pixels, gaps, acts, short)
            _average(distance[index], weight[index], gaps, acts, scale, top)
        for cell in range(CELLS if doubtful else 0):
            if acts[cell] != 2:
                continue
            c, pixel = depths[cell], pixels[cell]
            spread = min(int(0.5 * size * fx / c) + 1, 12)
            if _is_clear(depth, pixel // columns, pixel % columns, spread, c + margins[0] + margins[1] * c):
                half = np.int64(weight[index, cell]) >> 1
                count = half if half > 1 else np.int64(1)
                mean = (np.float64(distance[index, cell]) * count + SCALE) / (count + 1)
                distance[index, cell] = np.int16(math.floor(mean + 0.5))
                weight[index, cell] = min(count + 1, top)
        if not _has_surface(distance[index], weight[index]):
            empty[found] = index
            found += 1
    return found


@njit(cache=True, nogil=True)
def clear(distance, weight, color, places):
    for index in places:
        weight[index] = 0
        distance[index] = 0
        if color[index].any():  # memory of a volume without colour was never committed
            color[index] = 0


@njit(cache=True, nogil=True)
def release(table, coords, free, state, places):
    for index in places:
        give_back(table, coords, free, state, index)


@njit(cache=True, nogil=True)
def add_moved(table, coords, free, state, distance, weight, color, tags, sources, moves, nodes, source_distance,
              source_weight, source_color, first, before, size):  # fmt: skip
    """Write the voxels of moved blocks to the nearest new voxels.

    If several meet, the one of the largest weight wins. The blocks at sources (S, 3) move by `moves` (S, 4,
    4). nodes: (S,) int32, tags of the blocks; a target block gets the smallest tag of its sources. The
    blocks' contents are the rows of the source arrays from `first` on, minus the rows `before` (S,), -1 =
    none.
    """
    found = np.empty((MOVED, 4), np.int64)
    for s in range(len(sources)):
        row, base = first + s, before[s]
        last_x, last_y, last_z, block = 1 << 40, 0, 0, np.int64(-1)
        for n in range(moved_voxels(sources[s], moves[s], size, found)):
            x, y, z, at = found[n, 0], found[n, 1], found[n, 2], found[n, 3]
            if source_weight[row, at] == 0:
                continue
            count, value = int(source_weight[row, at]), float(source_distance[row, at])
            if base >= 0 and source_weight[base, at] > 0:
                less = int(source_weight[base, at])
                if count <= less:
                    continue
                value = (value * count - float(source_distance[base, at]) * less) / (count - less)
                count, value = count - less, min(max(value, -SCALE), SCALE)
            if x >> 3 != last_x or y >> 3 != last_y or z >> 3 != last_z:
                last_x, last_y, last_z = x >> 3, y >> 3, z >> 3
                block = np.int64(obtain(table, coords, free, state, last_x, last_y, last_z))
                if block >= 0 and (tags[block] == 0 or nodes[s] < tags[block]):
                    tags[block] = nodes[s]
            if block < 0:
                continue
            inner = cell_of(x, y, z)
            if count >= weight[block, inner]:
                weight[block, inner] = np.uint8(count)
                distance[block, inner] = np.int16(value)
                color[block, inner] = source_color[row, at]


@njit(cache=True, nogil=True)
def blend(distance, weight, color, other_distance, other_weight, other_color, top):
    """Replace distances (B, 512) and colours (B, 512, 3) by their weighted means with `other`.

    The weights are added, up to `top`.
    """
    for block in range(len(distance)):
        for cell in range(CELLS):
            own, more = np.int64(weight[block, cell]), np.int64(other_weight[block, cell])
            if more == 0:
                continue
            total = own + more
            mean = np.int64(distance[block, cell]) * own + np.int64(other_distance[block, cell]) * more
            distance[block, cell] = np.int16(math.floor(mean / total + 0.5))
            weight[block, cell] = np.uint8(min(total, top))
            here, there = color[block, cell].any(), other_color[block, cell].any()
            for channel in range(3 if there else 0):
                shade = np.int64(other_color[block, cell, channel])
                if here:
                    shade = (np.int64(color[block, cell, channel]) * own + shade * more + total // 2) // total
                color[block, cell, channel] = np.uint8(shade)
