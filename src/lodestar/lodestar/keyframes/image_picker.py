"""Select the images that are offered to the store: those whose instances are known."""

from __future__ import annotations

import math
from collections import deque
from typing import Generic, TypeVar

from lodestar.keyframes.config import PickConfig

Image = TypeVar("Image")
SAME = 1e-4  # seconds; stamps closer than this belong to the same image


class ImagePicker(Generic[Image]):
    """Offer only images with known instances: the detector is slower than the camera and skips images.

    Not thread-safe.
    """

    def __init__(self, config: PickConfig = PickConfig()) -> None:
        self._config = config
        self._images: deque[tuple[float, Image]] = deque(maxlen=config.images)
        self.restart()

    def restart(self) -> None:
        """Forget all images: stamps start again."""
        self._images.clear()
        self._next = self._told = -math.inf

    def image(self, stamp: float, image: Image) -> Image | None:
        """Take a new image; return it if it is to be offered now."""
        if stamp - self._told <= self._config.patience:
            self._images.append((stamp, image))
            return None
        self._images.append((stamp, image))
        return self._due(stamp, image)

    def told(self, stamp: float) -> Image | None:
        """Take the stamp of an image whose instances are known; return the image if it is to be offered."""
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
