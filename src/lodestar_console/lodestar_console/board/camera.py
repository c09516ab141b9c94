"""The newest camera image with its detections."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from lodestar_console.protocol import CameraHead


@dataclass(frozen=True)
class CameraShot:
    """One image. jpeg: encoded image, of the size stated in the head."""

    revision: int
    head: CameraHead
    jpeg: bytes


class CameraView:
    """Holder of the newest camera image. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._shot: CameraShot | None = None

    @property
    def revision(self) -> int:
        """Return the revision of the newest image, 0 = none yet."""
        return 0 if self._shot is None else self._shot.revision

    def show(self, head: CameraHead, jpeg: bytes) -> None:
        """Replace the newest image."""
        with self._lock:
            self._shot = CameraShot(self.revision + 1, head, jpeg)

    def since(self, revision: int) -> CameraShot | None:
        """Return the newest image, None if its revision is `revision` or there is none."""
        shot = self._shot
        return None if shot is None or shot.revision == revision else shot
