"""Decoders of the outputs of networks: NanoDet, Panoptic-DeepLab, SSD, YOLO (boxes, boxes and masks, end to end).

The format is recognised by the shapes of the outputs alone. Every decoder returns boxes in pixels of the
network's input.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import cv2
import numpy as np

from lodestar.perception.found_things import Boxes
from lodestar.perception.frames import ImageBox
from lodestar.perception.onnx_input import InputForm
from lodestar.perception.onnx_panoptic import PanopticDeepLab

STRIDES = (8, 16, 32, 64)
_SHAPES = (
    "known are NanoDet (per stride [1, cells, classes] and [1, cells, 4 x bins], or both in one), YOLO "
    "([1, 4 + classes, boxes], with masks [1, 4 + classes + 32, boxes] and [1, 32, h, w]), YOLO end to end "
    "([1, boxes, 6], or 38 with masks), RT-DETR ([1, boxes, 6], or 4 + classes), SSD ([1, boxes, 4 + classes]), and "
    "Panoptic-DeepLab ([1, 1 + classes, h, w], [1, 1, h, w], [1, 2, h, w], and perhaps [1, attributes, h, w])"
)


class UnknownOutputs(ValueError):
    """Raised for outputs in no known format; the message lists the known ones."""


class OutputForm(Protocol):
    """Interface of a decoder of a detection network's outputs."""

    image: InputForm
    overlaps: bool  # whether its boxes need non-maximum suppression

    @property
    def classes(self) -> int:
        """Return the number of classes."""

    def boxes(self, outputs: Sequence[np.ndarray]) -> Boxes:
        """Return all boxes in the outputs, in pixels of the network's input, with masks if there are any."""


def form_of(
    shapes: Sequence[tuple[int, ...]], size: tuple[int, int], classes: int | None, head: str = ""
) -> OutputForm:
    """Return the decoder for outputs of these shapes. Raises UnknownOutputs.

    size: (height, width) of the input. classes: number of names, None = unknown. head: name of the last layer from the
    metadata, "" = unknown; by shape alone, RT-DETR cannot be told from YOLO end to end and SSD.
    """
    if len(shapes) == 1 and len(shapes[0]) == 3 and classes is not None:
        is_best = head == "RTDETRDecoder" and shapes[0][2] == 6
        if head == "SSD" and shapes[0][2] == 4 + classes:
            return Ssd(classes)
        if is_best or shapes[0][2] == 4 + classes != 6:
            return RtDetr(size, classes, is_best)
    for make in (_nanodet, _nanodet_in_one, _end_to_end, _yolo, _panoptic):
        form = make(list(shapes), size, classes)
        if form is not None:
            return form
    raise UnknownOutputs(
        f"outputs of the shapes {', '.join(map(str, shapes)) or 'none'} are of no known form; {_SHAPES}"
    )


@dataclass(frozen=True)
class NanoDet:
    """Decoder of NanoDet: per cell of each stride, class probabilities and the distance to each side of the
    box.

    A distance is given as a distribution. strides: (stride, index of the scores, index of the distances);
    equal indices = both in one output, with the cells of the strides one after the other. Source: Li et al.
    2020, "Generalized focal loss", and NanoDet's own code.
    """

    size: tuple[int, int]
    classes: int
    bins: int
    strides: tuple[tuple[int, int, int], ...]
    image = InputForm((103.53, 116.28, 123.675), (57.375, 57.12, 58.395), bgr=True, stretched=True)
    overlaps = True

    def boxes(self, outputs: Sequence[np.ndarray]) -> Boxes:
        corners, scores = [], []
        begun = 0
        for stride, of_scores, of_sides in self.strides:
            rows, columns = _cells(self.size, stride)
            if of_scores == of_sides:
                both = outputs[of_scores][0, begun : begun + rows * columns]
                probability, sides = both[:, : self.classes], both[:, self.classes :]
                begun += rows * columns
            else:
                probability, sides = outputs[of_scores][0], outputs[of_sides][0]
            y, x = np.divmod(np.arange(rows * columns), columns)
            center = (np.stack([x, y], 1) + 0.5) * stride
            distance = _expectation(sides.reshape(len(sides), 4, self.bins)) * stride
            corners.append(np.hstack([center - distance[:, :2], center + distance[:, 2:]]))
            scores.append(probability)
        return _best(np.concatenate(corners), np.concatenate(scores))


