"""The images of a run that may be offered to a model in a search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np


@dataclass(frozen=True)
class Candidate:
    """An image that may be offered. goal: (3,) x, y, yaw in map, to which it leads. worth: of a frontier, the greater
    the better. labels, caption: untrusted words for what an image of the memory shows.
    """

    keyframe: int
    kind: str
    goal: np.ndarray
    worth: float = 0.0
    labels: tuple[str, ...] = ()
    caption: str = ""


class PictureSource(Protocol):
    """Port of the images of this run: which there are for frontiers and in the memory, and what they look like."""

    def candidates(self) -> Sequence[Candidate]:
        """Return the image of each reachable frontier that has one, and the memory's snapshots."""
        ...

    def image(self, keyframe: int) -> bytes | None:
        """Return an image as a JPEG file, at once; None where there is none (yet)."""
        ...
