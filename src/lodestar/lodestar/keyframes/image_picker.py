"""Select the images that are offered to the store: those whose instances are known."""

from __future__ import annotations

import math
from collections import deque
from typing import Generic, TypeVar

from lodestar.keyframes.config import PickConfig
from lodestar.timing.stamps import SAME_MOMENT, Periodic

Image = TypeVar("Image")


class ImagePicker(Generic[Image]):
    """Offer only images with known instances: the detector is slower than the camera and skips images.

    Not thread-safe.
    """

    def __init__(self, config: PickConfig = PickConfig()) -> None:
        self._config = config
        self._images: deque[tuple[float, Image]] = deque(maxlen=config.images)
        self._period = Periodic(config.period)
        self.restart_clock()

    def restart_clock(self) -> None:
        """Forget all images: stamps start again."""
        self._images.clear()
        self._period.reset()
        self._told = -math.inf

    def image(self, stamp: float, image: Image) -> Image | None:
        """Take a new image; return it if it is to be offered now."""
        self._images.append((stamp, image))
        waits = abs(stamp - self._told) <= self._config.patience
        return image if not waits and self._period.due(stamp) else None

    def told(self, stamp: float) -> Image | None:
        """Take the stamp of an image whose instances are known; return the image if it is to be offered."""
        self._told = stamp
        near = min(self._images, key=lambda known: abs(known[0] - stamp), default=None)
        if near is None or abs(near[0] - stamp) > SAME_MOMENT or not self._period.due(near[0]):
            return None
        return near[1]
