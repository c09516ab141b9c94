"""Makes what reads the pictures of a target; its configuration is that of the nodes that take pictures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from lodestar.assembly.perception_parts import picture_detector
from lodestar.language.directive import Item
from lodestar.language.model_reasoner import ModelPictures
from lodestar.language.picture_goals import DetectedPictures, PictureReader
from lodestar.models.chat import OpenAiChat
from lodestar.models.config import ChatConfig
from lodestar.perception.config import UltralyticsConfig
from lodestar.perception.frames import Detector
from lodestar.perception.pictures import BadPicture, PictureConfig, decode_picture

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
    detector_of: Callable[[str, UltralyticsConfig], Detector] = picture_detector,
) -> PictureReader:
    """Return the reader of picture files. Nothing is loaded or connected to before the first picture."""
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
