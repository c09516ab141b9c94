"""Questions to a reasoner about one view, and its answers (RoboAtlas IV-F)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

GO = "GO"  # go to a mark; the turns are TURN_LEFT, TURN_RIGHT and TURN_AROUND (eq. 21)
PICTURE = "PICTURE"  # go to the place of an offered picture (SnapMem 3.3)
FRONTIER, MEMORY = "frontier of the known", "memory"  # kinds of offered pictures


@dataclass(frozen=True)
class ViewPoint:
    """A numbered mark on the camera image, and the object or place that it marks.

    what, label: untrusted words for the object and its kind, "" = a place. pixel: column, row.
    position: (3,) metres, map frame. box_min, box_max: (3,) of the object, None for a place. bearing:
    radians, left positive. score: the query's score of the object, [0, 1], 0 = not worth a visit.
    """

    number: int
    what: str
    pixel: tuple[float, float]
    position: np.ndarray
    distance: float
    bearing: float
    score: float = 0.0
    label: str = ""
    box_min: np.ndarray | None = None
    box_max: np.ndarray | None = None


@dataclass(frozen=True)
class Offered:
    """A picture of another place that the robot may go to (SnapMem 3.3). keyframe: its id. kind: FRONTIER
    (unknown space beyond) or MEMORY (known objects). goal: (3,) x, y, yaw in map. distance: metres. things:
    untrusted words for the objects shown. image: a JPEG file.
    """

    keyframe: int
    kind: str
    goal: np.ndarray
    distance: float
    image: bytes
    things: tuple[str, ...] = ()


@dataclass(frozen=True)
class ViewQuestion:
    """A question about one camera view. target, neighbors, constraints: phrases of the step and its
    constraints. turns: directions in which the robot may turn towards unknown space. openness: of each turn,
    [0, 1]. pose: (3,) of the robot in map. stamp: of the image, seconds. image: the annotated view as a JPEG
    file, b"" = none. pictures: of other places to go to.
    """

    stamp: float
    pose: np.ndarray
    target: str
    neighbors: tuple[str, ...]
    constraints: tuple[str, ...]
    points: tuple[ViewPoint, ...]
    turns: tuple[str, ...] = ()
    openness: dict[str, float] = field(default_factory=dict)
    image: bytes = b""
    pictures: tuple[Offered, ...] = ()

    @property
    def name(self) -> str:
        """Return the name of the image, its stamp in seconds, which an answer must repeat."""
        return f"{self.stamp:.3f}"


@dataclass(frozen=True)
class ViewAnswer:
    """A reasoner's answer. scores: of every point by number, [0, 1]. action: GO, PICTURE, one of the
    question's turns, or "" = none. picture: number of the chosen picture, from 1; 0 = none.

    question: the question answered. description: untrusted words for the view.
    """

    question: ViewQuestion
    scores: dict[int, float]
    action: str
    description: str = ""
    rationale: str = ""
    by: str = "offline"
    picture: int = 0

    @property
    def chosen(self) -> Offered | None:
        """Return the picture whose place the robot should go to, None if no picture was chosen."""
        return self.question.pictures[self.picture - 1] if self.action == PICTURE else None
