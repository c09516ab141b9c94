"""Detection of changes in the view of a standing camera, after which a view is stored again."""

from __future__ import annotations

import math
from collections.abc import Collection

import numpy as np

from lodestar.keyframes.config import KEYFRAME_CHANGE_INTERVAL

KEYFRAME_STANDS = 0.1  # metres within which a camera stands; chosen
KEYFRAME_STANDS_DEG = 5.0  # degrees within which a standing camera has not turned; chosen
# seconds without a detection after which an object has gone from the view; chosen: ten images
KEYFRAME_GONE_AFTER = 2.0


class ViewChanges:
    """Stores when each instance was last in view, and since when the camera stands still. Not thread-safe.

    A moving camera is not examined, because images from new poses are stored anyway. An object has appeared
    if the newest stored image of the view does not show it. An object has gone if that image shows it and no
    image has for KEYFRAME_GONE_AFTER seconds: a single missed detection is no change.
    """

    def __init__(self) -> None:
        self._seen: dict[int, float] = {}
        self._stand: tuple[np.ndarray, float] | None = None  # pose of the standing camera, first stamp

    def note(self, stamp: float, pose: np.ndarray, shown: Collection[int]) -> None:
        """Add the pose (4, 4) of an image and the instances in it. Starts anew if the clock was set back."""
        if self._stand is None or stamp < self._stand[1] or self._has_moved(self._stand[0], pose):
            self._stand = pose, stamp
        if self._seen and stamp < max(self._seen.values()) - KEYFRAME_GONE_AFTER:
            self._seen.clear()
        self._seen.update(dict.fromkeys(shown, stamp))
        if len(self._seen) > 4 * len(shown) + 1000:  # instances unseen for long count as gone anyway
            kept = sorted(self._seen, key=self._seen.__getitem__)[-1000:]
            self._seen = {identity: self._seen[identity] for identity in kept}

    def has_changed(self, stamp: float, shown: Collection[int], stored: Collection[int]) -> bool:
        """Return whether the view differs from its newest stored image.

        shown: instances in the view. stored: instances in that image.
        """
        if self._stand is None or stamp - self._stand[1] < KEYFRAME_CHANGE_INTERVAL:
            return False
        if not set(stored).issuperset(shown):
            return True
        return any(stamp - self._seen.get(i, -math.inf) >= KEYFRAME_GONE_AFTER for i in stored)

    def _has_moved(self, before: np.ndarray, pose: np.ndarray) -> bool:
        away = float(np.linalg.norm(pose[:3, 3] - before[:3, 3]))
        turned = float(before[:3, 2] @ pose[:3, 2]) < math.cos(math.radians(KEYFRAME_STANDS_DEG))
        return away > KEYFRAME_STANDS or turned
