"""Detector that reads a simulator's label image and adds the errors of a real detector."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np

from lodestar.perception.box_masks import BoxMasker
from lodestar.perception.config import NoiseConfig
from lodestar.perception.found_things import FoundThing
from lodestar.perception.frames import (
    AlignedDepth,
    Detection,
    ImageBox,
    RgbdFrame,
    SegmentedFrame,
    Vocabulary,
)
from lodestar.perception.measured_noise import WIDTH, MissMemory, StrayMemory, measured_noise, place_of
from lodestar.perception.segments import SegmentFilter, filter_segments, label_extents

NOISE_MERGE_GAP_PX = 2  # most pixels between masks that may merge; chosen
NOISE_SCORE_MEAN = 0.85  # mean of the confidence, 0..1; chosen


@dataclass(frozen=True)
class _Mask:
    """Mask of an object: pixels (h, w) bool, their top left corner in the image, and the object's table
    entry.
    """

    top: int
    left: int
    pixels: np.ndarray
    entry: Mapping[str, str]

    def _within(self, top: int, left: int, height: int, width: int) -> np.ndarray:
        """Return the mask's pixels in another window of the image."""
        window = np.zeros((height, width), bool)
        y0, x0 = max(self.top, top), max(self.left, left)
        y1 = min(self.top + self.pixels.shape[0], top + height)
        x1 = min(self.left + self.pixels.shape[1], left + width)
        if y1 > y0 and x1 > x0:
            window[y0 - top : y1 - top, x0 - left : x1 - left] = self.pixels[
                y0 - self.top : y1 - self.top, x0 - self.left : x1 - self.left
            ]
        return window

    def touches(self, other: _Mask, gap: int) -> bool:
        """Return whether less than about `gap` pixels lie between the masks."""
        height, width = self.pixels.shape
        near = other._within(self.top - gap, self.left - gap, height + 2 * gap, width + 2 * gap)
        if not near.any():
            return False
        padded = np.pad(self.pixels, gap).astype(np.uint8)
        grown = cv2.dilate(padded, np.ones((2 * gap + 1, 2 * gap + 1), np.uint8))
        return bool((grown.astype(bool) & near).any())

    def union(self, other: _Mask) -> _Mask:
        """Return the union of both masks with this mask's entry."""
        top, left = min(self.top, other.top), min(self.left, other.left)
        height = max(m.top + m.pixels.shape[0] for m in (self, other)) - top
        width = max(m.left + m.pixels.shape[1] for m in (self, other)) - left
        windows = [m._within(top, left, height, width) for m in (self, other)]
        return _Mask(top, left, windows[0] | windows[1], self.entry)

    def halves(self, angle: float) -> list[_Mask]:
        """Return the two parts of the mask on both sides of a line through its centre.

        angle: of the line's normal, radians.
        """
        rows, columns = np.nonzero(self.pixels)
        y, x = np.ogrid[: self.pixels.shape[0], : self.pixels.shape[1]]
        side = (x - columns.mean()) * np.cos(angle) + (y - rows.mean()) * np.sin(angle) > 0.0
        return [replace(self, pixels=self.pixels & side), replace(self, pixels=self.pixels & ~side)]

    def cut(self, edges: np.ndarray) -> _Mask:
        """Return the mask with its margins cut off.

        edges: (4,) shares of its sides: left, top, right and bottom.
        """
        height, width = self.pixels.shape
        left, top, right, bottom = np.clip(edges, 0.0, 0.45) * [width, height, width, height]
        kept = np.zeros_like(self.pixels)
        inside = slice(round(top), height - round(bottom)), slice(round(left), width - round(right))
        kept[inside] = self.pixels[inside]
        return replace(self, pixels=kept)

    def eroded(self, pixels: int) -> _Mask:
        """Return the mask with `pixels` removed from all its edges, also at the image border."""
        if pixels == 0:
            return self
        padded = np.pad(self.pixels, 1).astype(np.uint8)
        left = cv2.erode(padded, np.ones((3, 3), np.uint8), iterations=pixels)
        return replace(self, pixels=left[1:-1, 1:-1].astype(bool))


