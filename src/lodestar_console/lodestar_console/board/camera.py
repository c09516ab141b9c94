"""The newest camera image with its detections."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from lodestar_console.protocol import CameraHead


@dataclass(frozen=True)
class CameraShot:
    """One image. jpeg: its bytes, of the size that the head says."""

    revision: int
    head: CameraHead
    jpeg: bytes


class CameraView:
    """The newest shot; an older one is never shown again. Safe for threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._shot: CameraShot | None = None

    @property
    def revision(self) -> int:
        """Return the revision of the newest shot, 0 = none yet."""
        return 0 if self._shot is None else self._shot.revision

    def show(self, head: CameraHead, jpeg: bytes) -> None:
        """Show an image."""
        with self._lock:
            self._shot = CameraShot(self.revision + 1, head, jpeg)

    def since(self, revision: int) -> CameraShot | None:
        """Return the newest shot where it is another than that of a revision."""
        shot = self._shot
        return None if shot is None or shot.revision == revision else shot
