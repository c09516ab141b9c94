"""Goals at places where the memory last saw what is looked for."""

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
from lodestar.models.english import duration_in_words, the
from lodestar.models.phrases import PhraseBook
from lodestar.query.categories import category_scores
from lodestar.query.verdict import score_query
from lodestar.scene.captions import attributes_of, words_only
from lodestar.scene.category_priors import CategoryPriors
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import Entity, EntityState


class LastSeenGoals:
    """Choose the place at which what is looked for was last seen and probably still is.

    The confidence is the query's score of the thing as it was, times the chance that its kind has not moved for so long
    (`scene/category_priors.py`). Relations hold between the thing as it was and the scene as it is now.
    """

    def __init__(
        self, config: LastSeenGoalConfig, phrases: PhraseBook, priors: CategoryPriors | None = None
    ) -> None:
        self.config, self._phrases = config, phrases
        self._priors = priors or CategoryPriors()
        self._goals: dict[
            int, list[tuple[float, float]]
        ] = {}  # place -> goals (x, y) that were proposed for it
        self._cache: tuple[object, list[tuple[float, LastSeen]]] | None = None

    def begin_task(self) -> None:
        """Forget which goals were proposed: another directive begins."""
        self._goals.clear()

    def propose(
        self,
        expert: str,
        request: ProposalRequest,
        grid: OccupancyGrid2D,
        mirror: SceneMirror,
        remembered: RememberedPlaces,
    ) -> Proposal | None:
        """Return a goal, as this expert, from which the most promising place is faced; None where there is none.

        Places of another map, and of other floors, are left out. Raises MissingPhrases.
        """
        if remembered.map != map_name_of(mirror.map_id, mirror.session_id):
            return None
        config = self.config
        pose = np.asarray(request.robot_pose, np.float64)
        options = []
        for score, place in self._fitting(request.step.graphs, mirror, remembered):
            confidence = config.share * score * self._chance(place, request.stamp)
            if confidence >= config.least and not self._is_spent(place, request.excluded_goals):
                far = float(np.linalg.norm(place.thing.centre[:2] - pose[:2]))
                options.append((confidence - config.distance_weight * far, confidence, place))
        options.sort(key=lambda option: (-option[0], option[2].id))
        reach = Reach(grid, pose, config.reach)
        for _, confidence, place in options[: config.top_n]:
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
        """Return the scores, [0, 1], of the places at which what is meant was seen. Raises MissingPhrases."""
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
        alike = [place for place, fit in zip(places, fits) if fit > self.config.alike]
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
                score = self.config.promising_confidence * candidate.semantic_score if hopeful else 0.0
            if score > 0.0:
                scored.append((float(score), alike[candidate.entity_id - first]))
        return scored

    def _chance(self, place: LastSeen, now: float) -> float:
        """Return the chance that the thing is still there; one of unknown age has half a chance."""
        if place.stamp is None or place.stamp > now + self.config.clock_error:
            return self.config.unknown_age
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
                config.viewpoints, config.approach, mirror,
            )  # fmt: skip
        except NoViewpoint:
            return None
        return np.asarray(found.pose, np.float64)

    def _is_spent(self, place: LastSeen, given_up: Sequence[Sequence[float]]) -> bool:
        """Return whether `tried` of its goals are among the given-up ones (x, y, ...)."""
        goals, near = self._goals.get(place.id, ()), self.config.same_goal
        return (
            sum(any(math.dist(goal, e[:2]) <= near for goal in goals) for e in given_up) >= self.config.tried
        )


def last_seen_in_words(place: LastSeen, now: float) -> str:
    """Return "the red mug was last seen here 3 hours ago"; labels are untrusted, only their words are taken."""
    name = words_only(place.thing.caption) or words_only(place.thing.label) or "thing"
    known = place.stamp is not None and place.stamp <= now
    when = (
        f"{duration_in_words(now - place.stamp)} ago"
        if known and place.stamp is not None
        else "some time ago"
    )
    return f"{the(name)} was last seen here {when}"


def as_entity(identity: int, place: LastSeen, mirror: SceneMirror) -> Entity:
    """Return the thing as it was, for the query."""
    thing, (low, high) = place.thing, place.box
    spread = np.diag(np.maximum(thing.size, 0.01) ** 2 / 12.0)
    return Entity(
        identity, thing.label, thing.caption or thing.label, thing.centre, spread,
        low, high, attributes=attributes_of(thing.caption), region_id=mirror.region_at(thing.centre),
        first_seen=place.stamp or 0.0, last_seen=place.stamp or 0.0,
    )  # fmt: skip
