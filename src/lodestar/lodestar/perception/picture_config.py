"""Configuration for reading uploaded pictures of a target."""

from __future__ import annotations

from dataclasses import dataclass, field

from lodestar.models.config import VisionChatConfig
from lodestar.perception.config import OnnxConfig, UltralyticsConfig, WordsConfig

ADAPTERS = ("none", "detector", "model")

#: Detectors that cannot read a picture file, and why.
_BLIND = {
    "ground_truth": "it knows only the label images of a simulator",
    "geometric": "it needs depth, and names nothing",
}


@dataclass(frozen=True)
class PictureConfig:
    """Size limits of uploaded pictures; they bound memory and time."""

    max_bytes: int = 20_000_000  # of a file; chosen


@dataclass(frozen=True)
class PictureDetectorConfig:
    """Configuration of the detector that reads pictures, like that of `perception`."""

    adapter: str = "ultralytics"  # or onnx: the detectors that read picture files
    model: str = ""  # path of the network, as that of perception
    words: WordsConfig = field(default_factory=WordsConfig)  # as those of perception
    onnx: OnnxConfig = field(default_factory=OnnxConfig)
    ultralytics: UltralyticsConfig = field(default_factory=UltralyticsConfig)

    def __post_init__(self) -> None:
        if self.adapter not in ("onnx", "ultralytics", *_BLIND):
            raise ValueError(f"adapter is {self.adapter!r}; only onnx and ultralytics can read pictures")


@dataclass(frozen=True)
class PicturesConfig:
    """Configuration of the reader that describes uploaded pictures of the target."""

    # none: pictures are rejected with a reason; detector: as in perception; model: a vision model behind `chat`
    adapter: str = "none"
    limit: int = 5  # pictures of one directive; chosen
    file: PictureConfig = field(default_factory=PictureConfig)
    detector: PictureDetectorConfig = field(default_factory=PictureDetectorConfig)
    chat: VisionChatConfig = field(default_factory=VisionChatConfig)

    def __post_init__(self) -> None:
        if self.adapter not in ADAPTERS:
            raise ValueError(f"adapter is {self.adapter!r}; it is one of {', '.join(ADAPTERS)}")
        if self.adapter != "detector":
            return
        if self.detector.adapter in _BLIND:
            raise ValueError(
                f"detector.adapter {self.detector.adapter} cannot read a picture: {_BLIND[self.detector.adapter]}; "
                "set detector.adapter to onnx (`make detector`) or ultralytics, or adapter to model or none"
            )
        if self.detector.adapter == "ultralytics" and not self.detector.model:
            raise ValueError("adapter detector needs detector.model, such as yoloe-11s-seg.pt")
