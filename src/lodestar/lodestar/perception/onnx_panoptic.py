"""Decoder of Panoptic-DeepLab's outputs: a class for each pixel, and the centre of its object."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numba import njit

from lodestar.perception.found_things import Boxes
from lodestar.perception.onnx_input import InputForm

_MOST = 100  # most centres per image, the highest; chosen
_PEAK = 0.1  # least height of a centre, in [0, 1]; Panoptic-DeepLab's
# cells, standard deviation of the blur of the centre heat map, so that a plateau has one peak; chosen
_BLUR = 1.5
_APART = 7  # cells, window in which a centre must be the highest; chosen
_SURE = 0.4  # mean probability from which an object has an attribute; chosen: 0.9 of those reported are right
# most cells between the place that a pixel points to and the centre that it is assigned to; chosen
_NEAR = 16.0


@dataclass(frozen=True)
class PanopticDeepLab:
    """Decoder of probabilities [1, 1 + classes, h, w], 0 = no object; centres [1, 1, h, w]; offsets [1, 2, h, w]; and,
    if present, probabilities of attributes such as colours [1, attributes, h, w].

    An offset is x, y from a pixel to the centre of its object, in pixels of the input (`size`: height, width). Each
    pixel of an object is assigned to the centre nearest to the place that it points to. An object has the class of
    most of its pixels, and as score their mean probability of that class. Source: Cheng et al. 2020,
    "Panoptic-DeepLab".
    """

    classes: int
    size: tuple[int, int]
    scores: int  # index of the output
    center: int
    offset: int
    attributes: int | None = None
    image = InputForm()
    overlaps = False

    def boxes(self, outputs: Sequence[np.ndarray]) -> Boxes:
        scores, heat, offset = (outputs[index][0] for index in (self.scores, self.center, self.offset))
        rows, columns = heat.shape[1:]
        stride_y, stride_x = self.size[0] / rows, self.size[1] / columns
        peaks = _peaks(heat[0])
        looks = (
            np.zeros((0, rows, columns), np.float32)
            if self.attributes is None
            else outputs[self.attributes][0]
        )
        owner = np.zeros((rows, columns), np.int32)
        votes = np.zeros((len(peaks), self.classes), np.float32)
        words = np.zeros((len(peaks), len(looks)), np.float32)
        # left, top, right, bottom of each object, pixels; and its count
        extent = np.empty((len(peaks), 5), np.int64)
        strides = stride_x, stride_y
        _assign(
            np.ascontiguousarray(scores), offset, looks, peaks, strides, _NEAR, owner, votes, words, extent
        )
        there = np.flatnonzero(extent[:, 4])
        pixels = extent[there, 4]
        kinds = votes[there].argmax(1)
        corners = extent[there, :4] * np.array([stride_x, stride_y] * 2)
        prototypes = np.where(owner == there[:, None, None] + 1, 1.0, -1.0).astype(np.float32)
        word = None
        if self.attributes is not None:
            word = words[there].argmax(1)
            word = np.where(words[there, word] / pixels >= _SURE, word, -1)
        return Boxes(
            corners.astype(np.float32), votes[there, kinds] / pixels, kinds, np.eye(len(there), dtype=np.float32),
            prototypes, word,
        )  # fmt: skip


def _peaks(heat: np.ndarray) -> np.ndarray:
    """Return row and column (N, 2) of the centres, the highest first; a plateau is one centre."""
    heat = np.clip(np.where(np.isfinite(heat), heat, 0.0), 0.0, 1.0).astype(np.float32)
    top = cv2.dilate(heat, np.ones((3, 3), np.uint8))
    heat = cv2.GaussianBlur(heat, (0, 0), _BLUR, borderType=cv2.BORDER_REPLICATE)
    highest = cv2.dilate(heat, np.ones((_APART, _APART), np.uint8))
    rows, columns = np.nonzero((heat == highest) & (top >= _PEAK))
    found = np.stack([rows, columns], 1)[np.argsort(-heat[rows, columns], kind="stable")]
    kept: list[np.ndarray] = []
    for place in found:
        if len(kept) < _MOST and all(np.abs(place - other).max() > _APART // 2 for other in kept):
            kept.append(place)
    return np.array(kept).reshape(-1, 2)


@njit(cache=True)
def _assign(scores, offset, looks, peaks, strides, near, owner, votes, words, extent):
    """Assign each pixel to a centre, and sum up classes, attributes and extent of the pixels per centre.

    owner: set to 1 + the index of the pixel's centre, 0 = none.
    """
    kinds, rows, columns = scores.shape
    extent[:, :2] = 1 << 40
    extent[:, 2:] = 0
    for row in range(rows):
        for column in range(columns):
            if not scores[0, row, column] < 0.5:
                continue
            x = column + offset[0, row, column] / strides[0]
            y = row + offset[1, row, column] / strides[1]
            least, nearest = near * near, -1
            for i in range(peaks.shape[0]):
                away = (peaks[i, 0] - y) ** 2 + (peaks[i, 1] - x) ** 2
                if away < least:
                    least, nearest = away, i
            if nearest < 0:
                continue
            owner[row, column] = nearest + 1
            for k in range(1, kinds):
                votes[nearest, k - 1] += scores[k, row, column]
            for k in range(looks.shape[0]):
                words[nearest, k] += looks[k, row, column]
            extent[nearest, 0] = min(extent[nearest, 0], column)
            extent[nearest, 1] = min(extent[nearest, 1], row)
            extent[nearest, 2] = max(extent[nearest, 2], column + 1)
            extent[nearest, 3] = max(extent[nearest, 3], row + 1)
            extent[nearest, 4] += 1
