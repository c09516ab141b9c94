"""Compiled loops over the arrays of the voxel store."""

from __future__ import annotations

import numpy as np
from numba import njit

from lodestar.mapping.voxels import posterior
from lodestar.mapping.voxels.blocks import CELLS, FREE, LIVE, REFUSED, SIDE, USED, find, give_back, obtain
from lodestar.mapping.voxels.posterior import CANDIDATES

GONE = -1  # owner of an unused pool entry


@njit(cache=True, nogil=True, inline="always")
def cell(x, y, z):
    return ((x & 7) * SIDE + (y & 7)) * SIDE + (z & 7)


@njit(cache=True, nogil=True, inline="always")
def bit(identity):
    """Return the bit of an id in the candidate filter of a block."""
    return np.uint64(1) << np.uint64(((np.int64(identity) * 0x9E3779B1) >> 16) & 63)


@njit(cache=True, nogil=True)
def set_owner(owner, links, heads, i, new):
    """Move voxel i from its owner's linked list to the list of `new`; the owners 0 and GONE have no list."""
    old = owner[i]
    if old == new:
        return
    if old > 0:
        before, after = links[i, 0], links[i, 1]
        if before >= 0:
            links[before, 1] = after
        else:
            heads[old, 0] = after + 1
        if after >= 0:
            links[after, 0] = before
        heads[old, 1] -= 1
    owner[i] = new
    if new > 0:
        first = heads[new, 0] - 1
        links[i, 0], links[i, 1] = -1, first
        if first >= 0:
            links[first, 0] = i
        heads[new, 0] = i + 1
        heads[new, 1] += 1


@njit(cache=True, nogil=True, inline="always")
def widen(spans, identity, x, y, z):
    """Extend an instance's span, its bounding box in blocks, to the block at (x, y, z).

    spans: per instance, lowest block and highest block + 1.
    """
    if identity <= 0:
        return
    span = spans[identity]
    if span[3] == span[0]:
        span[0], span[1], span[2], span[3], span[4], span[5] = x, y, z, x + 1, y + 1, z + 1
        return
    span[0], span[1], span[2] = min(span[0], x), min(span[1], y), min(span[2], z)
    span[3], span[4], span[5] = max(span[3], x + 1), max(span[4], y + 1), max(span[5], z + 1)


@njit(cache=True, nogil=True)
def vote(table, blocks, block_free, block_state, pages, filters, filled, coords, owner, ids, weights, errors, other,
         occupancy, seen, begun, free, state, links, heads, spans, points, voters, weight, gain, top, mark,
         node):  # fmt: skip
    """Add one vote to each voxel; return the pool indices (N,) of the voxels, -1 = the pool is full.

    node: value of `begun` for new voxels.
    """
    found = np.full(len(points), -1, np.int32)
    last_x, last_y, last_z, block = 1 << 40, 0, 0, -1
    spanned, voter = -1, -1
    for n in range(len(points)):
        x, y, z = points[n, 0], points[n, 1], points[n, 2]
        if x >> 3 != last_x or y >> 3 != last_y or z >> 3 != last_z:
            last_x, last_y, last_z = x >> 3, y >> 3, z >> 3
            block = find(table, blocks, last_x, last_y, last_z)
        inner = cell(x, y, z)
        i = pages[block, inner] - 1 if block >= 0 else -1
        if i < 0:
            if state[FREE] == 0 and state[USED] == len(owner):
                state[REFUSED] += 1
                continue
            if block < 0:
                block = obtain(table, blocks, block_free, block_state, last_x, last_y, last_z)
                if block < 0:
                    state[REFUSED] += 1
                    continue
            if state[FREE] > 0:
                state[FREE] -= 1
                i = free[state[FREE]]
            else:
                i = state[USED]
                state[USED] += 1
            state[LIVE] += 1
            filled[block] += 1
            pages[block, inner] = i + 1
            coords[i, 0], coords[i, 1], coords[i, 2] = x, y, z
            posterior.clear(ids, weights, errors, other, i)
            owner[i] = occupancy[i] = seen[i] = 0
            begun[i] = node
        found[n] = i
        if seen[i] == mark:
            continue
        seen[i] = mark
        occupancy[i] = min(occupancy[i] + gain, top)
        if block != spanned or voters[n] != voter:
            spanned, voter = block, voters[n]
            filters[block] |= bit(voter)
            widen(spans, voter, last_x, last_y, last_z)
        set_owner(
            owner, links, heads, i, posterior.add_vote(ids, weights, errors, other, i, voters[n], weight)
        )
    return found


@njit(cache=True, nogil=True)
def places(table, blocks, pages, points):
    """Return the pool indices of the voxels at points (N, 3), -1 = none."""
    result = np.full(len(points), -1, np.int32)
    last_x, last_y, last_z, block = 1 << 40, 0, 0, -1
    for n in range(len(points)):
        x, y, z = points[n, 0], points[n, 1], points[n, 2]
        if x >> 3 != last_x or y >> 3 != last_y or z >> 3 != last_z:
            last_x, last_y, last_z = x >> 3, y >> 3, z >> 3
            block = find(table, blocks, last_x, last_y, last_z)
        if block >= 0:
            result[n] = pages[block, cell(x, y, z)] - 1
    return result


