"""Appearance of segments as unit vectors: interface of describers, and one by colour and texture."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Protocol

import cv2
import numpy as np
from numba import njit

from lodestar.perception.frames import SegmentedFrame

HISTOGRAM_TEXTURE = 0.25  # share of the edges in the vector of a segment, 0..1; chosen
# gradient (sum of Sobel's weights, of 8-bit values) at which a pixel counts half as an edge; chosen
HISTOGRAM_EDGE = 60.0

_HUES, _TONES, _GRAYS, _TURNS = 12, 2, 8, 8
#: Number of bins: colours by hue and value, grays by value, directions of edges, and pixels without an edge.
DIMENSION = _HUES * _TONES + _GRAYS + _TURNS + 1
_COLORS = _HUES * _TONES + _GRAYS


class Describer(Protocol):
    """Interface of a model that turns each segment's appearance into a vector (its feature)."""

    model: str  # name of the model; vectors of different models cannot be compared

    def describe(self, rgb: np.ndarray, frame: SegmentedFrame) -> SegmentedFrame:
        """Return the frame with a feature for each detection that the model can describe.

        rgb: (H, W, 3) uint8, the image of the segments; raises ValueError for an image of another size.
        """


class HistogramDescriber:
    """Describes each mask by histograms of its colours and edge directions, with soft bins.

    The square root of each share makes the cosine of two vectors the Bhattacharyya coefficient of their histograms.
    Pixels next to another segment mix two surfaces and are left out, unless a mask has no others.
    """

    model = "histogram-1"

    def describe(self, rgb: np.ndarray, frame: SegmentedFrame) -> SegmentedFrame:
        """Return the frame with a feature (DIMENSION,) per detection; see `Describer`."""
        check_image(rgb, frame)
        if not frame.detections:
            return frame
        rows = np.full(1 + max(int(frame.labels.max()), *(d.label_value for d in frame.detections)), -1)
        rows[[d.label_value for d in frame.detections]] = np.arange(len(frame.detections))
        rgb = np.ascontiguousarray(rgb)
        gray = cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY)
        slopes = [cv2.Sobel(gray, cv2.CV_16S, *order) for order in ((1, 0), (0, 1))]
        sums = np.zeros((2, len(frame.detections), DIMENSION), np.float32)
        hsv = cv2.cvtColor(rgb, cv2.COLOR_RGB2HSV)
        labels = np.ascontiguousarray(frame.labels)
        _collect(labels, rows, hsv, slopes[0], slopes[1], HISTOGRAM_EDGE, sums)
        inner, outer = sums
        inner[~inner.any(axis=1)] = outer[~inner.any(axis=1)]
        found = tuple(
            replace(d, feature=vector, feature_model=self.model) if vector is not None else d
            for d, vector in zip(frame.detections, _unit_rows(inner))
        )
        return replace(frame, detections=found)


def check_image(rgb: np.ndarray, frame: SegmentedFrame) -> None:
    """Raise ValueError if the image has another size or type than the image of the segments."""
    if rgb.dtype != np.uint8 or rgb.shape != (*frame.labels.shape, 3):
        raise ValueError(
            f"the image of the segments must be {(*frame.labels.shape, 3)} uint8, not {rgb.shape} {rgb.dtype}"
        )


def _unit_rows(sums: np.ndarray) -> list[np.ndarray | None]:
    """Return the histograms as unit vectors, None for an empty one."""
    found: list[np.ndarray | None] = []
    for row in sums:
        colors, edges = row[:_COLORS], row[_COLORS:]
        if colors.sum() <= 0.0:
            found.append(None)
            continue
        parts = (1 - HISTOGRAM_TEXTURE) * colors / colors.sum(), HISTOGRAM_TEXTURE * edges / edges.sum()
        vector = np.sqrt(np.concatenate(parts))
        found.append((vector / np.linalg.norm(vector)).astype(np.float32))
    return found


@njit(cache=True, nogil=True)
def _collect(labels, rows, hsv, slope_x, slope_y, edge, sums):
    """Add each pixel to the histograms of its segment.

    sums[0] collects inner pixels, sums[1] pixels next to another segment.
    """
    height, width = labels.shape
    for y in range(height):
        for x in range(width):
            value = labels[y, x]
            if value == 0 or rows[value] < 0:
                continue
            inner = 0 < y < height - 1 and 0 < x < width - 1
            if inner:
                inner = (
                    labels[y - 1, x] == value and labels[y + 1, x] == value
                    and labels[y, x - 1] == value and labels[y, x + 1] == value
                )  # fmt: skip
            out = sums[0 if inner else 1, rows[value]]
            saturation = hsv[y, x, 1] / 255.0
            brightness = hsv[y, x, 2] / 255.0
            colored = min(1.0, saturation * brightness * 2.0)  # a dark or pale pixel has no reliable hue
            hue = hsv[y, x, 0] / 180.0 * _HUES
            first = int(hue)
            part = hue - first
            tone = brightness * (_TONES - 1)
            low = min(int(tone), _TONES - 2)
            bright = tone - low
            for side in range(2):
                share = colored * (part if side else 1.0 - part)
                place = (first + side) % _HUES * _TONES + low
                out[place] += share * (1.0 - bright)
                out[place + 1] += share * bright
            level = brightness * (_GRAYS - 1)
            low = min(int(level), _GRAYS - 2)
            out[_HUES * _TONES + low] += (1.0 - colored) * (low + 1 - level)
            out[_HUES * _TONES + low + 1] += (1.0 - colored) * (level - low)
            dx, dy = float(slope_x[y, x]), float(slope_y[y, x])
            strength = math.sqrt(dx * dx + dy * dy)
            weight = strength / (strength + edge)
            turn = math.atan2(dy, dx) / math.pi % 1.0 * _TURNS
            first = int(turn) % _TURNS
            part = turn - int(turn)
            out[_COLORS + first] += weight * (1.0 - part)
            out[_COLORS + (first + 1) % _TURNS] += weight * part
            out[_COLORS + _TURNS] += 1.0 - weight
