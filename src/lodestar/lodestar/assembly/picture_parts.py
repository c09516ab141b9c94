"""Makes what reads the pictures of a target."""

from __future__ import annotations

from collections.abc import Callable

from lodestar.assembly.perception_parts import picture_detector
from lodestar.language.directive import Item
from lodestar.language.model_reasoner import ModelPictures
from lodestar.language.picture_goals import DetectedPictures, PictureReader
from lodestar.models.chat import OpenAiChat
from lodestar.perception.config import UltralyticsConfig
from lodestar.perception.frames import Detector
from lodestar.perception.picture_config import PictureConfig, PicturesConfig
from lodestar.perception.pictures import BadPicture, decode_picture


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
        "no picture reader is configured: set shared.pictures.adapter to detector or model "
        "(docs/how-to/send-a-goal.md), or describe the target in words"
    )
