"""Detector for networks in ONNX files, run by ONNX Runtime: NanoDet, YOLO, RT-DETR, SSD, Panoptic-DeepLab. No torch."""

from __future__ import annotations

import ast
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from lodestar.perception.box_masks import BoxMasker, with_masks
from lodestar.perception.config import OnnxConfig
from lodestar.perception.found_things import FoundThing, image_box, segmented, select
from lodestar.perception.frames import AlignedDepth, DetectorUnavailable, SegmentedFrame, Vocabulary
from lodestar.perception.onnx_input import InputForm
from lodestar.perception.onnx_outputs import OutputForm, UnknownOutputs, form_of, mask_in_box
from lodestar.perception.onnx_sessions import first_line, open_session

#: Network for the simulator's buildings; the README.md beside it describes its data, training and scores.
PACKAGED = Path(__file__).parent / "simulated_rooms" / "segmenter.onnx"
_FETCH = "`make detector` puts NanoDet (COCO's 80 classes) and Objectron's SSD into models/"


def check_image(rgb: np.ndarray) -> None:
    """Raise ValueError for an array that is no (H, W, 3) uint8 image."""
    if rgb.ndim != 3 or rgb.shape[2] != 3 or rgb.dtype != np.uint8 or rgb.size == 0:
        raise ValueError(f"the image must be (H, W, 3) uint8, not {rgb.shape} {rgb.dtype}")


@dataclass(frozen=True)
class _Network:
    """A loaded network. size: (height, width) of its input."""

    session: Any
    input_name: str
    dtype: np.dtype
    size: tuple[int, int]
    form: OutputForm
    names: tuple[str, ...]
    attributes: tuple[str, ...] = ()  # words for attributes, if the network predicts them

    def attribute(self, number: int) -> str:
        """Return the attribute word with this number, "" if there is none."""
        return self.attributes[number] if 0 <= number < len(self.attributes) else ""


class OnnxDetector:
    """Runs a detection network from an ONNX file, loaded on the first image.

    masker: makes masks of boxes if depth comes with the image; None = boxes are used as masks. The class names are in
    the file MODEL.txt beside the network, one per line, else in its metadata (`names`).
    """

    def __init__(self, model: str | Path, config: OnnxConfig = OnnxConfig()):
        self.config = config
        self.name = f"onnx:{Path(model).name}"
        # number of invalid boxes in all images: NaN, far outside, or with an invalid score or class
        self.odd_boxes = 0
        self.masker: BoxMasker | None = None
        self._path = Path(model)
        self._network: _Network | None = None
        self._lock = threading.Lock()

    @property
    def vocabulary(self) -> Vocabulary:
        """Return the network's classes; loads the network. Raises DetectorUnavailable."""
        return Vocabulary(self.load().names)

    def look_for(self, words: Sequence[str]) -> None:
        """Do nothing: the classes are fixed."""

    def check(self) -> None:
        """Check that the file exists, without loading it. Raises DetectorUnavailable."""
        if not self._path.is_file():
            raise DetectorUnavailable(
                f"there is no network at {self._path.absolute()}: {_FETCH}; or name the path of one of your own"
            )

    def load(self) -> _Network:
        """Return the network, loaded and run once at the first call. Raises DetectorUnavailable."""
        with self._lock:
            if self._network is None:
                self.check()
                self._network = _load(self._path, self.config)
            return self._network

    def detect(self, stamp: float, rgb: np.ndarray, depth: AlignedDepth | None = None) -> SegmentedFrame:
        """Return the segments of an (H, W, 3) uint8 image. Raises DetectorUnavailable; ValueError for other arrays."""
        check_image(rgb)
        things = with_masks(self.find(rgb), depth, self.masker)
        return segmented(stamp, rgb.shape[:2], things, self.name, self.config.min_pixels)

    def find(self, rgb: np.ndarray) -> list[FoundThing]:
        """Return the objects in an (H, W, 3) uint8 image, without masks from depth. Raises DetectorUnavailable."""
        config, network = self.config, self.load()
        tensor, window = _prepare(rgb, network.size, network.form.image)
        outputs = _run(network.session, network.input_name, tensor.astype(network.dtype, copy=False))
        iou = config.iou if network.form.overlaps else 1.0
        found, odd = select(network.form.boxes(outputs), config.confidence, iou, config.max_detections)
        self.odd_boxes += odd
        masks = found.masks()
        left, top, right, bottom = window
        scale = np.array([right - left, bottom - top] * 2) / np.array(network.size[::-1] * 2)
        corners = found.corners * scale + np.array([left, top] * 2)
        things = []
        for index, (kind, score) in enumerate(zip(found.kinds, found.scores)):
            box = image_box(corners[index], rgb.shape[:2])
            if box is not None:
                mask = None if masks is None else mask_in_box(masks[index], box, window)
                word = "" if found.attributes is None else network.attribute(int(found.attributes[index]))
                things.append(FoundThing(network.names[kind], float(score), box, mask, word))
        return things


