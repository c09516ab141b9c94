"""Masks of things whose box is known, from the depth in and around the box.

Planes that go on beside the box (the wall behind, the floor, the table below) are background; of the rest, split at
jumps of depth, the pieces that lie in the box are the thing. Pieces may stick out of the box by as much as boxes are
usually wrong. Measured in `docs/measurements/box-masks.md`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import cv2
import numpy as np
from numba import njit

from lodestar.perception.components import depth_components
from lodestar.perception.config import BoxMaskConfig
from lodestar.perception.found_things import FoundThing
from lodestar.perception.frames import AlignedDepth, ImageBox

_CENTER = 0.3  # of a box's sides: spread of the weight that makes the piece in its middle the thing; chosen
_RING = 150  # points beside a box that a plane is tried on: every so many of more; chosen


class BoxMasker:
    """Gives boxes masks; deterministic. `boxes_left` counts those without, because depth showed nothing in them."""

    def __init__(self, config: BoxMaskConfig = BoxMaskConfig()):
        self.config = config
        self.boxes_left = 0

    def masked(self, things: Sequence[FoundThing], aligned: AlignedDepth) -> list[FoundThing]:
        """Return the things, those without a mask with one where depth shows it; the box becomes that of the mask.

        Raises ValueError where the depth image has another shape than its camera.
        """
        depth, camera = aligned.depth, aligned.camera
        if depth.shape != (camera.height, camera.width):
            raise ValueError(f"depth has shape {depth.shape}, the camera {(camera.height, camera.width)}")
        focal = min(camera.fx, camera.fy)
        return [thing if thing.mask is not None else self._with_mask(thing, depth, focal) for thing in things]

    def _with_mask(self, thing: FoundThing, depth: np.ndarray, focal: float) -> FoundThing:
        window = _Window(thing.box, depth, self.config)
        found = window.thing(focal)
        if found is None:
            self.boxes_left += 1
            return thing
        return window.spread(thing, found)


def with_masks(
    things: list[FoundThing], aligned: AlignedDepth | None, masker: BoxMasker | None
) -> list[FoundThing]:
    """Return the things with masks from depth, where there are both; otherwise as they are."""
    return things if aligned is None or masker is None else masker.masked(things, aligned)


class _Window:
    """A grid of pixels over a box and the ring around it. All arrays have its shape (h, w)."""

    def __init__(self, box: ImageBox, depth: np.ndarray, config: BoxMaskConfig):
        self._config, self._shape = config, depth.shape
        self.step = max(1, round(max(box.width, box.height) / config.cells))
        grown = [max(self.step, int(config.grow * side)) for side in (box.width, box.height)]
        ring = [
            more + max(self.step, int(config.ring * side))
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
        self._u = ((self.x + 0.5 - box.x) / box.width - 0.5).astype(
            np.float32
        )  # in sides of the box, 0 = its middle
        self._v = ((self.y + 0.5 - box.y) / box.height - 0.5).astype(np.float32)
        self._inside = (np.abs(self._v) <= 0.5)[:, None] & (np.abs(self._u) <= 0.5)[None]
        reach = [0.5 + more / side for more, side in zip(grown, (box.width, box.height))]
        self._near = (np.abs(self._v) <= reach[1])[:, None] & (np.abs(self._u) <= reach[0])[None]
        self._known = (self.z >= config.near) & (self.z <= config.far)  # NaN is neither

    def thing(self, focal: float) -> np.ndarray | None:
        """Return the pixels (h, w) bool of the thing; None where too few stand out from what is around the box.

        focal: pixels.
        """
        config, inside = self._config, self._inside
        least = config.least_share * np.count_nonzero(inside)
        free = self._known & self._near & ~self._background()
        if np.count_nonzero(free & inside) < max(least, 1):
            return None
        pieces, counts, shares, weights, depths = self._pieces(free)
        main = int(np.argmax(weights * np.where(shares >= config.main_share, 1.0, 0.3)))
        distance = float(np.median(self.z[(pieces == main) & inside])) if weights[main] else depths[main]
        size = max(self._box.width, self._box.height) / focal * distance
        reach = max(config.least_reach, config.reach * size)
        kept = (counts > 0) & (shares >= config.piece_share) & (np.abs(depths - distance) <= reach)
        kept[main], kept[0] = True, False
        mask = kept[pieces] & (np.abs(self.z - distance) <= 2.0 * reach)
        if shares[main] < config.piece_share:  # it goes on far beyond the box
            mask &= inside | (pieces != main)
        mask |= self._filled(mask)
        return mask if np.count_nonzero(mask & inside) >= least else None

    def _background(self) -> np.ndarray:
        """Return the pixels on planes that the ring around the box shows."""
        config = self._config
        inverse = np.where(self._known, 1.0 / np.where(self._known, self.z, 1.0), 0.0).astype(np.float32)
        rows, columns = np.nonzero(self._known & ~self._inside)
        side = np.where(
            np.abs(self._u[columns]) > np.abs(self._v[rows]), self._u[columns] > 0, 2 + (self._v[rows] > 0)
        ).astype(np.int64)
        points = self._u[columns], self._v[rows], inverse[rows, columns], side
        planes = _planes(
            *points,
            config.plane_trials,
            config.planes,
            config.plane_share,
            config.plane_gap,
            config.plane_gap_per_square,
        )
        z = np.where(self._known, self.z, np.float32(0.0))
        limit = config.plane_gap + config.plane_gap_per_square * z * z
        found = np.zeros(z.shape, bool)
        for a, b, c in planes:
            found |= np.abs(inverse - (a * self._u[None] + b * self._v[:, None] + c)) * z * z <= limit
        return found

    def _pieces(self, free: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return the piece of each pixel (0 = none), and of each its pixels, share in the box, weight in its middle and
        mean depth.
        """
        config = self._config
        roots = depth_components(free, self.z, config.jump, config.jump_per_metre)
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
        """Return the pixels without depth among those of the thing."""
        width = max(3, (min(mask.shape) // 8) | 1)
        things, known = (cv2.blur(part.astype(np.float32), (width, width)) for part in (mask, self._known))
        return ~self._known & self._near & (things > 0.5 * known)

    def spread(self, thing: FoundThing, mask: np.ndarray) -> FoundThing:
        """Return the thing with the mask in pixels of the image."""
        rows, columns = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
        part = mask[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
        left, top = int(self.x[columns[0]]), int(self.y[rows[0]])
        full = np.repeat(np.repeat(part, self.step, 0), self.step, 1)
        full = full[: self._shape[0] - top, : self._shape[1] - left]
        return replace(thing, box=ImageBox(left, top, full.shape[1], full.shape[0]), mask=full)


@njit(cache=True, nogil=True)
def _planes(u, v, inverse, side, trials, most, share, gap, per_square):
    """Return planes (n, 3) of points: inverse depth = a u + b v + c, by RANSAC, at least `share` of all points each.

    Planes are straight in inverse depth. A plane counts that holds much of one side of the box.
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
