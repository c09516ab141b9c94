"""Pictures that a search may choose among: those of the explorer's frontiers and the memory's snapshots."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from lodestar.experts.picture_source import Candidate
from lodestar.language.views import FRONTIER, MEMORY
from lodestar.memory.answering.shots import Shot


def frontier_candidates(frontiers: Iterable[tuple[int, np.ndarray | None, float]]) -> list[Candidate]:
    """Return as candidates the frontiers that have an image and a viewpoint.

    frontiers: for each (keyframe, 0 = none; viewpoint (3,) in map, None = none; worth).
    """
    return [
        Candidate(keyframe, FRONTIER, np.asarray(viewpoint, np.float64), worth)
        for keyframe, viewpoint, worth in frontiers
        if keyframe and viewpoint is not None
    ]


def memory_candidates(shots: Iterable[Shot], forward: float) -> list[Candidate]:
    """Return the snapshots as candidates, each with the pose of the robot from which its image was taken.

    forward: metres from the robot's centre to the camera.
    """
    found = []
    for shot in shots:
        if shot.heading is not None and shot.labels:
            ahead = forward * np.array([np.cos(shot.heading), np.sin(shot.heading)])
            goal = np.array([*(shot.position[:2] - ahead), shot.heading])
            found.append(Candidate(shot.image.id, MEMORY, goal, 0.0, shot.labels, shot.caption))
    return found


class SearchPictures:
    """`PictureSource` of a robot whose parts all run in one process.

    frontiers(): returns keyframe, viewpoint and worth of each frontier. shots(): returns the memory's images.
    image(keyframe): returns a JPEG file, None = none. forward: metres from the robot's centre to the camera.
    """

    def __init__(
        self,
        frontiers: Callable[[], Iterable[tuple[int, np.ndarray | None, float]]],
        shots: Callable[[], Sequence[Shot]],
        image: Callable[[int], bytes | None],
        forward: float,
    ) -> None:
        self._frontiers, self._shots, self._image, self._forward = frontiers, shots, image, forward

    def candidates(self) -> Sequence[Candidate]:
        """Return the images that may be offered; see `PictureSource`."""
        return [*frontier_candidates(self._frontiers()), *memory_candidates(self._shots(), self._forward)]

    def image(self, keyframe: int) -> bytes | None:
        """Return an image as a JPEG file; see `PictureSource`."""
        return self._image(keyframe)
