"""Describes a directive's pictures on a worker; the executor fetches the results."""

from __future__ import annotations

import queue
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from lodestar.assembly import perception_parts
from lodestar.language.directive import Directive, Item
from lodestar.language.model_reasoner import ModelPictures
from lodestar.language.picture_goals import DetectedPictures, PictureReader, pictures_only, with_pictures
from lodestar.models.chat import ChatUnavailable, OpenAiChat
from lodestar.models.config import ChatConfig
from lodestar.perception.config import UltralyticsConfig
from lodestar.perception.frames import Detector
from lodestar.perception.pictures import BadPicture, PictureConfig, decode_picture
from lodestar_ros.workers import QueueWorker

ADAPTERS = ("none", "detector", "model")

#: Detectors of perception that cannot read a picture file, and why.
_BLIND = {
    "ground_truth": "it knows only the label images of a simulator",
    "geometric": "it needs depth, and names nothing",
}


@dataclass(frozen=True)
class PictureDetectorConfig:
    """The detector that reads pictures, configured like that of `perception`."""

    adapter: str = "ultralytics"  # the only detector that reads picture files
    model: str = ""  # path of weights; required by PicturesConfig.adapter detector
    ultralytics: UltralyticsConfig = field(default_factory=UltralyticsConfig)

    def __post_init__(self) -> None:
        if self.adapter != "ultralytics" and self.adapter not in _BLIND:
            raise ValueError(f"adapter is {self.adapter!r}; only ultralytics can read pictures")


@dataclass(frozen=True)
class PicturesConfig:
    """The describer of pictures of the target."""

    # none: pictures are rejected with a reason; detector: as in perception; model: a vision model behind `chat`
    adapter: str = "none"
    limit: int = 5  # pictures of one directive; chosen
    file: PictureConfig = field(default_factory=PictureConfig)
    detector: PictureDetectorConfig = field(default_factory=PictureDetectorConfig)
    chat: ChatConfig = field(default_factory=ChatConfig)

    def __post_init__(self) -> None:
        if self.adapter not in ADAPTERS:
            raise ValueError(f"adapter is {self.adapter!r}; it is one of {', '.join(ADAPTERS)}")
        if self.adapter != "detector":
            return
        if self.detector.adapter in _BLIND:
            raise ValueError(
                f"detector.adapter {self.detector.adapter} cannot read a picture: {_BLIND[self.detector.adapter]}; "
                "set detector.adapter to ultralytics and detector.model to the path of weights, or adapter to model "
                "or none"
            )
        if not self.detector.model:
            raise ValueError("adapter detector needs detector.model, such as yoloe-11s-seg.pt")


def picture_reader(
    config: PicturesConfig,
    detector_of: Callable[[str, UltralyticsConfig], Detector] = perception_parts.picture_detector,
) -> PictureReader:
    """Says what a picture file shows, or why it cannot. Nothing is loaded or connected to before the first."""
    if config.adapter == "model":
        return ModelPictures(OpenAiChat(config.chat), config.file)
    if config.adapter == "detector":
        return DetectedPictures(detector_of(config.detector.model, config.detector.ultralytics), config.file)
    return lambda image: _unread(image, config.file)


def _unread(image: bytes, config: PictureConfig) -> Item:
    decode_picture(image, config)
    raise BadPicture(
        "no picture reader is configured: set pictures.adapter of goal_selector and memory to detector or model "
        "(docs/how-to/send-a-goal.md), or describe the target in words"
    )


def pictures_of(directive: Directive) -> tuple[bytes, ...]:
    """The pictures of its steps' own items."""
    return tuple(image for step in directive.steps if step.item is not None for image in step.item.images)


class PictureDesk:
    """Replace the pictures of directives by words."""

    def __init__(self, config: PicturesConfig, read: PictureReader | None = None) -> None:
        self._config = config
        self._read = read or picture_reader(config)
        self._done: queue.SimpleQueue = queue.SimpleQueue()
        self._worker: QueueWorker | None = None

    def submit(self, ticket: Any, directive: Directive | None, images: tuple[bytes, ...]) -> None:
        """Have pictures described; without a directive they are one. Raises BadPicture for too many."""
        count = len(images) + (len(pictures_of(directive)) if directive is not None else 0)
        if count > self._config.limit:
            raise BadPicture(f"the directive has {count} pictures; at most {self._config.limit} are allowed")
        if self._worker is None:
            self._worker = QueueWorker("pictures", self._work)
        self._worker.submit((ticket, directive, images))

    def take(self) -> list[tuple[Any, Directive | BadPicture]]:
        """Return the tickets done since the last call, with their directive or the error."""
        done = []
        while True:
            try:
                done.append(self._done.get_nowait())
            except queue.Empty:
                return done

    def _work(self, item: tuple[Any, Directive | None, tuple[bytes, ...]]) -> None:
        ticket, directive, images = item
        outcome: Directive | BadPicture
        try:
            if directive is None:
                outcome = pictures_only(images, self._read)
            else:
                outcome = with_pictures(directive, images, self._read)
        except BadPicture as error:
            outcome = error
        except ChatUnavailable as error:
            outcome = BadPicture(f"the vision model cannot be asked what the picture shows: {error}")
        except Exception as error:  # the client needs a result in every case
            outcome = BadPicture(f"the picture could not be described: {error.__class__.__name__}")
        self._done.put((ticket, outcome))
