"""Compiled ray casting from viewpoints: visible range, unseen area, views over furniture, and candidate viewpoints of
frontier pieces.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from lodestar.grid.visibility import least_in_sight, ray_buffers, ray_cells, sight_directions

# m, edges of the distances, and with 64 directions of 0.1 radians the viewpoints from which a view is another trial.
# Chosen: more than twice the correlation length that was measured (docs/measurements/detector-noise.md), 0.04 radians
# or of the logarithm of the distance
VIEW_EDGES = np.array([0.7, 1.0, 1.25, 1.5, 2.0, 2.5, 3.2])


@njit(cache=True)
def ray_over(cells, occupied_from, owner, u0, v0, du, dv, reach, flat, entered, more, further):
    """Trace a ray as `ray_cells` does, and continue it over the known furniture that it hits. Return the
    number of cells, and the index of the cell that ended the ray (equal to the number if none did).
    """
    n = ray_cells(cells, occupied_from, u0, v0, du, dv, reach, flat, entered)
    values, owners = cells.ravel(), owner.ravel()
    if n == 0 or entered[n - 1] == 0.0 or values[flat[n - 1]] < occupied_from:
        return n, n
    solid, who = n - 1, owners[flat[n - 1]]
    while who >= 0 and entered[n - 1] < reach:
        at = entered[n - 1] + 1e-6
        found = ray_cells(cells, occupied_from, u0 + du * at, v0 + dv * at, du, dv, reach - at, more, further)
        before = n
        for k in range(1, found):
            if owners[more[k]] != who or values[more[k]] < occupied_from or n == len(flat):
                return n, solid
            flat[n], entered[n] = more[k], at + further[k]
            n += 1
        if n == before:
            break
    return n, solid


@njit(cache=True)
def _directions(angles):
    """Return the cosines and sines, (N,) float64 each, of angles (N,), shared by the rays of all places."""
    return np.cos(angles), np.sin(angles)


@njit(cache=True)
def view_code(angle, distance):
    """Return the number of the distance, metres, in VIEW_EDGES, and of the direction, radians, of a view (0 to 63)."""
    side = math.floor(angle / (2.0 * math.pi) * 64.0) % 64
    return np.searchsorted(VIEW_EDGES, distance), side


@njit(cache=True)
def view_of(cell, columns, u0, v0, resolution):
    """Return `view_code` of the view of a cell's centre by a robot at (u0, v0), cells."""
    du, dv = cell % columns + 0.5 - u0, cell // columns + 0.5 - v0
    return view_code(math.atan2(dv, du), math.hypot(du, dv) * resolution)


@njit(cache=True)
def is_new_view(sides, cell, away, side):
    """Return whether no view (`view_code`) of the cell in `sides`, (cells, distances) uint64 with a bit for every
    direction, was like this one.
    """
    return (sides[cell, away] >> np.uint64(side)) & np.uint64(1) == 0


@njit(cache=True)
def _shows(sides, cell, columns, u0, v0, resolution):
    """Return whether a robot at (u0, v0), cells, will have a new view of a cell.

    A cell that was not seen well enough counts unless a view was just like it. Of any other cell no view may have been
    next to it either, as the camera stands before the robot, and the robot will stand about there. sides: as for
    `is_new_view`, and last whether the cell was not seen; empty = every view is new.
    """
    if len(sides) == 0:
        return True
    away, side = view_of(cell, columns, u0, v0, resolution)
    seen, one = sides[cell, away], np.uint64(1)
    if sides[cell, len(VIEW_EDGES) + 1]:
        return (seen >> np.uint64(side)) & one == 0
    if away > 0:
        seen |= sides[cell, away - 1]
    if away < len(VIEW_EDGES):
        seen |= sides[cell, away + 1]
    before, after = np.uint64((side + 63) % 64), np.uint64((side + 1) % 64)
    return (seen >> before | seen >> np.uint64(side) | seen >> after) & one == 0


@njit(cache=True)
def new_views(sides, u0, v0, resolution):
    """Return (rows, columns) bool: the cells of which a robot at (u0, v0), cells, will have a new view."""
    rows, columns = sides.shape[:2]
    flat, new = sides.reshape(-1, sides.shape[2]), np.empty((rows, columns), np.bool_)
    for row in range(rows):
        for column in range(columns):
            new[row, column] = _shows(flat, row * columns + column, columns, u0, v0, resolution)
    return new