@dataclass(frozen=True)
class Yolo:
    """Decoder of [1, 4 + classes + K, N]: centre, size, class scores, weights of prototypes [1, K, h, w]."""

    classes: int
    main: int
    prototypes: int | None = None
    image = InputForm()
    overlaps = True

    def boxes(self, outputs: Sequence[np.ndarray]) -> Boxes:
        table = outputs[self.main][0].T
        center, half = table[:, :2], table[:, 2:4] / 2.0
        last = 4 + self.classes
        corners = np.hstack([center - half, center + half])
        return _best(corners, table[:, 4:last], table[:, last:], _maps(outputs, self.prototypes))


@dataclass(frozen=True)
class Ssd:
    """Decoder of [1, N, 4 + classes]: centre, size, class scores, as `scripts/tflite_to_onnx.py` writes them."""

    classes: int
    image = InputForm((127.5,) * 3, (127.5,) * 3, stretched=True)
    overlaps = True

    def boxes(self, outputs: Sequence[np.ndarray]) -> Boxes:
        return Yolo(self.classes, 0).boxes([outputs[0].transpose(0, 2, 1)])


@dataclass(frozen=True)
class YoloEndToEnd:
    """Decoder of [1, N, 6 + K]: corners, score, class, K weights of prototypes; without duplicate boxes."""

    classes: int
    main: int
    prototypes: int | None = None
    image = InputForm()
    overlaps = False

    def boxes(self, outputs: Sequence[np.ndarray]) -> Boxes:
        table = outputs[self.main][0]
        kinds = np.where((table[:, 5] >= 0) & (table[:, 5] < self.classes), table[:, 5], -1.0).astype(int)
        scores = np.where(kinds >= 0, table[:, 4], np.nan)  # a class number below 0 is no detection
        return Boxes(table[:, :4], scores, kinds, table[:, 6:], _maps(outputs, self.prototypes))


@dataclass(frozen=True)
class RtDetr:
    """Decoder of RT-DETR: centre and size as shares of the input, and the best score and its class: [1, N, 6].

    is_best: false for files of older releases, which hold the scores of all classes: [1, N, 4 + classes]. Source:
    `RTDETRDecoder` and `RTDETRPredictor` of Ultralytics.
    """

    size: tuple[int, int]
    classes: int
    is_best: bool
    image = InputForm(stretched=True)
    overlaps = False

    def boxes(self, outputs: Sequence[np.ndarray]) -> Boxes:
        table = outputs[0][0]
        center, half = table[:, :2], table[:, 2:4] / 2.0
        corners = np.hstack([center - half, center + half]) * np.array(self.size[::-1] * 2, np.float32)
        if self.is_best:
            return YoloEndToEnd(self.classes, 0).boxes([np.hstack([corners, table[:, 4:]])[None]])
        return _best(corners, table[:, 4:])


