"""Questions to a reasoner about one view, and its answers (RoboAtlas IV-F)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

GO = "GO"  # the turns are TURN_LEFT, TURN_RIGHT and TURN_AROUND (eq. 21)
PICTURE = "PICTURE"  # to where an offered picture leads (SnapMem 3.3)
FRONTIER, MEMORY = "frontier of the known", "memory"  # kinds of offered pictures


@dataclass(frozen=True)
class ViewPoint:
    """A numbered mark on the image and the place behind it.

    what, label: untrusted words for the thing there and its kind, "" = a place. pixel: column, row. position: (3,) map,
    metres. box_min, box_max: (3,) of the thing, None for a place. bearing: radians, left positive. score: what the
    query says of the thing, [0, 1], 0 = not worth going to.
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
    """A picture of elsewhere to which the robot may go (SnapMem 3.3). keyframe: its id. kind: FRONTIER, beyond which
    nothing is known, or MEMORY, of things that are. goal: (3,) x, y, yaw in map, where it leads. distance: metres.
    things: untrusted words for what it shows. image: a JPEG file.
    """

    keyframe: int
    kind: str
    goal: np.ndarray
    distance: float
    image: bytes
    things: tuple[str, ...] = ()


@dataclass(frozen=True)
class ViewQuestion:
    """target, neighbors, constraints: phrases of the step and of what holds meanwhile. turns: those that would show
    something new. openness: of each turn, [0, 1]. pose: (3,) of the robot in map. stamp: of the image, seconds. image:
    the annotated view as a JPEG file, b"" = none. pictures: of elsewhere, to which it may go as well.
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
        """Name of the image, which an answer must repeat: its stamp in seconds."""
        return f"{self.stamp:.3f}"


@dataclass(frozen=True)
class ViewAnswer:
    """scores: of every point by number, [0, 1]. action: GO, PICTURE, one of the question's turns, or "" = neither.
    picture: number of the picture that is chosen, from 1; 0 = none.

    question: what it answers, its image among it. description: untrusted words for the view.
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
        """Return the picture to whose place it says to go."""
        return self.question.pictures[self.picture - 1] if self.action == PICTURE else None
