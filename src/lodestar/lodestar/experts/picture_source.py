"""Port to the images that may be offered to a model during a search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np


@dataclass(frozen=True)
class Candidate:
    """An image that may be offered. goal: (3,) x, y, yaw in map, place to go to if the image is chosen.
    worth: rank of a frontier, greater is better. labels, caption: untrusted words for the content of a memory
    image.
    """

    keyframe: int
    kind: str
    goal: np.ndarray
    worth: float = 0.0
    labels: tuple[str, ...] = ()
    caption: str = ""


class PictureSource(Protocol):
    """Port to the images of this run: those of frontiers and those in the memory."""

    def candidates(self) -> Sequence[Candidate]:
        """Return the image of each reachable frontier that has one, and the memory's snapshots."""

    def image(self, keyframe: int) -> bytes | None:
        """Return an image as a JPEG file without waiting; None if there is none (yet)."""
