"""Goals at places where the memory last saw a matching object."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from lodestar.experts.config import LastSeenGoalConfig
from lodestar.experts.facing_places import place_to_face
from lodestar.experts.protocol import Proposal, ProposalRequest
from lodestar.experts.reach import Reach
from lodestar.geometry.poses import planar_transform
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.viewpoints import NoViewpoint
from lodestar.language.query_graph import QueryGraph
from lodestar.memory.last_seen import LastSeen, RememberedPlaces
from lodestar.memory.records import map_name_of
from lodestar.models.category_priors import CategoryPriors
from lodestar.models.english import duration_in_words, the
from lodestar.models.phrases import PhraseBook
from lodestar.query.categories import category_scores
from lodestar.query.verdict import score_query
from lodestar.scene.captions import attributes_of, words_only
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import Entity, EntityState

# category score, 0..1, from which a remembered object is scored by the query; as RECALL_ALIKE
LAST_SEEN_GOAL_ALIKE = 0.5
LAST_SEEN_GOAL_SHARE = 0.9  # factor of its score in the confidence; as RECALL_SHARE
# probability that an object of unknown age is still there; chosen: that after one half-life
LAST_SEEN_GOAL_UNKNOWN_AGE = 0.5
# confidence below which a place is not proposed; chosen: about three half-lives of a full match
LAST_SEEN_GOAL_LEAST = 0.1
# factor of a promising semantic score; as SEMANTIC_MAP_PROMISING_CONFIDENCE
LAST_SEEN_GOAL_PROMISING_CONFIDENCE = 0.55
# confidence per metre of straight distance; as SEMANTIC_MAP_DISTANCE_WEIGHT
LAST_SEEN_GOAL_DISTANCE_WEIGHT = 0.01
LAST_SEEN_GOAL_TOP_N = 3  # places for which a goal is searched, best first; chosen
LAST_SEEN_GOAL_TRIED = 2  # goals of a place that were given up, after which it is not proposed again; chosen
LAST_SEEN_GOAL_SAME_GOAL = 0.25  # metres within which two goals are the same; as GLIMPSE_SAME_GOAL
LAST_SEEN_GOAL_CLOCK_ERROR = 1.0  # seconds by which the last sighting may be newer than the request; chosen


class LastSeenGoals:
    """Chooses the place where a matching object was last seen and probably still is.

    The confidence is the query's score of the remembered object, times the probability that its kind has not moved
    since (`models/category_priors.py`). Relations are evaluated between the remembered object and the current scene.
    """

    def __init__(
        self, config: LastSeenGoalConfig, phrases: PhraseBook, priors: CategoryPriors | None = None
    ) -> None:
        self.config, self._phrases = config, phrases
        self._priors = priors or CategoryPriors()
        self._goals: dict[int, list[tuple[float, float]]] = {}  # place id -> goals (x, y) proposed for it
        self._cache: tuple[object, list[tuple[float, LastSeen]]] | None = None

    def begin_task(self) -> None:
        """Forget the goals proposed so far, because another directive begins."""
        self._goals.clear()

    def propose(
        self,
        expert: str,
        request: ProposalRequest,
        grid: OccupancyGrid2D,
        mirror: SceneMirror,
        remembered: RememberedPlaces,
    ) -> Proposal | None:
        """Return a goal that faces the most promising place; None if there is none. expert: name on the
        proposal.

        Places of another map or another floor are left out. Raises MissingPhrases.
        """
        if remembered.map != map_name_of(mirror.map_id, mirror.session_id):
            return None
        config = self.config
        pose = np.asarray(request.robot_pose, np.float64)
        options = []
        for score, place in self._fitting(request.step.graphs, mirror, remembered):
            confidence = LAST_SEEN_GOAL_SHARE * score * self._chance(place, request.stamp)
            if confidence >= LAST_SEEN_GOAL_LEAST and not self._is_spent(place, request.excluded_goals):
                far = float(np.linalg.norm(place.thing.centre[:2] - pose[:2]))
                options.append((confidence - LAST_SEEN_GOAL_DISTANCE_WEIGHT * far, confidence, place))
        options.sort(key=lambda option: (-option[0], option[2].id))
        reach = Reach(grid, pose, config.reach)
        for _, confidence, place in options[:LAST_SEEN_GOAL_TOP_N]:
            goal = self._goal(request, reach, place, mirror)
            if goal is not None:
                self._goals.setdefault(place.id, []).append((float(goal[0]), float(goal[1])))
                why = last_seen_in_words(place, request.stamp)
                far = float(np.linalg.norm(place.thing.centre[:2] - pose[:2]))
                return Proposal(
                    expert=expert, epoch=request.epoch, goal=goal, confidence=min(confidence, 1.0),
                    rationale=f"{why}, {far:.1f} m away", stamp=place.stamp or 0.0,
                    chance=min(confidence, 1.0), seconds=reach.seconds(goal, verifies=True),
                )  # fmt: skip
        return None

    def _fitting(
        self, graphs: Sequence[QueryGraph], mirror: SceneMirror, remembered: RememberedPlaces
    ) -> list[tuple[float, LastSeen]]:
        """Return (score in [0, 1], place) of the places where matching objects were seen. Raises MissingPhrases."""
        building = mirror.building
        floors = (building.active, building.floors)
        key = (graphs, mirror.session_id, mirror.revision, remembered.revision, len(mirror.regions), floors)
        if self._cache is None or self._cache[0] != key:
            self._cache = key, self._scored(graphs, mirror, remembered)
        return self._cache[1]

    def _scored(
        self, graphs: Sequence[QueryGraph], mirror: SceneMirror, remembered: RememberedPlaces
    ) -> list[tuple[float, LastSeen]]:
        on_floor = mirror.building.is_here
        places = [one for one in remembered.places if on_floor(float(one.thing.centre[2]), float(one.eye[2]))]
        if not places:
            return []
        labels = [place.thing.label for place in places]
        captions = [place.thing.caption for place in places]
        kinds = sorted({graph.target.category for graph in graphs})
        fits = np.max([category_scores(kind, labels, captions, self._phrases) for kind in kinds], axis=0)
        alike = [place for place, fit in zip(places, fits) if fit > LAST_SEEN_GOAL_ALIKE]
        if not alike:
            return []
        present = {i: e for i, e in mirror.entities.items() if e.state is not EntityState.ARCHIVED}
        first = max(mirror.entities, default=0) + 1
        dressed = {i: as_entity(i, place, mirror) for i, place in enumerate(alike, first)}
        found = score_query(
            graphs, present | dressed, self._phrases, self.config.query, mirror.regions, rooms=mirror.rooms
        )
        scored = []
        for candidate in found:
            if candidate.entity_id < first:
                continue
            score = candidate.score
            if score < self.config.query.accept:
                hopeful = candidate.semantic_score >= self.config.query.promising
                score = LAST_SEEN_GOAL_PROMISING_CONFIDENCE * candidate.semantic_score if hopeful else 0.0
            if score > 0.0:
                scored.append((float(score), alike[candidate.entity_id - first]))
        return scored

    def _chance(self, place: LastSeen, now: float) -> float:
        """Return the probability that the object is still there; LAST_SEEN_GOAL_UNKNOWN_AGE if its age is unknown."""
        if place.stamp is None or place.stamp > now + LAST_SEEN_GOAL_CLOCK_ERROR:
            return LAST_SEEN_GOAL_UNKNOWN_AGE
        return self._priors.of(place.thing.label).chance_to_stay(now - place.stamp)

    def _goal(
        self, request: ProposalRequest, reach: Reach, place: LastSeen, mirror: SceneMirror
    ) -> np.ndarray | None:
        config = self.config
        towards = place.thing.centre - place.eye
        yaw = math.atan2(towards[1], towards[0])
        height = float(place.eye[2]) + config.viewpoints.camera_height
        view = planar_transform(float(place.eye[0]), float(place.eye[1]), yaw, height)
        try:
            found = place_to_face(
                reach, request.robot_pose, place.box, [view], request.excluded_goals,
                config.viewpoints, mirror,
            )  # fmt: skip
        except NoViewpoint:
            return None
        return np.asarray(found.pose, np.float64)

    def _is_spent(self, place: LastSeen, given_up: Sequence[Sequence[float]]) -> bool:
        """Return whether at least LAST_SEEN_GOAL_TRIED of the given-up goals (x, y, ...) were proposed for
        this place.
        """
        goals, near = self._goals.get(place.id, ()), LAST_SEEN_GOAL_SAME_GOAL
        return (
            sum(any(math.dist(goal, e[:2]) <= near for goal in goals) for e in given_up)
            >= LAST_SEEN_GOAL_TRIED
        )


def last_seen_in_words(place: LastSeen, now: float) -> str:
    """Return a sentence such as "the red mug was last seen here 3 hours ago". Labels are untrusted; only words are
    kept.
    """
    name = words_only(place.thing.caption) or words_only(place.thing.label) or "thing"
    known = place.stamp is not None and place.stamp <= now
    when = (
        f"{duration_in_words(now - place.stamp)} ago"
        if known and place.stamp is not None
        else "some time ago"
    )
    return f"{the(name)} was last seen here {when}"


def as_entity(identity: int, place: LastSeen, mirror: SceneMirror) -> Entity:
    """Return the remembered object as an entity, for the query."""
    thing, (low, high) = place.thing, place.box
    spread = np.diag(np.maximum(thing.size, 0.01) ** 2 / 12.0)
    return Entity(
        identity, thing.label, thing.caption or thing.label, thing.centre, spread,
        low, high, attributes=attributes_of(thing.caption), region_id=mirror.region_at(thing.centre),
        first_seen=place.stamp or 0.0, last_seen=place.stamp or 0.0,
    )  # fmt: skip
