"""Selection of the images offered to the keyframe store: those whose object instances are known."""

from __future__ import annotations

import math
from collections import deque
from typing import Generic, TypeVar

from lodestar.keyframes.config import PickConfig
from lodestar.timing.stamps import SAME_MOMENT, Periodic

PICK_PERIOD = 0.2  # seconds between two offers; chosen: that of `KeyframeConfig.interval`
# seconds without any instances after which every image is offered, because no detector runs; chosen: ten periods
PICK_PATIENCE = 2.0

Image = TypeVar("Image")


class ImagePicker(Generic[Image]):
    """Selects the images to offer to the keyframe store: those whose instances are known. Not thread-safe.

    The detector is slower than the camera and skips images. If no instances came for PICK_PATIENCE seconds,
    any image is selected.
    """

    def __init__(self, config: PickConfig = PickConfig()) -> None:
        self._images: deque[tuple[float, Image]] = deque(maxlen=config.images)
        self._period = Periodic(PICK_PERIOD)
        self.restart_clock()

    def restart_clock(self) -> None:
        """Forget all images, because stamps start again."""
        self._images.clear()
        self._period.reset()
        self._told = -math.inf

    def image(self, stamp: float, image: Image) -> Image | None:
        """Add a new image; return it if it should be offered now, else None."""
        self._images.append((stamp, image))
        waits = abs(stamp - self._told) <= PICK_PATIENCE
        return image if not waits and self._period.due(stamp) else None

    def told(self, stamp: float) -> Image | None:
        """Record that the instances of the image with this stamp are known.

        Returns that image if it should be offered, else None.
        """
        self._told = stamp
        near = min(self._images, key=lambda known: abs(known[0] - stamp), default=None)
        if near is None or abs(near[0] - stamp) > SAME_MOMENT or not self._period.due(near[0]):
            return None
        return near[1]
