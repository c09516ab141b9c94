"""Detector for any Ultralytics model with boxes or masks: YOLO-World, YOLOE, YOLO (.pt, .onnx, .engine)."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from lodestar.perception.box_masks import BoxMasker, with_masks
from lodestar.perception.config import UltralyticsConfig
from lodestar.perception.found_things import FoundThing, image_box, segmented
from lodestar.perception.frames import AlignedDepth, DetectorUnavailable, SegmentedFrame, Vocabulary
from lodestar.perception.prompt_cache import PromptCache, digest_of

#: Not `lodestar[detect]`: a package index may hold another package with that name.
ADVICE = (
    "run: make setup EXTRAS=ultralytics, or pip install -U ultralytics torch torchvision "
    "(torch and torchvision have to be builds for each other: "
    "a torchvision for CUDA does not work beside a torch for the CPU)"
)
TEXT_ADVICE = (
    "put the text model of these weights (mobileclip_blt.ts for YOLOE) into the folder where the stack is started, "
    "and install its tokenizer (docs/how-to/detectors.md), or take prompt-free weights (-pf)"
)
#: Errors that the package may raise while it loads or prepares a model, for any file content or failed download.
_ERRORS = (
    OSError,
    ValueError,
    TypeError,
    RuntimeError,
    AssertionError,
    LookupError,
    AttributeError,
    ImportError,
)
RETRY = 10.0  # s, by image stamps, between two attempts to load the model; chosen: an attempt takes seconds


class UltralyticsDetector:
    """Runs an Ultralytics model, loaded on the first image.

    masker: makes masks of boxes if depth comes with the image. model: path of weights (.pt, .onnx, .engine), or of a
    description (.yaml) with random weights. words: prompts for weights that take prompts, until `look_for` sets
    others.

    New words are set in a second copy of the model, which replaces the one in use between two images: images are read
    while the words are encoded.
    """

    def __init__(
        self, model: str | Path, config: UltralyticsConfig = UltralyticsConfig(), words: Sequence[str] = ()
    ):
        self.config = config
        self.name = f"ultralytics:{Path(model).name}"
        self.masker: BoxMasker | None = None
        self.odd_boxes = 0  # number of boxes in all images that were NaN or infinite
        self._source = str(model)
        self._words = tuple(words)
        self._model: Any = None  # model in use, replaced as a whole
        self._spare: Any = None  # model that was opened and has not run yet
        self._vocabulary: Vocabulary | None = None
        self._shape = (480, 640)  # shape of the newest image
        self._cache: PromptCache | None = None
        # stamp of a failed attempt, and its error
        self._failed: tuple[float, DetectorUnavailable] | None = None
        self._building = threading.Lock()

    def check(self) -> None:
        """Check that packages and weights exist, without loading the model. Raises DetectorUnavailable."""
        self._package()
        if Path(self._source).suffix != ".yaml" and not Path(self._source).exists():
            raise DetectorUnavailable(
                f"there are no weights at {Path(self._source).absolute()}: put them there, or name their path"
            )

    def _package(self) -> Any:
        """Return the package ultralytics, after importing torchvision, which it needs.

        Unless the user has set it otherwise, the package may not install others while it runs. Raises
        DetectorUnavailable.
        """
        os.environ.setdefault("YOLO_AUTOINSTALL", "false")
        try:
            import_module("torchvision")
            return import_module("ultralytics")
        except ImportError as error:
            raise DetectorUnavailable(f"this detector needs Ultralytics ({error}); {ADVICE}") from error
        except RuntimeError as error:  # raised by a torchvision of an incompatible build
            raise DetectorUnavailable(f"torch and torchvision do not fit ({error}); {ADVICE}") from error

    @property
    def vocabulary(self) -> Vocabulary:
        """Return the vocabulary: the classes of the weights, or any text if they take prompts.

        May open the file. Raises DetectorUnavailable.
        """
        with self._building:
            return self._known_vocabulary()

    def _known_vocabulary(self) -> Vocabulary:
        if self._vocabulary is None:
            self._spare = self._open()
            is_open = _takes_prompts(self._spare)
            self._vocabulary = Vocabulary(() if is_open else self._names_of(self._spare), is_open)
        return self._vocabulary

    def _names_of(self, model: Any) -> tuple[str, ...]:
        try:
            names = model.names  # an exported model must be loaded for its names
            found = tuple(str(name) for name in (names.values() if isinstance(names, dict) else names))
        except _ERRORS as error:
            raise DetectorUnavailable(f"{self._source} cannot be loaded: {error}") from error
        if not found:
            raise DetectorUnavailable(f"{self._source} names no classes; take weights that do")
        return found

    def look_for(self, words: Sequence[str]) -> None:
        """Search for the words from the next image on, if the weights take prompts. Raises DetectorUnavailable."""
        with self._building:
            if self._known_vocabulary().is_open and (self._model is None or tuple(words) != self._words):
                model = self._made(tuple(words))
                with _told():  # prepare the model here, or the next image would wait
                    self._predict(model, np.zeros((*self._shape, 3), np.uint8))
                self._model, self._words = model, tuple(words)

    def load(self, stamp: float = 0.0) -> Any:
        """Return the model in use, which is loaded at the first call. Raises DetectorUnavailable.

        After a failure, loading is tried again when the stamp is `RETRY` s later.
        """
        with self._building:
            if self._model is None:
                if self._failed is not None and 0.0 < stamp - self._failed[0] < RETRY:
                    # a traceback would keep the images of its frames in memory
                    raise self._failed[1].with_traceback(None)
                try:
                    self._known_vocabulary()
                    self._model = self._made(self._words)
                except DetectorUnavailable as error:
                    self._failed = stamp, error
                    raise
            return self._model

    def _open(self) -> Any:
        """Return the model opened from its file; the package chooses its class, but for descriptions of RT-DETR."""
        self.check()
        package = self._package()
        try:
            return (package.RTDETR if "rtdetr" in Path(self._source).name else package.YOLO)(self._source)
        except _ERRORS as error:
            raise DetectorUnavailable(f"{self._source} cannot be loaded: {error}") from error

    def _made(self, words: tuple[str, ...]) -> Any:
        """Return a new model with the words as prompts."""
        model = self._spare = self._spare or self._open()
        if self._known_vocabulary().is_open:
            if not words:
                raise DetectorUnavailable(
                    f"{Path(self._source).name} looks for what it is told, and has been told no words"
                )
            with _told():
                self._prompt(model, list(words))
        self._spare = None
        return model

    def _prompt(self, model: Any, words: list[str]) -> None:
        inner = model.model
        if not hasattr(inner, "get_text_pe"):  # YOLO-World in older versions of the package
            model.set_classes(words)
            return
        if self._cache is None:
            is_random = Path(self._source).suffix == ".yaml"
            self._cache = PromptCache("" if is_random else digest_of(Path(self._source)))
        vectors = self._cache.vectors(
            words, lambda missing: inner.get_text_pe(missing)[0].detach().float().cpu().numpy()
        )
        embeddings = next(inner.parameters()).new_tensor(vectors)[None]
        if hasattr(inner, "txt_feats"):  # YOLO-World, whose set_classes takes no embeddings
            inner.txt_feats, inner.names = embeddings, words
            _head_of(model).nc = len(words)
        else:
            model.set_classes(words, embeddings)

    def detect(self, stamp: float, rgb: np.ndarray, depth: AlignedDepth | None = None) -> SegmentedFrame:
        """Return the segments of an (H, W, 3) uint8 image. Raises DetectorUnavailable; ValueError for other arrays."""
        if rgb.ndim != 3 or rgb.shape[2] != 3 or rgb.dtype != np.uint8:
            raise ValueError(f"the image must be (H, W, 3) uint8, not {rgb.shape} {rgb.dtype}")
        self._shape = rgb.shape[:2]
        things = self._things(rgb.shape[:2], self._predict(self._model or self.load(stamp), rgb))
        things = with_masks(things, depth, self.masker)
        return segmented(stamp, rgb.shape[:2], things, self.name, self.config.min_pixels)

    def _predict(self, model: Any, rgb: np.ndarray) -> Any:
        config = self.config
        options = {"device": config.device} if config.device else {}
        (result,) = model.predict(
            np.ascontiguousarray(rgb[..., ::-1]),  # Ultralytics expects BGR
            conf=config.confidence,
            iou=config.iou,
            imgsz=config.image_size,
            max_det=config.max_detections,
            retina_masks=True,
            verbose=False,
            **options,
        )
        return result

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


@contextmanager
def _told() -> Iterator[None]:
    """Convert errors of the package inside the block to DetectorUnavailable, with a remedy in the message."""
    try:
        yield
    except _ERRORS as error:
        raise DetectorUnavailable(f"its prompts cannot be encoded ({error}); {TEXT_ADVICE}") from error


def _head_of(model: Any) -> Any:
    """Return the last layer of a loaded model, None for an exported one."""
    layers = getattr(getattr(model, "model", None), "model", None)
    return layers[-1] if layers is not None else None


def _takes_prompts(model: Any) -> bool:
    """Return whether the model takes words as prompts; prompt-free and exported models have fixed words."""
    head = _head_of(model)
    return type(head).__name__.startswith(("YOLOE", "WorldDetect")) and not hasattr(head, "lrpc")