def _prepare(
    rgb: np.ndarray, size: tuple[int, int], form: InputForm
) -> tuple[np.ndarray, tuple[float, float, float, float]]:
    """Return the network's input (1, 3, h, w) float32, and the window of the image that it covers.

    The window is left, top, right, bottom in image pixels; with padding it exceeds the image.
    """
    (height, width), (rows, columns) = rgb.shape[:2], size
    scale_x, scale_y = columns / width, rows / height
    if not form.stretched:
        scale_x = scale_y = min(scale_x, scale_y)
    inner = max(1, min(columns, round(width * scale_x))), max(1, min(rows, round(height * scale_y)))
    picture = cv2.resize(rgb, inner, interpolation=cv2.INTER_LINEAR)
    left, top = (columns - inner[0]) // 2, (rows - inner[1]) // 2
    if inner != (columns, rows):
        gray = (form.padding,) * 3
        right, bottom = columns - inner[0] - left, rows - inner[1] - top
        picture = cv2.copyMakeBorder(picture, top, bottom, left, right, cv2.BORDER_CONSTANT, value=gray)
    channels = picture[..., ::-1] if form.bgr else picture
    tensor = (channels.transpose(2, 0, 1).astype(np.float32) - _column(form.mean)) / _column(form.std)
    scale_x, scale_y = inner[0] / width, inner[1] / height
    window = (-left / scale_x, -top / scale_y, (columns - left) / scale_x, (rows - top) / scale_y)
    return tensor[None], window


def _column(values: tuple[float, float, float]) -> np.ndarray:
    return np.array(values, np.float32).reshape(3, 1, 1)


def _load(path: Path, config: OnnxConfig) -> _Network:
    session = open_session(path, config)
    inputs = session.get_inputs()
    if (
        len(inputs) != 1
        or len(inputs[0].shape) != 4
        or inputs[0].type not in ("tensor(float)", "tensor(float16)")
    ):
        told = ", ".join(f"{one.name} {one.shape} {one.type}" for one in inputs)
        raise DetectorUnavailable(f"{path} reads {told}, not one image [1, 3, height, width] of floats")
    rows, columns = (side if isinstance(side, int) else config.image_size for side in inputs[0].shape[2:])
    batch, channels = inputs[0].shape[:2]
    if (isinstance(batch, int) and batch != 1) or (isinstance(channels, int) and channels != 3):
        raise DetectorUnavailable(f"{path} reads {batch} images of {channels} channels at once, not 1 of 3")
    dtype = np.dtype(np.float16 if "16" in inputs[0].type else np.float32)
    outputs = _run(session, inputs[0].name, np.zeros((1, 3, rows, columns), dtype))
    metadata = session.get_modelmeta().custom_metadata_map
    names = _names(path, metadata)
    try:
        form = form_of(
            [output.shape for output in outputs],
            (rows, columns),
            len(names) or None,
            metadata.get("head", ""),
        )
    except UnknownOutputs as error:
        raise DetectorUnavailable(f"{path} with {len(names) or 'no'} names of classes: {error}") from error
    if not names:
        raise DetectorUnavailable(
            f"{path} names no classes: write {path.with_suffix('.txt').name} beside it, one name a line"
        )
    if form.classes != len(names):
        raise DetectorUnavailable(f"{path} has {form.classes} classes and {len(names)} names of them")
    words = _listed(path, metadata, "attributes")
    return _Network(session, inputs[0].name, dtype, (rows, columns), form, names, words)


def _run(session: Any, name: str, tensor: np.ndarray) -> list[np.ndarray]:
    try:
        return [np.asarray(output, np.float32) for output in session.run(None, {name: tensor})]
    except Exception as error:
        raise DetectorUnavailable(f"the network does not run: {first_line(error)}") from error


def _names(path: Path, metadata: dict[str, str]) -> tuple[str, ...]:
    """Return the class names in order; () = unknown. Raises DetectorUnavailable."""
    beside = path.with_suffix(".txt")
    if beside.is_file():
        lines = beside.read_text(encoding="utf-8", errors="replace").splitlines()
        return tuple(line.strip() for line in lines if line.strip())
    return _listed(path, metadata, "names")


def _listed(path: Path, metadata: dict[str, str], key: str) -> tuple[str, ...]:
    """Return the texts under a key of the metadata, a list or a table by number; () without the key.

    Raises DetectorUnavailable.
    """
    if key not in metadata:
        return ()
    try:
        told = ast.literal_eval(metadata[key])
        named = [told[kind] for kind in range(len(told))]
    except (ValueError, SyntaxError, KeyError, TypeError, RecursionError, MemoryError) as error:
        what, mend = "names of classes", f"write {path.with_suffix('.txt').name} beside it"
        if key != "names":
            what, mend = key, "write a list of texts into its metadata, or none"
        raise DetectorUnavailable(f"the {what} in {path} cannot be read ({error}): {mend}") from error
    return tuple(str(name) for name in named)
