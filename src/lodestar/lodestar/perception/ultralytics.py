"""Detector for any Ultralytics model with boxes or masks: YOLO-World, YOLOE, YOLO (.pt, .onnx, .engine)."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from lodestar.perception.box_masks import BoxMasker, with_masks
from lodestar.perception.config import UltralyticsConfig
from lodestar.perception.found_things import FoundThing, image_box, segmented
from lodestar.perception.frames import AlignedDepth, DetectorUnavailable, SegmentedFrame, Vocabulary

#: Not `lodestar[detect]`: an index may hold another package with that name.
ADVICE = (
    "run: make setup EXTRAS=ultralytics, or pip install -U ultralytics torch torchvision "
    "(torch and torchvision have to be builds for each other: "
    "a torchvision for CUDA does not work beside a torch for the CPU)"
)


class UltralyticsDetector:
    """Run an Ultralytics model, loaded on the first image. `masker` gives boxes masks where depth comes with them.

    model: path of weights (.pt, .onnx, .engine), or of a description (.yaml) with random weights.
    """

    def __init__(self, model: str | Path, config: UltralyticsConfig = UltralyticsConfig()):
        self.config = config
        self.name = f"ultralytics:{Path(model).name}"
        self.masker: BoxMasker | None = None
        self.odd_boxes = 0  # of all images: NaN or infinite
        self._source = str(model)
        self._model: Any = None
        self._vocabulary = Vocabulary()
        self._lock = threading.Lock()

    def check(self) -> None:
        """Check that packages and weights exist, without loading the model. Raises DetectorUnavailable."""
        self._package()
        if Path(self._source).suffix != ".yaml" and not Path(self._source).exists():
            raise DetectorUnavailable(
                f"there are no weights at {Path(self._source).absolute()}: put them there, or name their path"
            )

    def _package(self) -> Any:
        """Return the package, after importing the torchvision that it needs."""
        try:
            import_module("torchvision")
            return import_module("ultralytics")
        except ImportError as error:
            raise DetectorUnavailable(f"this detector needs Ultralytics ({error}); {ADVICE}") from error
        except RuntimeError as error:  # raised by a torchvision of another build
            raise DetectorUnavailable(f"torch and torchvision do not fit ({error}); {ADVICE}") from error

    def load(self) -> None:
        """Load the model into memory. Raises DetectorUnavailable."""
        with self._lock:
            if self._model is not None:
                return
            self.check()
            package = self._package()
            name = Path(self._source).name
            family = "YOLOE" if "yoloe" in name else "YOLOWorld" if "world" in name else "YOLO"
            try:
                model = getattr(package, family)(self._source)
                if self.config.classes:
                    if not hasattr(model, "set_classes"):
                        raise DetectorUnavailable(f"{name} has classes of its own; leave `classes` empty")
                    model.set_classes(list(self.config.classes))
            except (OSError, ValueError, TypeError, RuntimeError, AssertionError) as error:
                raise DetectorUnavailable(f"{self._source} cannot be loaded: {error}") from error
            self._model = model
            prompted = hasattr(model, "set_classes") and "-pf" not in name
            names = () if prompted else tuple(str(model.names[k]) for k in sorted(model.names))
            self._vocabulary = Vocabulary(names, is_open=prompted)

    @property
    def vocabulary(self) -> Vocabulary:
        """Return the classes of its own, or that it takes prompts; loads the model. Raises DetectorUnavailable."""
        self.load()
        return self._vocabulary

    def look_for(self, words: Sequence[str]) -> None:
        """Look for the words from the next image on, where the model takes prompts. Raises DetectorUnavailable."""
        self.load()
        if self._vocabulary.is_open and words:
            with self._lock:
                self._model.set_classes(list(words))

    def detect(self, stamp: float, rgb: np.ndarray, depth: AlignedDepth | None = None) -> SegmentedFrame:
        """Return the segments of an (H, W, 3) uint8 image. Raises DetectorUnavailable; ValueError for other arrays."""
        if rgb.ndim != 3 or rgb.shape[2] != 3 or rgb.dtype != np.uint8:
            raise ValueError(f"the image must be (H, W, 3) uint8, not {rgb.shape} {rgb.dtype}")
        self.load()
        config = self.config
        options = {"device": config.device} if config.device else {}
        (result,) = self._model.predict(
            np.ascontiguousarray(rgb[..., ::-1]),  # Ultralytics expects BGR
            conf=config.confidence,
            iou=config.iou,
            imgsz=config.image_size,
            max_det=config.max_detections,
            retina_masks=True,
            verbose=False,
            **options,
        )
        things = with_masks(self._things(rgb.shape[:2], result), depth, self.masker)
        return segmented(stamp, rgb.shape[:2], things, self.name, self.config.min_pixels)

    def _things(self, shape: tuple[int, int], result: Any) -> list[FoundThing]:
        boxes = result.boxes.xyxy.cpu().numpy()
        scores = np.clip(result.boxes.conf.cpu().numpy(), 0.0, 1.0)
        kinds = result.boxes.cls.cpu().numpy().astype(int)
        masks = result.masks.data.cpu().numpy() > 0.5 if result.masks is not None else None
        things: list[FoundThing] = []
        for index, (kind, score) in enumerate(zip(kinds, scores)):
            box = image_box(boxes[index], shape)
            sound = np.isfinite(boxes[index]).all() and np.isfinite(score)
            self.odd_boxes += not sound
            if box is not None and sound:
                window = np.s_[box.y : box.y + box.height, box.x : box.x + box.width]
                mask = None if masks is None else masks[index][window]
                things.append(FoundThing(str(result.names[int(kind)]), float(score), box, mask))
        return things
