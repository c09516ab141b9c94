"""Detections matched to objects with known masks, in rendered views and labelled real frames."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lodestar.geometry.boxes import box_iou
from lodestar.models.kinship import same_kind
from lodestar.perception.frames import Detection, Detector, RgbdFrame
from lodestar.perception.measured_noise import WIDTH, view_change
from lodestar.perception.onnx_detector import OnnxDetector
from lodestar_eval.real_images.labels import STEP, FramePoints, LabelledRoom
from lodestar_eval.tour import Tour, TourConfig
from lodestar_sim.worlds.world import World

MATCHED = 0.4  # least IoU of boxes in the image for a detection to match an object; chosen
_LEAST = 60  # least pixels of an object that counts, as in the map's filter


@dataclass(frozen=True)
class Sight:
    """One object in one frame, with its matched detection.

    thing: id, unique over all sources. kind: detector class of its label, "" = none. size: square root of its
    pixels in an image `WIDTH` pixels wide. distance: metres. score: of the detection, 0 = missed. found: label of
    the detection. edges: (4,), distances by which the detection's left, top, right and bottom lie inside the
    object's box, as shares of its side. view: radians of the direction from the object to the camera in plan, and
    logarithm of their distance in metres.
    """

    thing: str
    kind: str
    size: float
    distance: float
    score: float = 0.0
    found: str = ""
    edges: tuple[float, ...] = ()
    view: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True)
class Stray:
    """False detection, which matches no object. size: see `Sight`. again: the previous frame had it too. change: of the
    viewpoint since that frame (`view_change`).
    """

    found: str
    size: float
    again: bool
    change: float = 0.0


@dataclass(frozen=True)
class Sights:
    """All objects and false detections of some frames."""

    frames: int
    things: tuple[Sight, ...]
    strays: tuple[Stray, ...]


def rendered(
    world: World, name: str, seed: int, detector: Detector, kinds: Callable[[str], str], frames: int
) -> Sights:
    """Return the sights of a tour of a building, in colour. kinds: label -> detector class, "" = none."""
    config = TourConfig(width=640, height=480, limit=1e4)
    tour = Tour(world, seed, config)
    labels = {i: entry["class"] for i, entry in world.labels().items()}
    collected = _Collector()
    for number, _ in enumerate(tour.moments()):
        if number >= frames:
            break
        image = tour.simulator.render(rgb=True, width=config.width, height=config.height)
        ids, depth, pose = tour.simulator.view_truth(config.width, config.height)
        assert image.rgb is not None
        boxes = []
        for identity in np.unique(ids[ids > 0]).tolist():
            rows, columns = np.nonzero(ids == identity)
            if len(rows) >= _LEAST and identity in labels:
                distance = float(np.median(depth[rows, columns]))
                boxes.append(
                    (f"{name} {identity}", kinds(labels[identity]), rows, columns, distance, (0.0, 0.0))
                )
        found = detector.detect(image.stamp, image.rgb).detections
        collected.add(boxes, found, config.width, (depth, pose))
    return collected.sights()


def recorded(
    room: LabelledRoom, frames: Iterator[RgbdFrame], detector: Detector, kinds: Callable[[str], str]
) -> Sights:
    """Return the sights of the labelled objects of a recording; unlabelled objects give neither sights nor strays."""
    collected = _Collector()
    for frame in frames:
        if frame.rgb is None:
            continue
        points, boxes = FramePoints(frame), []
        for number, thing in enumerate(room.things):
            own = points.of(thing)
            if len(own) * STEP**2 >= _LEAST:
                boxes.append(
                    (
                        f"{room.name} {number}", kinds(thing.label), points.rows[own], points.columns[own],
                        float(np.median(points.depth[own])), _view(frame, points.at[own].mean(axis=0)),
                    )
                )  # fmt: skip
        found = detector.detect(frame.stamp, frame.rgb).detections
        collected.add(boxes, found, frame.camera.width)
    return collected.sights()


def judged(
    room: LabelledRoom, frames: Iterator[RgbdFrame], detector: OnnxDetector, threshold: float
) -> list[tuple[str, float, bool]]:
    """Return label, score and truth of each detection in a recording.

    True is the best detection of a labelled thing of its kind. Further ones, and those of unsure things, are left out,
    and so are those of kinds without a labelled thing below the network's own threshold.
    """
    found = []
    for frame in frames:
        if frame.rgb is None:
            continue
        points, things = FramePoints(frame), (*room.things, *room.unsure)
        own = [points.of(thing) for thing in things]
        seen = [number for number, one in enumerate(own) if len(one) * STEP**2 >= _LEAST]
        low = np.array([(points.columns[own[n]].min(), points.rows[own[n]].min()) for n in seen], float)
        high = (
            np.array([(points.columns[own[n]].max(), points.rows[own[n]].max()) for n in seen], float) + STEP
        )
        taken = set(range(len(room.things), len(things)))
        for one in sorted(detector.find(frame.rgb), key=lambda one: -one.score):
            corner, size = np.array([(one.box.x, one.box.y), (one.box.width, one.box.height)], float)
            alike = np.array([same_kind(one.label, things[n].label) for n in seen], bool)
            iou = alike * box_iou(low.reshape(-1, 2), high.reshape(-1, 2), corner, corner + size)
            fits = seen[int(iou.argmax())] if iou.max(initial=0.0) >= MATCHED else None
            tried = any(same_kind(one.label, thing.label) for thing in room.things)
            if fits not in taken and (tried or one.score >= threshold):
                found.append((one.label, one.score, fits is not None))
            if fits is not None:
                taken.add(fits)
    return found


def _view(frame: RgbdFrame, place: np.ndarray) -> tuple[float, float]:
    """Return `Sight.view` of a place (3,) in map."""
    x, y, z = frame.map_from_camera[:3, 3] - place
    return math.atan2(y, x), math.log(max(math.hypot(x, y, z), 0.1))


class _Collector:
    def __init__(self) -> None:
        self._frames = 0
        self._things: list[Sight] = []
        self._strays: list[Stray] = []
        self._before: tuple[Detection, ...] = ()
        self._pose: np.ndarray | None = None

    def add(
        self,
        boxes: Sequence[tuple[str, str, np.ndarray, np.ndarray, float, tuple[float, float]]],
        detections: tuple[Detection, ...],
        width: int,
        complete: tuple[np.ndarray, np.ndarray] | None = None,
    ) -> None:
        """Add a frame. boxes: per object its name, class, pixel rows, pixel columns, distance in metres, and `view`.
        complete: depth (H, W) and pose (4, 4) of a frame for which every object in view is listed, so that an unmatched
        detection is false.
        """
        self._frames += 1
        low = np.array([(c.min(), r.min()) for _, _, r, c, *_ in boxes], float).reshape(-1, 2)
        high = np.array([(c.max() + 1, r.max() + 1) for _, _, r, c, *_ in boxes], float).reshape(-1, 2)
        corner, far = _corners(detections)
        iou = box_iou(low[:, None], high[:, None], corner[None], far[None])
        right = np.array([[same_kind(kind, d.label) for d in detections] for _, kind, *_ in boxes])
        right = right.reshape(iou.shape)
        taken: set[int] = set()
        for row in np.argsort(-iou.max(axis=1, initial=0.0)) if len(boxes) else []:
            name, kind, rows, _, distance, view = boxes[row]
            area = len(rows) * (STEP**2 if complete is None else 1)
            size = float(np.sqrt(area)) * WIDTH / width
            sight = Sight(name, kind, size, distance, view=view)
            value = np.where(iou[row] >= MATCHED, iou[row] + right[row], 0.0)
            value[list(taken)] = 0.0
            if len(detections) and value.max() > 0.0:
                best = int(value.argmax())
                taken.add(best)
                side = np.tile(high[row] - low[row], 2)
                inside = np.concatenate([corner[best] - low[row], high[row] - far[best]]) / side
                edges = tuple(round(float(value), 3) for value in inside)
                sight = replace(
                    sight,
                    score=detections[best].score,
                    found=kind if right[row, best] else detections[best].label,
                    edges=edges,
                )
            self._things.append(sight)
        if complete is not None:
            self._add_strays(detections, taken, iou, width, *complete)
        self._before = detections

    def _add_strays(
        self,
        detections: tuple[Detection, ...],
        taken: set[int],
        iou: np.ndarray,
        width: int,
        depth: np.ndarray,
        pose: np.ndarray,
    ) -> None:
        before_low, before_high = _corners(self._before)
        for index, detection in enumerate(detections):
            if index in taken or iou[:, index].max(initial=0.0) >= MATCHED:
                continue
            low, high = _corners((detection,))
            near = box_iou(low, high, before_low, before_high) >= 0.2
            again = any(near[k] and other.label == detection.label for k, other in enumerate(self._before))
            size = float(np.sqrt(np.prod(high - low))) * WIDTH / width
            box = detection.box
            away = float(np.median(depth[box.y : box.y + box.height, box.x : box.x + box.width]))
            change = math.inf if self._pose is None else view_change(self._pose, pose, away)
            self._strays.append(Stray(detection.label, size, again, change))
        self._pose = pose

    def sights(self) -> Sights:
        return Sights(self._frames, tuple(self._things), tuple(self._strays))


def _corners(detections: Sequence[Detection]) -> tuple[np.ndarray, np.ndarray]:
    low = np.array([(d.box.x, d.box.y) for d in detections], float).reshape(-1, 2)
    return low, low + np.array([(d.box.width, d.box.height) for d in detections], float).reshape(-1, 2)