class GroundTruthDetector:
    """Makes detections from a simulator's label image and the table of its label values.

    Label values of the input never reach the output: segments are renumbered at random in every frame. All
    randomness comes from `rng`, so the same seed and frames give the same detections.
    """

    name = "ground_truth"
    vocabulary = Vocabulary(is_open=True)  # the simulator's table may contain any name

    def __init__(self, config: NoiseConfig = NoiseConfig(), rng: np.random.Generator | None = None):
        self.config = config
        self._rng = rng if rng is not None else np.random.default_rng(0)
        self._measured = measured_noise(config.measured) if config.measured else None
        self._misses = MissMemory(self._measured, self._rng) if self._measured is not None else None
        self._strays = StrayMemory(self._measured, self._rng) if self._measured is not None else None

    def look_for(self, words: Sequence[str]) -> None:
        """Do nothing: all objects in the table are detected."""

    def segment(
        self,
        stamp: float,
        labels: np.ndarray,
        table: Mapping[int, Mapping[str, str]],
        frame: RgbdFrame | None = None,
    ) -> SegmentedFrame:
        """Return the segments of one frame.

        labels: (H, W) uint16, 0 = none. table: value -> {"class", "caption"}; values missing from it are background.
        frame: of the same moment and size; measured noise takes distances from it and recognises objects by their
        place. Raises ValueError for labels of another rank or type.
        """
        labels = np.asarray(labels)
        if labels.ndim != 2 or labels.dtype != np.uint16:
            raise ValueError(f"labels must be (H, W) uint16, not {labels.shape} {labels.dtype}")
        masks = []
        # Sorted by first pixels, so that the order does not depend on the label values.
        for value, box, _ in label_extents(labels):
            if value in table:
                crop = labels[box.y : box.y + box.height, box.x : box.x + box.width] == value
                masks.append(_Mask(box.y, box.x, crop, table[value]))
        if self._measured is not None:
            named = [*self._false(labels.shape, frame), *self._measure(stamp, masks, labels.shape[1], frame)]
        else:
            named = self._label(self._spoil(masks), table)
        return self._number(stamp, labels.shape, named)

    def _measure(
        self, stamp: float, masks: list[_Mask], width: int, frame: RgbdFrame | None
    ) -> list[tuple[_Mask, str, str]]:
        """Return (mask, class, caption) of the masks that the measured detector would find.

        The masks are cropped by the measured errors of its boxes' edges.
        """
        noise, misses, rng = self._measured, self._misses, self._rng
        assert noise is not None and misses is not None
        misses.start()
        named = []
        for mask in masks:
            label, caption = str(mask.entry.get("class", "")), str(mask.entry.get("caption", ""))
            rows, columns = np.nonzero(mask.pixels)
            place, distance = (None, None)
            if frame is not None:
                place, distance = place_of(frame, rows + mask.top, columns + mask.left)
            size = float(np.sqrt(len(rows))) * WIDTH / width
            camera = None if frame is None else frame.odom_from_camera[:3, 3]
            given = misses.seen_as(
                stamp, (label, caption), place, noise.chance(label, size, distance), camera
            )
            if given is not None:
                caption = caption if given == label else given
                named.append((mask.cut(rng.choice(noise.edges, 4)), given, caption))
        return named

    def _false(self, shape: tuple[int, int], frame: RgbdFrame | None) -> list[tuple[_Mask, str, str]]:
        """Return false detections as masks, to be painted below all others.

        Boxes get masks from depth as those of a real detector do; without a frame they are the masks.
        """
        assert self._strays is not None
        things = [
            FoundThing(label, 1.0, ImageBox(left, top, columns, rows))
            for label, top, left, rows, columns in self._strays.boxes(shape, frame)
        ]
        if frame is not None:
            things = BoxMasker().masked(things, AlignedDepth(frame.depth, frame.camera))
        named = []
        for one in things:
            pixels = np.ones((one.box.height, one.box.width), bool) if one.mask is None else one.mask
            named.append((_Mask(one.box.y, one.box.x, pixels, {}), one.label, one.label))
        return named

    def _spoil(self, masks: list[_Mask]) -> list[_Mask]:
        """Return the masks with simulated errors: misses, merges, splits and erosion."""
        config, rng = self.config, self._rng
        merged: list[_Mask] = []
        for mask in [mask for mask in masks if rng.random() >= config.miss]:
            if rng.random() < config.merge:
                touching = [i for i, other in enumerate(merged) if mask.touches(other, NOISE_MERGE_GAP_PX)]
                if touching:
                    merged[touching[0]] = merged[touching[0]].union(mask)
                    continue
            merged.append(mask)
        result: list[_Mask] = []
        for mask in merged:
            parts = mask.halves(rng.uniform(0.0, np.pi)) if rng.random() < config.split else [mask]
            result.extend(part.eroded(config.erode_px) for part in parts)
        return result

    def _label(
        self, masks: list[_Mask], table: Mapping[int, Mapping[str, str]]
    ) -> list[tuple[_Mask, str, str]]:
        """Return (mask, class, caption) per mask; by simulated error some are those of another entry."""
        rng = self._rng
        entries = sorted({(str(e.get("class", "")), str(e.get("caption", ""))) for e in table.values()})
        named = []
        for mask in masks:
            label, caption = str(mask.entry.get("class", "")), str(mask.entry.get("caption", ""))
            if rng.random() < self.config.wrong_label:
                others = [e for e in entries if e[0] != label]
                if others:
                    label, caption = others[int(rng.integers(len(others)))]
            named.append((mask, label, caption))
        return named

    def _number(
        self, stamp: float, shape: tuple[int, int], named: list[tuple[_Mask, str, str]]
    ) -> SegmentedFrame:
        """Return the frame with segments numbered at random; where masks overlap, the later one wins."""
        config, rng = self.config, self._rng
        values = rng.permutation(np.arange(1, max(len(named) * 4, 16) + 1))[: len(named)]
        image = np.zeros(shape, np.uint16)
        names = {}
        for value, (mask, label, caption) in zip(values, named):
            height, width = mask.pixels.shape
            image[mask.top : mask.top + height, mask.left : mask.left + width][mask.pixels] = value
            if self._measured is not None:
                score = float(rng.choice(self._measured.scores))
            else:
                score = float(np.clip(rng.normal(NOISE_SCORE_MEAN, config.score_std), 0.05, 1.0))
            names[int(value)] = (label, caption, score)
        detections = tuple(
            Detection(value, *names[value], box, pixels) for value, box, pixels in label_extents(image)
        )
        rule = SegmentFilter(config.min_pixels, 0.0)
        return filter_segments(SegmentedFrame(stamp, image, detections, self.name), rule)