@njit(cache=True)
def sector_gains(cells, occupied_from, worth, closest, owner, starts, reach, depth, sectors, rays, sides, edges,
                 factors, resolution):  # fmt: skip
    """Return (N, sectors) area in view of each start, in cells, times what a view is worth, (rows, columns) float32,
    and the factor of its distance, as in `view_sums`; a ray ends `depth` into unknown space.
    """
    views_of = sides.reshape(-1, sides.shape[2])
    flat, entered = ray_buffers(reach)
    more, further = ray_buffers(reach)
    values, worths, needed = cells.ravel(), worth.ravel(), closest.ravel()
    gains = np.zeros((len(starts), sectors))
    width = 2.0 * math.pi / (sectors * rays)
    cosines, sines = _directions(width * (np.arange(sectors * rays) + 0.5))
    for i in range(len(starts)):
        u0, v0 = starts[i]
        for ray in range(sectors * rays):
            du, dv = cosines[ray], sines[ray]
            n, _ = ray_over(cells, occupied_from, owner, u0, v0, du, dv, reach, flat, entered, more, further)
            inside = 0.0
            area = 0.0
            for k in range(1, n):
                left = entered[k + 1] if k + 1 < n else reach
                if k + 1 == n and values[flat[k]] >= occupied_from:
                    left = min(entered[k] + 1.0, reach)
                if (
                    worths[flat[k]] > 0.0
                    and entered[k] >= needed[flat[k]]
                    and _shows(views_of, flat[k], cells.shape[1], u0, v0, resolution)
                ):
                    factor = worths[flat[k]] * factors[np.searchsorted(edges, entered[k])]
                    area += factor * (left * left - entered[k] * entered[k]) / 2.0
                if values[flat[k]] < 0:
                    inside += left - entered[k]
                    if inside > depth:
                        break
            gains[i, ray // rays] += area * width
    return gains


@njit(cache=True)
def _mark(cells, occupied_from, index, closest, owner, start, in_view, reach, depth, cosines, sines, buffers, own,
          mark, new, far, sides, resolution):  # fmt: skip
    """Set `own` (count,) to `mark` at the numbers (`index` >= 0) of the cells that one start sees in its sectors
    `in_view` (sectors,). Return the number of newly marked ones, which are new[:n], at the distances far[:n], cells.

    sides: (cells, distances), see `is_new_view`; a view that is not new marks nothing. Empty = every view does.

    Rays are traced here as in `ray_cells`, and only as far as they show something. Parts over known furniture are
    left to `ray_over`.
    """
    flat, entered, more, further = buffers
    values, numbers, needed, owners = cells.ravel(), index.ravel(), closest.ravel(), owner.ravel()
    rows, columns = cells.shape
    rays = len(cosines) // len(in_view)
    u0, v0 = start
    count = 0
    for ray in range(len(cosines)):
        if not in_view[ray // rays]:
            continue
        du, dv = cosines[ray], sines[ray]
        column, row = math.floor(u0), math.floor(v0)
        step_u, step_v = (1 if du > 0 else -1), (1 if dv > 0 else -1)
        next_u = ((column + (du > 0)) - u0) / du if abs(du) > 1e-12 else math.inf
        next_v = ((row + (dv > 0)) - v0) / dv if abs(dv) > 1e-12 else math.inf
        gap_u = abs(1.0 / du) if abs(du) > 1e-12 else math.inf
        gap_v = abs(1.0 / dv) if abs(dv) > 1e-12 else math.inf
        travelled, inside, begun, goes_over = 0.0, 0.0, False, False
        while travelled < reach:
            ahead = min(next_u, next_v)
            if 0 <= row < rows and 0 <= column < columns:
                begun = True
                at = row * columns + column
                value = values[at]
                if travelled > 0.0 and value >= occupied_from and owners[at] >= 0:
                    goes_over = True
                    break
                number = numbers[at]
                if (
                    number >= 0
                    and own[number] != mark
                    and travelled >= needed[at]
                    and _shows(sides, at, columns, u0, v0, resolution)
                ):
                    own[number], new[count], far[count] = mark, number, travelled
                    count += 1
                if travelled > 0.0 and value >= occupied_from:
                    break
                if value < 0:
                    inside += ahead - travelled
                    if inside > depth:
                        break
            elif begun:
                break  # a ray cannot re-enter the grid
            travelled = ahead
            if next_u < next_v:
                column += step_u
                next_u += gap_u
            else:
                row += step_v
                next_v += gap_v
        if not goes_over:
            continue
        n, _ = ray_over(cells, occupied_from, owner, u0, v0, du, dv, reach, flat, entered, more, further)
        inside = 0.0
        for k in range(n):
            number = numbers[flat[k]]
            if (
                number >= 0
                and own[number] != mark
                and entered[k] >= needed[flat[k]]
                and _shows(sides, flat[k], columns, u0, v0, resolution)
            ):
                own[number], new[count], far[count] = mark, number, entered[k]
                count += 1
            if values[flat[k]] < 0 and k + 1 < n:
                inside += entered[k + 1] - entered[k]
                if inside > depth:
                    break
    return count


@njit(cache=True)
def views(cells, occupied_from, index, closest, owner, starts, in_view, reach, depth, count, rays):
    """Return (N, count) bool: the numbered cells (`index` >= 0) that each start sees in its sectors `in_view`."""
    sectors = in_view.shape[1]
    cosines, sines = _directions(2.0 * math.pi * (np.arange(sectors * rays) + 0.5) / (sectors * rays))
    buffers = ray_buffers(reach) + ray_buffers(reach)
    own, new, far = np.zeros(count, np.int32), np.empty(count, np.int64), np.empty(count)
    none = np.empty((0, 1), np.uint64)
    seen = np.zeros((len(starts), count), np.bool_)
    for i in range(len(starts)):
        found = _mark(
            cells, occupied_from, index, closest, owner, starts[i], in_view[i], reach, depth, cosines, sines, buffers,
            own, i + 1, new, far, none, 1.0,
        )  # fmt: skip
        for k in range(found):
            seen[i, new[k]] = True
    return seen


@njit(cache=True)
def view_sums(cells, occupied_from, index, closest, owner, starts, in_view, reach, depth, weights, rays, sides,
              edges, factors, resolution):  # fmt: skip
    """Return (N, W) float64: for each of N starts the sums of the W weights, (count, W), of the numbered
    cells in view, each times the factor of its distance.

    sides: (rows, columns, distances), see `_mark`. edges: (bins,) upper edges of distance, cells. factors: (bins,).
    """
    views_of = sides.reshape(-1, sides.shape[2])
    sectors = in_view.shape[1]
    cosines, sines = _directions(2.0 * math.pi * (np.arange(sectors * rays) + 0.5) / (sectors * rays))
    buffers = ray_buffers(reach) + ray_buffers(reach)
    own, new = np.zeros(len(weights), np.int32), np.empty(len(weights), np.int64)
    far = np.empty(len(weights))
    sums = np.zeros((len(starts), weights.shape[1]))
    for i in range(len(starts)):
        count = _mark(
            cells, occupied_from, index, closest, owner, starts[i], in_view[i], reach, depth, cosines, sines, buffers,
            own, i + 1, new, far, views_of, resolution,
        )  # fmt: skip
        for k in range(count):
            factor = factors[np.searchsorted(edges, far[k])]
            for w in range(weights.shape[1]):
                sums[i, w] += factor * weights[new[k], w]
    return sums


@njit(cache=True)
def _picks(usable, lengths, row, column, reach):
    """Return flat indices of two usable cells in the square of half side `reach` cells around a cell: the closest
    one, and the one with the least length; -1 = there is none.
    """
    rows, columns = usable.shape
    nearest, quickest, away, least = -1, -1, 0, np.inf
    for r in range(max(row - reach, 0), min(row + reach + 1, rows)):
        for c in range(max(column - reach, 0), min(column + reach + 1, columns)):
            if usable[r, c]:
                off = (r - row) * (r - row) + (c - column) * (c - column)
                if nearest < 0 or off < away:
                    nearest, away = r * columns + c, off
                if quickest < 0 or lengths[r, c] < least:
                    quickest, least = r * columns + c, lengths[r, c]
    return nearest, quickest


@njit(cache=True)
def piece_candidates(cells, occupied_from, roomy, narrow, lengths, middles, standoff, glance):
    """Return flat indices (K, 3) of the candidate cells from which to look at K frontier pieces with these
    middles (K, 2); -1 = there is none. A cell without room to turn is used only if no other is within the
    standoff.
    """
    found = np.full((len(middles), 3), -1, np.int64)
    cosines, sines = sight_directions(glance)
    for k in range(len(middles)):
        row, column = middles[k]
        found[k, :2] = _picks(roomy, lengths, row, column, standoff)
        if found[k, 0] < 0:
            found[k, :2] = _picks(narrow, lengths, row, column, standoff)
        found[k, 2] = least_in_sight(
            cells, occupied_from, lengths, roomy, row, column, glance, cosines, sines
        )
    return found