def _nanodet(shapes: list[tuple[int, ...]], size: tuple[int, int], classes: int | None) -> OutputForm | None:
    if len(shapes) < 2 or len(shapes) % 2 or any(len(shape) != 3 for shape in shapes):
        return None
    cells = {rows * columns: stride for stride in STRIDES for rows, columns in [_cells(size, stride)]}
    pairs: dict[int, list[int]] = {}
    for index, (_, count, _) in enumerate(shapes):
        if count not in cells:
            return None
        pairs.setdefault(cells[count], []).append(index)
    if any(len(pair) != 2 for pair in pairs.values()):
        return None
    widths = {tuple(shapes[index][2] for index in pair) for pair in pairs.values()}
    if len(widths) != 1:
        return None
    first, second = widths.pop()
    swapped = second == classes and first != classes
    count, sides = (second, first) if swapped else (first, second)
    if sides % 4:
        return None
    order = (1, 0) if swapped else (0, 1)
    strides = tuple((stride, pair[order[0]], pair[order[1]]) for stride, pair in sorted(pairs.items()))
    return NanoDet(size, count, sides // 4, strides)


def _nanodet_in_one(
    shapes: list[tuple[int, ...]], size: tuple[int, int], classes: int | None
) -> OutputForm | None:
    if len(shapes) != 1 or len(shapes[0]) != 3 or classes is None:
        return None
    _, count, width = shapes[0]
    for strides in (STRIDES[:3], STRIDES):
        cells = sum(rows * columns for rows, columns in (_cells(size, stride) for stride in strides))
        if count == cells and width > classes and (width - classes) % 4 == 0:
            return NanoDet(size, classes, (width - classes) // 4, tuple((stride, 0, 0) for stride in strides))
    return None


def _split(shapes: list[tuple[int, ...]]) -> tuple[int, int | None, int] | None:
    """Return the index of the boxes output, that of the prototypes output, and the number of prototypes.

    The second index is None without prototypes. None if the shapes are not those of a YOLO network.
    """
    flat = [index for index, shape in enumerate(shapes) if len(shape) == 3]
    images = [index for index, shape in enumerate(shapes) if len(shape) == 4]
    if len(flat) != 1 or len(images) > 1 or len(shapes) != len(flat) + len(images):
        return None
    return flat[0], images[0] if images else None, shapes[images[0]][1] if images else 0


def _end_to_end(
    shapes: list[tuple[int, ...]], size: tuple[int, int], classes: int | None
) -> OutputForm | None:
    parts = _split(shapes)
    if parts is None or shapes[parts[0]][2] != 6 + parts[2]:
        return None
    return YoloEndToEnd(np.iinfo(np.int32).max if classes is None else classes, *parts[:2])


def _yolo(shapes: list[tuple[int, ...]], size: tuple[int, int], classes: int | None) -> OutputForm | None:
    parts = _split(shapes)
    if parts is None:
        return None
    main, prototypes, coefficients = parts
    _, width, count = shapes[main]
    found = width - 4 - coefficients
    if found < 1 or count < width or (classes is not None and found != classes):
        return None
    return Yolo(found, main, prototypes)


def _panoptic(shapes: list[tuple[int, ...]], size: tuple[int, int], classes: int | None) -> OutputForm | None:
    if len(shapes) not in (3, 4) or any(len(shape) != 4 for shape in shapes):
        return None
    counts = [shape[1] for shape in shapes[:3]]
    if (
        counts.count(1) != 1
        or 2 not in counts
        or len({shape[2:] for shape in shapes}) != 1
        or any(0 in shape for shape in shapes)
    ):
        return None
    center = counts.index(1)
    scores, offset = (index for index in range(3) if index != center)
    if counts[offset] != 2 or (classes is not None and counts[scores] != 1 + classes):
        scores, offset = offset, scores
    if counts[offset] != 2 or counts[scores] < 2 or (classes is not None and counts[scores] != 1 + classes):
        return None
    return PanopticDeepLab(counts[scores] - 1, size, scores, center, offset, 3 if len(shapes) == 4 else None)


def _cells(size: tuple[int, int], stride: int) -> tuple[int, int]:
    return -(-size[0] // stride), -(-size[1] // stride)


def _expectation(logits: np.ndarray) -> np.ndarray:
    """Return the mean of 0, 1, ... under softmax(logits) over the last axis."""
    shares = np.exp(logits - logits.max(-1, keepdims=True))
    return np.asarray(shares @ np.arange(logits.shape[-1], dtype=logits.dtype) / shares.sum(-1))


def _best(
    corners: np.ndarray,
    scores: np.ndarray,
    coefficients: np.ndarray | None = None,
    prototypes: np.ndarray | None = None,
) -> Boxes:
    """Return each box with its best class; a box with any NaN score gets the score NaN."""
    kinds = scores.argmax(1)
    best = scores[np.arange(len(scores)), kinds]
    rest = np.zeros((len(scores), 0), np.float32) if coefficients is None else coefficients
    return Boxes(corners, best, kinds, rest, prototypes)


def _maps(outputs: Sequence[np.ndarray], index: int | None) -> np.ndarray | None:
    return None if index is None else outputs[index][0]


def mask_in_box(logits: np.ndarray, box: ImageBox, window: tuple[float, float, float, float]) -> np.ndarray:
    """Return the mask (box.height, box.width) bool in a box, from logits (h, w) that span `window`.

    window: left, top, right, bottom in image pixels.
    """
    rows, columns = logits.shape
    scale_x, scale_y = columns / (window[2] - window[0]), rows / (window[3] - window[1])
    x = (box.x + np.arange(box.width) + 0.5 - window[0]) * scale_x - 0.5
    y = (box.y + np.arange(box.height) + 0.5 - window[1]) * scale_y - 0.5
    map_x, map_y = np.meshgrid(x.astype(np.float32), y.astype(np.float32))
    return (
        np.asarray(
            cv2.remap(
                logits.astype(np.float32), map_x, map_y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
            )
        )
        > 0
    )