@njit(cache=True, nogil=True)
def look(block_places, pages, coords, owner, ids, weights, errors, other, occupancy, seen, links, heads, mark, size,
          depth, camera, rotation, offset, near, far, margins, labels, masks, against, gain, top, inside, empty,
          hidden, dead):  # fmt: skip
    """Compare the voxels of blocks with the depth image and any labels; return the number of dead voxels.

    A voxel whose surface is visible but lies in no mask gets a background vote with the weight `against` of
    its owner. Voxels are counted per instance: `inside` the image, seen `empty`, and `hidden` behind a
    surface. Voxels that were seen empty and have no occupancy left are listed in `dead`.
    """
    fx, fy, cx, cy = camera
    rows, columns = depth.shape
    labelled = labels.size > 0
    found = 0
    for block in block_places:
        for inner in range(CELLS):
            i = pages[block, inner] - 1
            if i < 0:
                continue
            who = owner[i]
            x, y, z = (coords[i, 0] + 0.5) * size, (coords[i, 1] + 0.5) * size, (coords[i, 2] + 0.5) * size
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
            # no measurement is no evidence of empty space
            if not (middle > 0.0 and middle >= c - margin and middle < np.inf):
                hidden[who] += 1
                continue
            if seen[i] == mark:
                continue
            if middle <= c + margin:
                if labelled and masks[labels[row, column]] < 0 and against[who] > 0:
                    seen[i] = mark
                    occupancy[i] = min(occupancy[i] + gain, top)
                    owns = posterior.add_vote(ids, weights, errors, other, i, 0, against[who])
                    set_owner(owner, links, heads, i, owns)
                continue
            # Empty only if all depth around its outline is farther: thin objects are smaller than a voxel.
            clear = True
            for k in range(4):
                around = depth[row + spread * (1, 1, -1, -1)[k], column + spread * (1, -1, 1, -1)[k]]
                if not (around > c + margin and around < np.inf):
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


@njit(cache=True, nogil=True)
def remove(table, blocks, block_free, block_state, pages, filters, filled, coords, owner, free, state, links, heads,
            places):  # fmt: skip
    for i in places:
        if owner[i] == GONE:
            continue
        block = find(table, blocks, coords[i, 0] >> 3, coords[i, 1] >> 3, coords[i, 2] >> 3)
        set_owner(owner, links, heads, i, GONE)
        pages[block, cell(coords[i, 0], coords[i, 1], coords[i, 2])] = 0
        free[state[FREE]] = i
        state[FREE] += 1
        state[LIVE] -= 1
        filled[block] -= 1
        if filled[block] == 0:
            filters[block] = 0
            give_back(table, blocks, block_free, block_state, block)


@njit(cache=True, nogil=True)
def _rename_in(block, pages, filters, owner, ids, weights, errors, other, links, heads, old, new):
    """Apply `rename` to one block."""
    filters[block] |= bit(new)
    changed = 0
    for inner in range(CELLS):
        i = pages[block, inner] - 1
        if i < 0 or not posterior.move_votes(ids, weights, errors, other, i, old, new):
            continue
        owns = posterior.map_id(ids, weights, errors, other, i)
        if owner[i] != owns:
            changed += 1
        set_owner(owner, links, heads, i, owns)
    return changed


@njit(cache=True, nogil=True)
def rename(table, blocks, used_blocks, pages, filters, filled, owner, ids, weights, errors, other, links, heads, spans,
           old, new):  # fmt: skip
    """Turn all votes for `old` into votes for `new`; return the number of voxels that changed owner.

    The run time depends on the number of blocks in the span of `old`, or on that of all blocks if it is
    smaller.
    """
    changed = 0
    x0, y0, z0, x1, y1, z1 = spans[old]
    if np.int64(x1 - x0) * (y1 - y0) * (z1 - z0) <= used_blocks:
        for x in range(x0, x1):
            for y in range(y0, y1):
                for z in range(z0, z1):
                    block = find(table, blocks, x, y, z)
                    if block >= 0 and filters[block] & bit(old) != 0:
                        changed += _rename_in(
                            block, pages, filters, owner, ids, weights, errors, other, links, heads, old, new
                        )
    else:
        for block in range(used_blocks):
            if filled[block] > 0 and filters[block] & bit(old) != 0:
                changed += _rename_in(
                    block, pages, filters, owner, ids, weights, errors, other, links, heads, old, new
                )
    if x1 > x0:
        widen(spans, new, x0, y0, z0)
        widen(spans, new, x1 - 1, y1 - 1, z1 - 1)
    spans[old] = 0
    return changed


