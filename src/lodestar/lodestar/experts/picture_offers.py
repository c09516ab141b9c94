"""Pictures of other places that a model may choose as goals: of frontiers and of the memory (SnapMem 3.3)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from lodestar.experts.config import OfferConfig
from lodestar.experts.picture_source import Candidate, PictureSource
from lodestar.experts.protocol import ProposalRequest
from lodestar.experts.reach import Reach
from lodestar.geometry.poses import wrap_angle
from lodestar.language.views import FRONTIER, MEMORY, Offered
from lodestar.memory.snapshots.prefilter import Described, Prefilter
from lodestar.models.phrases import MissingPhrases, PhraseBook

# pictures of the memory, at most; chosen: SnapMem keeps 3 to 5; here the scene's entities replace some
OFFER_MEMORIES = 2
OFFER_BEEN = 0.7  # metres from a picture's goal within which it counts as visited; chosen
# metres within which a goal is the same as an excluded one; as STOP_SAME_GOAL_DISTANCE
OFFER_SAME_GOAL = 0.35
# radians within which a goal is the same as an excluded one; as STOP_SAME_GOAL_ANGLE
OFFER_SAME_ANGLE = math.radians(40.0)


@dataclass
class Offers:
    """Selects the pictures to offer: the best frontiers, and images of the memory that show one of the K categories
    most relevant to the target. A place visited in this task is not offered again.
    """

    config: OfferConfig
    phrases: PhraseBook
    source: PictureSource | None = None
    _been: set[tuple[str, int]] = field(default_factory=set)
    _last: tuple[Offered, ...] = ()
    _asked: tuple[int, float] | None = None  # (epoch, stamp) of the request for which all pictures were found

    def forget(self) -> None:
        """Reset the per-task state."""
        self._been, self._last, self._asked = set(), (), None

    def of(self, request: ProposalRequest, reach: Reach) -> tuple[Offered, ...]:
        """Return the pictures to offer for a request, frontiers first; () without a source."""
        if self.source is None or not self.config.pictures:
            return ()
        if self._asked == (request.epoch, request.stamp):  # repeated request of a thinking expert
            return self._last
        pose = request.robot_pose
        self._been |= {
            (one.kind, one.keyframe) for one in self._last if math.dist(one.goal[:2], pose[:2]) <= OFFER_BEEN
        }
        known = self.source.candidates()
        lengths = {id(c): _length(reach, c.goal) for c in known}
        usable = [
            c for c in known
            if (c.kind, c.keyframe) not in self._been and math.isfinite(lengths[id(c)])
            and not _is_excluded(c.goal, request.excluded_goals)
        ]  # fmt: skip
        memories = self._that_matter(request.task.target, [c for c in usable if c.kind == MEMORY])
        memories = memories[: min(OFFER_MEMORIES, self.config.pictures)]
        frontiers = sorted((c for c in usable if c.kind == FRONTIER), key=lambda c: (-c.worth, c.keyframe))
        chosen = [*_each_once(frontiers, self.config.pictures - len(memories)), *memories]
        offered = []
        for one in chosen:
            image = self.source.image(one.keyframe)
            if image:
                offered.append(Offered(one.keyframe, one.kind, one.goal, lengths[id(one)], image, one.labels))
        self._last = tuple(offered)
        self._asked = (request.epoch, request.stamp) if len(offered) == len(chosen) else None
        return self._last

    def _that_matter(self, target: str, memories: Sequence[Candidate]) -> list[Candidate]:
        by_id = {one.keyframe: one for one in memories if one.labels}
        described: Mapping[int, Described] = {k: Described(c.labels, c.caption) for k, c in by_id.items()}
        try:
            return [by_id[k] for k in Prefilter(self.phrases).choose(target, described)]
        except MissingPhrases:  # requested; until they arrive only frontiers are offered
            return []


def _each_once(candidates: Iterable[Candidate], most: int) -> list[Candidate]:
    """Return the first candidates with different images, `most` at most."""
    found: dict[int, Candidate] = {}
    for one in candidates:
        if len(found) < most:
            found.setdefault(one.keyframe, one)
    return list(found.values())


def _length(reach: Reach, goal: np.ndarray) -> float:
    """Return the metres of path to a goal (3,); inf if it is unreachable."""
    if not np.isfinite(goal).all():
        return math.inf
    cell = reach.grid.cells_of(goal[:2])
    return float(reach.possible[tuple(cell)]) if reach.grid.contains(cell) else math.inf


def _is_excluded(goal: np.ndarray, excluded: Sequence[tuple[float, float, float]]) -> bool:
    return any(
        math.dist(goal[:2], other[:2]) <= OFFER_SAME_GOAL
        and abs(float(wrap_angle(goal[2] - other[2]))) <= OFFER_SAME_ANGLE
        for other in excluded
    )
