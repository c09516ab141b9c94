"""Masks of objects with a known box, from the depth in and around the box.

Planes that continue beside the box (the wall behind, the floor, the table below) are background. The rest is split at
depth jumps; the pieces that lie in the box are the object. Pieces may extend beyond the box by the typical error of
boxes. Measured in `docs/measurements/box-masks.md`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import cv2
import numpy as np
from numba import njit

from lodestar.perception.components import depth_components
from lodestar.perception.found_things import FoundThing
from lodestar.perception.frames import AlignedDepth, ImageBox

# Chosen on rendered views of the apartments and offices 41 and 42 and the warehouse 41:
BOX_MASK_CELLS = 48  # pixels, about, that are sampled along the longer side of a box
# share of the box's sides by which a thing may stick out of it: boxes are wrong by about 10 percent
BOX_MASK_GROW = 0.25
# width of the ring outside this, in which planes are searched, as a share of the box's sides
BOX_MASK_RING = 0.25
BOX_MASK_NEAR = 0.3  # metres, least depth that is used
BOX_MASK_FAR = 8.0  # metres, largest depth that is used: walls behind objects count
BOX_MASK_PLANES = 4  # most planes around a box
BOX_MASK_PLANE_TRIALS = 60  # planes tried for each plane around a box
BOX_MASK_PLANE_SHARE = 0.12  # share of the points around a box that a plane must hold
BOX_MASK_PLANE_GAP = 0.02  # metres from a plane within which points belong to it
BOX_MASK_PLANE_GAP_PER_SQUARE = 0.004  # metres per square metre of squared depth, added to BOX_MASK_PLANE_GAP
BOX_MASK_JUMP = 0.03  # metres, jump of depth that splits two pieces
BOX_MASK_JUMP_PER_METRE = 0.015  # metres per metre of depth, added to BOX_MASK_JUMP
BOX_MASK_MAIN_SHARE = 0.3  # share of a piece in the box below which it is hardly the object
BOX_MASK_PIECE_SHARE = 0.5  # share of another piece in the box from which it belongs to the object
# depth by which a thing's pieces differ at most from the main one, in sizes of its box
BOX_MASK_REACH = 0.8
BOX_MASK_LEAST_REACH = 0.15  # metres by which their depths may differ in any case
# share of a box that its mask must fill; below it the box is the mask, as of a picture on a wall
BOX_MASK_LEAST_SHARE = 0.25

_CENTER = 0.3  # in box sides: spread of the weight that favours the piece in the middle of the box; chosen
_RING = 150  # most points beside a box used to fit planes, evenly thinned; chosen


class BoxMasker:
    """Adds masks to boxes, deterministically. boxes_left: number of boxes that got no mask from depth."""

    def __init__(self) -> None:
        self.boxes_left = 0

    def masked(self, things: Sequence[FoundThing], aligned: AlignedDepth) -> list[FoundThing]:
        """Return the objects; those without a mask get a mask from depth, and its box, if depth shows them.

        Raises ValueError if the depth image has another shape than its camera.
        """
        depth, camera = aligned.depth, aligned.camera
        if depth.shape != (camera.height, camera.width):
            raise ValueError(f"depth has shape {depth.shape}, the camera {(camera.height, camera.width)}")
        focal = min(camera.fx, camera.fy)
        return [thing if thing.mask is not None else self._with_mask(thing, depth, focal) for thing in things]

    def _with_mask(self, thing: FoundThing, depth: np.ndarray, focal: float) -> FoundThing:
        window = _Window(thing.box, depth)
        found = window.thing(focal)
        if found is None:
            self.boxes_left += 1
            return thing
        return window.spread(thing, found)


def with_masks(
    things: list[FoundThing], aligned: AlignedDepth | None, masker: BoxMasker | None
) -> list[FoundThing]:
    """Return the objects with masks from depth if `aligned` and `masker` are given, else unchanged."""
    return things if aligned is None or masker is None else masker.masked(things, aligned)


class _Window:
    """Grid of pixels over a box and the ring around it. All arrays have the grid's shape (h, w)."""

    def __init__(self, box: ImageBox, depth: np.ndarray):
        self._shape = depth.shape
        self.step = max(1, round(max(box.width, box.height) / BOX_MASK_CELLS))
        grown = [max(self.step, int(BOX_MASK_GROW * side)) for side in (box.width, box.height)]
        ring = [
            more + max(self.step, int(BOX_MASK_RING * side))
            for more, side in zip(grown, (box.width, box.height))
        ]
        self.x = np.arange(
            max(0, box.x - ring[0]), min(depth.shape[1], box.x + box.width + ring[0]), self.step
        )
        self.y = np.arange(
            max(0, box.y - ring[1]), min(depth.shape[0], box.y + box.height + ring[1]), self.step
        )
        self.z = np.ascontiguousarray(
            depth[self.y[0] : self.y[-1] + 1 : self.step, self.x[0] : self.x[-1] + 1 : self.step]
        )
        self._box = box
        # in box sides, 0 = middle of the box
        self._u = ((self.x + 0.5 - box.x) / box.width - 0.5).astype(np.float32)
        self._v = ((self.y + 0.5 - box.y) / box.height - 0.5).astype(np.float32)
        self._inside = (np.abs(self._v) <= 0.5)[:, None] & (np.abs(self._u) <= 0.5)[None]
        reach = [0.5 + more / side for more, side in zip(grown, (box.width, box.height))]
        self._near = (np.abs(self._v) <= reach[1])[:, None] & (np.abs(self._u) <= reach[0])[None]
        self._known = (self.z >= BOX_MASK_NEAR) & (self.z <= BOX_MASK_FAR)  # both false for NaN

    def thing(self, focal: float) -> np.ndarray | None:
        """Return the object's pixels (h, w) bool; None if too few pixels differ from the background.

        focal: pixels.
        """
        inside = self._inside
        least = BOX_MASK_LEAST_SHARE * np.count_nonzero(inside)
        free = self._known & self._near & ~self._background()
        if np.count_nonzero(free & inside) < max(least, 1):
            return None
        pieces, counts, shares, weights, depths = self._pieces(free)
        main = int(np.argmax(weights * np.where(shares >= BOX_MASK_MAIN_SHARE, 1.0, 0.3)))
        distance = float(np.median(self.z[(pieces == main) & inside])) if weights[main] else depths[main]
        size = max(self._box.width, self._box.height) / focal * distance
        reach = max(BOX_MASK_LEAST_REACH, BOX_MASK_REACH * size)
        kept = (counts > 0) & (shares >= BOX_MASK_PIECE_SHARE) & (np.abs(depths - distance) <= reach)
        kept[main], kept[0] = True, False
        mask = kept[pieces] & (np.abs(self.z - distance) <= 2.0 * reach)
        if shares[main] < BOX_MASK_PIECE_SHARE:  # the piece extends far beyond the box
            mask &= inside | (pieces != main)
        mask |= self._filled(mask)
        return mask if np.count_nonzero(mask & inside) >= least else None

    def _background(self) -> np.ndarray:
        """Return (h, w) bool: pixels on planes that appear in the ring around the box."""
        inverse = np.where(self._known, 1.0 / np.where(self._known, self.z, 1.0), 0.0).astype(np.float32)
        rows, columns = np.nonzero(self._known & ~self._inside)
        side = np.where(
            np.abs(self._u[columns]) > np.abs(self._v[rows]), self._u[columns] > 0, 2 + (self._v[rows] > 0)
        ).astype(np.int64)
        points = self._u[columns], self._v[rows], inverse[rows, columns], side
        planes = _planes(
            *points,
            BOX_MASK_PLANE_TRIALS,
            BOX_MASK_PLANES,
            BOX_MASK_PLANE_SHARE,
            BOX_MASK_PLANE_GAP,
            BOX_MASK_PLANE_GAP_PER_SQUARE,
        )
        z = np.where(self._known, self.z, np.float32(0.0))
        limit = BOX_MASK_PLANE_GAP + BOX_MASK_PLANE_GAP_PER_SQUARE * z * z
        found = np.zeros(z.shape, bool)
        for a, b, c in planes:
            found |= np.abs(inverse - (a * self._u[None] + b * self._v[:, None] + c)) * z * z <= limit
        return found

    def _pieces(self, free: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return the piece number of each pixel (0 = none), and per piece: pixel count, share inside the box, weight
        near the middle of the box, and mean depth.
        """
        roots = depth_components(free, self.z, BOX_MASK_JUMP, BOX_MASK_JUMP_PER_METRE)
        _, pieces = np.unique(np.where(free, roots + 1, 0), return_inverse=True)
        pieces = pieces.reshape(free.shape) + int(free.all())
        flat, most = pieces.ravel(), int(pieces.max()) + 1
        center = np.exp(-(self._u[None] ** 2 + self._v[:, None] ** 2) / (2.0 * _CENTER**2)) * self._inside
        counts = np.bincount(flat, minlength=most)
        total = np.maximum(counts, 1)
        shares = np.bincount(flat, self._inside.ravel(), most) / total
        weights = np.bincount(flat, center.ravel(), most)
        weights[0] = 0.0
        depths = np.bincount(flat, np.where(free, self.z, 0.0).ravel(), most) / total
        return pieces, counts, shares, weights, depths

    def _filled(self, mask: np.ndarray) -> np.ndarray:
        """Return (h, w) bool: pixels without depth that are enclosed by the object."""
        width = max(3, (min(mask.shape) // 8) | 1)
        things, known = (cv2.blur(part.astype(np.float32), (width, width)) for part in (mask, self._known))
        return ~self._known & self._near & (things > 0.5 * known)

    def spread(self, thing: FoundThing, mask: np.ndarray) -> FoundThing:
        """Return the object with its mask scaled from the grid to image pixels."""
        rows, columns = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
        part = mask[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
        left, top = int(self.x[columns[0]]), int(self.y[rows[0]])
        full = np.repeat(np.repeat(part, self.step, 0), self.step, 1)
        full = full[: self._shape[0] - top, : self._shape[1] - left]
        return replace(thing, box=ImageBox(left, top, full.shape[1], full.shape[0]), mask=full)


@njit(cache=True, nogil=True)
def _planes(u, v, inverse, side, trials, most, share, gap, per_square):
    """Return planes (n, 3) found by RANSAC, each with at least the share `share` of all points.

    A plane is a, b, c in: inverse depth = a u + b v + c. Planes are linear in inverse depth. Only planes with
    at least 30 % of the points on one side of the box are returned.
    """
    planes = np.zeros((most, 3))
    found, left = 0, len(u)
    taken = np.zeros(len(u), np.bool_)
    total = np.bincount(side, minlength=4)
    state = np.uint64(88172645463325252)
    chosen = np.zeros(3, np.int64)
    for _ in range(most + 1):
        if found == most or left < max(12.0, share * len(u)):
            break
        candidates = np.flatnonzero(~taken)
        stride = max(1, len(candidates) // _RING)
        best, a, b, c = 0, 0.0, 0.0, 0.0
        for _ in range(trials):
            for k in range(3):
                state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
                chosen[k] = candidates[int((state >> np.uint64(33)) % np.uint64(len(candidates)))]
            i, j, m = chosen[0], chosen[1], chosen[2]
            u1, v1, q1 = u[j] - u[i], v[j] - v[i], inverse[j] - inverse[i]
            u2, v2, q2 = u[m] - u[i], v[m] - v[i], inverse[m] - inverse[i]
            area = u1 * v2 - v1 * u2
            if abs(area) < 0.02:
                continue
            tried_a, tried_b = (q1 * v2 - v1 * q2) / area, (u1 * q2 - q1 * u2) / area
            tried_c = inverse[i] - tried_a * u[i] - tried_b * v[i]
            count = 0
            for place in range(0, len(candidates), stride):
                p = candidates[place]
                z = 1.0 / inverse[p]
                off = abs(inverse[p] - (tried_a * u[p] + tried_b * v[p] + tried_c)) * z * z
                count += off <= gap + per_square * z * z
            if count > best:
                best, a, b, c = count, tried_a, tried_b, tried_c
        of_side = np.zeros(4)
        for p in candidates:
            z = 1.0 / inverse[p]
            if abs(inverse[p] - (a * u[p] + b * v[p] + c)) * z * z <= gap + per_square * z * z:
                taken[p] = True
                of_side[side[p]] += 1
        count = of_side.sum()
        left -= int(count)
        if count < max(8.0, share * len(u)):
            break
        if np.any((total > 0) & (of_side >= 0.3 * total)):
            planes[found, 0], planes[found, 1], planes[found, 2] = a, b, c
            found += 1
    return planes[:found]
