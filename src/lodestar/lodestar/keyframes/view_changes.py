"""Changes of what a standing camera shows: a reason to store a view again."""

from __future__ import annotations

import math
from collections.abc import Collection

import numpy as np

from lodestar.keyframes.config import KeyframeConfig


class ViewChanges:
    """Keeps when each instance was last in view, and since when the camera stands. Not thread-safe.

    A camera that moves sees other things all the time, which its pose tells already.
    Something came where the newest stored image of the view does not show it. Something went where that one shows it
    and no image has for `KeyframeConfig.gone_after` seconds: a detector that misses a thing once is no change.
    """

    def __init__(self, config: KeyframeConfig) -> None:
        self._config = config
        self._seen: dict[int, float] = {}
        self._stand: tuple[np.ndarray, float] | None = None  # pose and when it was taken up

    def note(self, stamp: float, pose: np.ndarray, shown: Collection[int]) -> None:
        """Take the pose (4, 4) of an image and the instances that it shows. A clock that was set back begins anew."""
        if self._stand is None or stamp < self._stand[1] or self._has_moved(self._stand[0], pose):
            self._stand = pose, stamp
        if self._seen and stamp < max(self._seen.values()) - self._config.gone_after:
            self._seen.clear()
        self._seen.update(dict.fromkeys(shown, stamp))
        if len(self._seen) > 4 * len(shown) + 1000:  # what has not been seen for long is gone anyhow
            kept = sorted(self._seen, key=self._seen.__getitem__)[-1000:]
            self._seen = {identity: self._seen[identity] for identity in kept}

    def has_changed(self, stamp: float, shown: Collection[int], stored: Collection[int]) -> bool:
        """Return whether an image shows another scene than the newest stored image of its view."""
        if self._stand is None or stamp - self._stand[1] < self._config.change_interval:
            return False
        if not set(stored).issuperset(shown):
            return True
        return any(stamp - self._seen.get(i, -math.inf) >= self._config.gone_after for i in stored)

    def _has_moved(self, before: np.ndarray, pose: np.ndarray) -> bool:
        away = float(np.linalg.norm(pose[:3, 3] - before[:3, 3]))
        turned = float(before[:3, 2] @ pose[:3, 2]) < math.cos(math.radians(self._config.stands_deg))
        return away > self._config.stands or turned
