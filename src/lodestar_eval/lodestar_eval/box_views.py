"""Objects in rendered views with true masks and boxes, and scores of the masks computed from depth."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from lodestar.geometry.boxes import box_iou
from lodestar.geometry.camera import DEPTH_RANGE
from lodestar.perception.box_masks import BoxMasker
from lodestar.perception.found_things import FoundThing, image_box
from lodestar.perception.frames import AlignedDepth, ImageBox
from lodestar.perception.onnx_detector import OnnxDetector
from lodestar.perception.segments import label_extents
from lodestar_eval.tour import Tour, TourConfig, TourFrame, TourMoment
from lodestar_sim.worlds.world import World

LEAST_PIXELS = 400  # least visible pixels of an object that is measured; chosen: 20 x 20
_LEAST_DEPTH = 0.3  # least share of those pixels with depth; chosen: excludes panes of glass
_MATCH = 0.3  # least IoU of boxes for a detection to match an object; chosen
JITTER = 0.1  # standard deviation of each side of a jittered box, as a share of its size


@dataclass(frozen=True)
class Measured:
    """Mask scores of one object in one view.

    boxes: kind of box that was given (tight, jittered, nanodet). pixels: visible pixels. distance: median, metres.
    mounted: whether the object hangs on a wall. by_box, by_depth: IoU of box and depth mask with the true mask.
    """

    building: str
    boxes: str
    category: str
    pixels: int
    distance: float
    mounted: bool
    by_box: float
    by_depth: float


@dataclass
class Spent:
    """Processor seconds and counts of the measured steps.

    masks: seconds for the masks of all `boxes`; left: boxes without a mask. detector, detector_masks: seconds
    to detect and to mask in all `frames`, the images given to the detector.
    """

    masks: float = 0.0
    boxes: int = 0
    left: int = 0
    detector: float = 0.0
    detector_masks: float = 0.0
    frames: int = 0


def views(world: World, seed: int, count: int, period: float) -> Iterator[TourFrame]:
    """Yield `count` views of a tour, `period` simulated seconds apart, 640 x 480, with colour."""
    config = TourConfig(frame_interval=period, width=640, height=480, limit=count * period, rounds=20)
    tour = Tour(world, seed, config)
    for moment, _ in zip(tour.moments(), range(count)):
        yield _with_color(tour, moment)


def _with_color(tour: Tour, moment: TourMoment) -> TourFrame:
    image = tour.simulator.render(width=tour.config.width, height=tour.config.height)
    return TourFrame(image, *tour.simulator.view_truth(tour.config.width, tour.config.height), moment.stops)


class BoxTrial:
    """Measures masks from tight and jittered boxes in one building, and from those of `detector` if given."""

    def __init__(
        self, name: str, world: World, seed: int, masker: BoxMasker, detector: OnnxDetector | None
    ) -> None:
        self.measured: list[Measured] = []
        self.spent = Spent()
        self._name, self._masker, self._detector = name, masker, detector
        self._rng = np.random.default_rng([seed, 74])
        self._things = {one.id: one for one in world.objects}

    def take(self, frame: TourFrame) -> None:
        """Measure the masks of all objects in one view."""
        aligned = AlignedDepth(frame.image.depth, frame.image.camera)
        truths = []
        for value, box, pixels in label_extents(np.maximum(frame.ids, 0).astype(np.uint16)):
            mask = frame.ids == value
            depths = aligned.depth[mask]
            seen = depths[depths > 0.0]
            enough = pixels >= LEAST_PIXELS and len(seen) >= _LEAST_DEPTH * pixels
            if enough and value in self._things and np.median(seen) <= DEPTH_RANGE:
                truths.append((value, box, mask, float(np.median(seen))))
                self._score("tight", box, truths[-1], aligned)
                jittered = self._jittered(box, mask.shape)
                if jittered is not None:
                    self._score("jittered", jittered, truths[-1], aligned)
        if self._detector is not None and frame.image.rgb is not None:
            self._detected(self._detector, frame.image.rgb, truths, aligned)

    def _jittered(self, box: ImageBox, shape: tuple[int, ...]) -> ImageBox | None:
        size = np.array([box.width, box.height] * 2, float)
        corners = (
            np.array([box.x, box.y, box.x + box.width, box.y + box.height])
            + self._rng.normal(0, JITTER, 4) * size
        )
        return image_box(corners, (shape[0], shape[1]))

    def _score(
        self, boxes: str, box: ImageBox, truth: tuple[int, ImageBox, np.ndarray, float], aligned: AlignedDepth
    ) -> None:
        value, _, mask, distance = truth
        thing = FoundThing("thing", 1.0, box)
        began = time.thread_time()
        (masked,) = self._masker.masked([thing], aligned)
        self.spent.masks += time.thread_time() - began
        self.spent.boxes += 1
        self.spent.left += masked.mask is None
        true = self._things[value]
        ious = (_mask_iou(one, mask) for one in (thing, masked))
        self.measured.append(
            Measured(self._name, boxes, true.category, int(mask.sum()), distance, true.mounted, *ious)
        )

    def _detected(
        self,
        detector: OnnxDetector,
        rgb: np.ndarray,
        truths: Sequence[tuple[int, ImageBox, np.ndarray, float]],
        aligned: AlignedDepth,
    ) -> None:
        """Score each object's best detected box by IoU, regardless of label; measure the processor time."""
        began = time.process_time()
        found = detector.find(rgb)
        middle = time.process_time()
        self._masker.masked(found, aligned)
        self.spent.detector += middle - began
        self.spent.detector_masks += time.process_time() - middle
        self.spent.frames += 1
        for truth in truths:
            best = max(found, key=lambda one: _boxes_iou(one.box, truth[1]), default=None)
            if best is not None and _boxes_iou(best.box, truth[1]) >= _MATCH:
                self._score("nanodet", best.box, truth, aligned)


def _boxes_iou(a: ImageBox, b: ImageBox) -> float:
    low, high = (
        np.array([(one.x + right * one.width, one.y + right * one.height) for one in (a, b)])
        for right in (0, 1)
    )
    return float(box_iou(low[0], high[0], low[1], high[1]))


def _mask_iou(thing: FoundThing, truth: np.ndarray) -> float:
    full = np.zeros(truth.shape, bool)
    window = full[thing.box.y : thing.box.y + thing.box.height, thing.box.x : thing.box.x + thing.box.width]
    window[... if thing.mask is None else thing.mask] = True
    return int(np.count_nonzero(full & truth)) / max(int(np.count_nonzero(full | truth)), 1)
