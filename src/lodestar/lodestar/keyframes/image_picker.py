"""Which images are offered to the store: those of which it is known what they show."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import Generic, TypeVar

Image = TypeVar("Image")
SAME = 1e-4  # s, within which two stamps are of one image


@dataclass(frozen=True)
class PickConfig:
    """Seconds of stamps. period: between two offers. patience: without word of any instances, from which every image

    is offered: nobody detects anything then. images: remembered while their instances are worked out.
    """

    period: float = 0.2
    patience: float = 2.0
    images: int = 20

    def __post_init__(self) -> None:
        if self.period < 0.0 or self.patience < 0.0 or self.images < 1:
            raise ValueError("period and patience are not negative, and at least one image is remembered")


class ImagePicker(Generic[Image]):
    """A detector is slower than the camera: an image that it left out would be a keyframe without instances.

    Not safe for threads.
    """

    def __init__(self, config: PickConfig = PickConfig()) -> None:
        self._config = config
        self._images: deque[tuple[float, Image]] = deque(maxlen=config.images)
        self.restart()

    def restart(self) -> None:
        """Stamps start anew."""
        self._images.clear()
        self._next = self._told = -math.inf

    def image(self, stamp: float, image: Image) -> Image | None:
        """An image has come; itself where it is to be offered now."""
        if stamp - self._told <= self._config.patience:
            self._images.append((stamp, image))
            return None
        self._images.append((stamp, image))
        return self._due(stamp, image)

    def told(self, stamp: float) -> Image | None:
        """The instances of the image of this stamp are known; the image where it is to be offered."""
        self._told = max(self._told, stamp)
        for known, image in reversed(self._images):
            if abs(known - stamp) < SAME:
                return self._due(stamp, image)
        return None

    def _due(self, stamp: float, image: Image) -> Image | None:
        if stamp < self._next - SAME:
            return None
        self._next = stamp + self._config.period
        return image