@njit(cache=True, nogil=True)
def reassign(table, blocks, filters, coords, owner, ids, weights, errors, other, links, heads, spans, places, old,
             new):  # fmt: skip
    for i in places:
        if owner[i] == GONE or not posterior.move_votes(ids, weights, errors, other, i, old, new):
            continue
        x, y, z = coords[i, 0] >> 3, coords[i, 1] >> 3, coords[i, 2] >> 3
        filters[find(table, blocks, x, y, z)] |= bit(new)
        widen(spans, new, x, y, z)
        set_owner(owner, links, heads, i, posterior.map_id(ids, weights, errors, other, i))


@njit(cache=True, nogil=True)
def members(links, heads, wanted, start):
    places = np.empty(start[-1], np.int32)
    for row in range(len(wanted)):
        i = heads[wanted[row], 0] - 1 if 0 < wanted[row] < len(heads) else -1
        for n in range(start[row], start[row + 1]):
            places[n] = i
            i = links[i, 1]
    return places


@njit(cache=True, nogil=True)
def read(ids, weights, errors, other, places, prior):
    candidates = np.zeros((len(places), CANDIDATES), np.int32)
    probability = np.zeros((len(places), CANDIDATES), np.float32)
    remaining = np.ones(len(places), np.float32)
    for n in range(len(places)):
        i = places[n]
        if i >= 0:
            remaining[n] = posterior.read(
                ids, weights, errors, other, i, prior, candidates[n], probability[n]
            )
    return candidates, probability, remaining


@njit(cache=True, nogil=True)
def restore(table, blocks, block_free, block_state, pages, filters, filled, coords, owner, ids, weights, errors, other,
            links, heads, spans, count):  # fmt: skip
    """Index the first `count` pool entries; return the number indexed.

    It is smaller if blocks ran out or an entry is a duplicate.
    """
    for i in range(count):
        x, y, z = coords[i, 0] >> 3, coords[i, 1] >> 3, coords[i, 2] >> 3
        block = obtain(table, blocks, block_free, block_state, x, y, z)
        if block < 0:
            return i
        inner = cell(coords[i, 0], coords[i, 1], coords[i, 2])
        if pages[block, inner] != 0:
            return i
        pages[block, inner] = i + 1
        filled[block] += 1
        for k in range(CANDIDATES):
            if weights[i, k] > 0:
                filters[block] |= bit(ids[i, k])
                widen(spans, ids[i, k], x, y, z)
        set_owner(owner, links, heads, i, posterior.map_id(ids, weights, errors, other, i))
    return count


@njit(cache=True, nogil=True)
def relocate(table, blocks, block_free, block_state, pages, filters, filled, coords, owner, ids, weights, errors, other,
             occupancy, begun, free, state, links, heads, spans, places, targets):  # fmt: skip
    """Move the voxels `places` (N,) to coordinates targets (N, 3); they keep their pool indices.

    If two voxels meet, the one with more votes stays. Returns pairs (M, 2) of owners of voxels that met, the
    owner of the remaining voxel first.
    """
    met, count = np.empty((len(places), 2), np.int32), 0
    for i in places:
        block = find(table, blocks, coords[i, 0] >> 3, coords[i, 1] >> 3, coords[i, 2] >> 3)
        pages[block, cell(coords[i, 0], coords[i, 1], coords[i, 2])] = 0
        filled[block] -= 1
        if filled[block] == 0:
            filters[block] = 0
            give_back(table, blocks, block_free, block_state, block)
    for n in range(len(places)):
        i = places[n]
        x, y, z = targets[n, 0], targets[n, 1], targets[n, 2]
        block, inner = obtain(table, blocks, block_free, block_state, x >> 3, y >> 3, z >> 3), cell(x, y, z)
        gone = i
        if block >= 0:
            j = pages[block, inner] - 1
            if j < 0:
                gone = -1
                filled[block] += 1
            else:
                mine, theirs = np.int64(0), np.int64(0)
                for k in range(CANDIDATES):
                    mine, theirs = mine + weights[i, k], theirs + weights[j, k]
                if mine > theirs:
                    gone = j
                kept = i if gone == j else j
                if owner[i] > 0 and owner[j] > 0 and owner[i] != owner[j]:
                    met[count, 0], met[count, 1] = owner[kept], owner[gone]
                    count += 1
                begun[kept] = min(begun[i], begun[j])
                occupancy[kept] = max(occupancy[i], occupancy[j])
        else:
            state[REFUSED] += 1
        if gone != i:
            coords[i, 0], coords[i, 1], coords[i, 2] = x, y, z
            pages[block, inner] = i + 1
            for k in range(CANDIDATES):
                if weights[i, k] > 0:
                    filters[block] |= bit(ids[i, k])
                    widen(spans, ids[i, k], x >> 3, y >> 3, z >> 3)
        if gone >= 0:
            set_owner(owner, links, heads, gone, GONE)
            free[state[FREE]] = gone
            state[FREE] += 1
            state[LIVE] -= 1
    return met[:count]
