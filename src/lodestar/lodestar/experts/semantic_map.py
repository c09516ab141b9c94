"""Semantic-map expert: a pose that faces the matching entity (RoboAtlas IV-E), else its last-seen or likely place."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lodestar.experts.config import SemanticMapConfig
from lodestar.experts.descriptions import DescriptionMemory, SceneDescription
from lodestar.experts.facing_places import FacingPlace, place_to_face
from lodestar.experts.last_seen_goals import LastSeenGoals
from lodestar.experts.likely_places import LikelyPlaces, mean_within
from lodestar.experts.protocol import PlaceMemory, Proposal, ProposalRequest, Rejection, RejectionReason
from lodestar.experts.reach import Reach
from lodestar.experts.tasks import TaskWatch
from lodestar.experts.unseen_floor import wanted_neighbours
from lodestar.geometry.camera import PinholeCamera
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.viewpoints import NoViewpoint
from lodestar.language.directive import Step
from lodestar.language.query_graph import QueryGraph
from lodestar.language.reasoner import Judgement, OfflineReasoner, RankRequest, Reasoner
from lodestar.models.category_priors import CategoryPriors
from lodestar.models.english import duration_in_words, listed, the
from lodestar.models.phrases import MissingPhrases, PhraseBook
from lodestar.query.answer_pose import AnswerPose, AnswerPoseConfig, saved_pose
from lodestar.query.explanations import reasons
from lodestar.query.verdict import Candidate, PoolCache, score_pool
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import Entity, EntityState

SEMANTIC_MAP_TOP_N = 5  # candidates that are tried, best first (RoboAtlas eq. 20); chosen
# score per metre of path; chosen: of two equal matches the nearer one is preferred
SEMANTIC_MAP_DISTANCE_WEIGHT = 0.01
SEMANTIC_MAP_PROMISING_CONFIDENCE = 0.55  # factor of the confidence of a promising entity's proposal; chosen
# score of a relation from which a view from nearer may make it true: boxes of things seen in part are too small; chosen
SEMANTIC_MAP_HALF_TRUE = 0.4
# metres around a promising entity within which a named neighbour may have been overlooked; chosen
SEMANTIC_MAP_SURROUNDINGS = 1.5
SEMANTIC_MAP_TARGET_SIMILARITY = 0.3  # delta_T of RoboAtlas eq. 18, a cosine; chosen
SEMANTIC_MAP_NEIGHBOR_SIMILARITY = 0.3  # delta_N of RoboAtlas eq. 18, a cosine; chosen
# metres between footprint and box within which the best saved view of the entity is the goal; 0 = never (DESIGN
# section 3)
SEMANTIC_MAP_SAVED_DISTANCE = 0.85
# a language model's confidence from which an entity is accepted that the query alone rejects; chosen
SEMANTIC_MAP_SURE = 0.6
# a language model's confidence below which an entity is rejected that the query alone accepts; chosen
SEMANTIC_MAP_UNSURE = 0.2

_STALE = 0.5  # probability of being in place, below which an object may have moved; chosen: a half-life
_LEAST_STANDING = 0.1  # minimum factor, so that a doubted target is still visited; chosen


@dataclass(frozen=True)
class _Choice:
    """A candidate and the reasoner's judgement."""

    candidate: Candidate
    judgement: Judgement

    @property
    def entity_id(self) -> int:
        return self.candidate.entity_id

    @property
    def score(self) -> float:
        """Return the language model's confidence if there is one, else the query's score."""
        judged = self.judgement.by != OfflineReasoner.name
        return self.judgement.confidence if judged else self.candidate.score


class SemanticMapExpert:
    """Proposes a viewpoint of the best matching entity, else of the place where the memory last saw a match, else of
    a likely place.

    reasoner: ranks the candidates (eq. 19); offline by default. priors: how often kinds of objects move; the packaged
    table by default.
    """

    name = "semantic_map"

    def __init__(
        self,
        config: SemanticMapConfig,
        phrases: PhraseBook,
        reasoner: Reasoner | None = None,
        priors: CategoryPriors | None = None,
    ) -> None:
        self.config = config
        self._phrases = phrases
        self._reasoner = reasoner or OfflineReasoner()
        self._task = TaskWatch(self._begin_task)
        self._memory: PlaceMemory | None = None
        self._priors = priors or CategoryPriors()
        self._last_seen = LastSeenGoals(config.last_seen, phrases, self._priors)
        self._likely = LikelyPlaces(config.likely, phrases, config.reach, config.viewpoints)
        self._descriptions = DescriptionMemory()
        self._pools = PoolCache()
        self._cache: tuple[object, list[Candidate]] | None = None
        self._grid: OccupancyGrid2D | None = None
        self._mirror: SceneMirror | None = None

    def _begin_task(self) -> None:
        self._reasoner.begin_task()
        self._last_seen.begin_task()

    def set_grid(self, grid: OccupancyGrid2D) -> None:
        """Plan on this grid."""
        self._grid = grid
        self._likely.set_grid(grid)

    def add_view(self, map_from_camera: np.ndarray, camera: PinholeCamera, stamp: float) -> None:
        """Record a view from this (4, 4) pose (optical frame)."""
        self._likely.add_view(map_from_camera, camera, stamp)

    def set_scene(self, mirror: SceneMirror) -> None:
        """Use the entities of this mirror, which may change in place."""
        self._mirror = mirror

    def use_memory(self, memory: PlaceMemory | None) -> None:
        """Set the memory to query for last-seen places; None = none."""
        self._memory = memory

    def hear(self, description: SceneDescription) -> None:
        """Store the egocentric expert's description of a view as context for the reasoner (D_scene)."""
        self._descriptions.add(description)

    def propose(self, request: ProposalRequest) -> Proposal | Rejection:
        """Return the best viewpoint of the best entity; NO_VIEWPOINT if an accepted entity cannot be faced."""
        if self._grid is None or self._mirror is None:
            what = "grid" if self._grid is None else "scene"
            return self._reject(request, RejectionReason.NO_DATA, f"no {what} yet")
        graphs = request.step.graphs
        if not graphs:
            return self._reject(request, RejectionReason.NO_PROPOSAL, "nothing particular is looked for")
        self._task.see(request)
        entities = {i: e for i, e in self._mirror.entities.items() if e.state is not EntityState.ARCHIVED}
        try:
            ranked = self._ranked(request, entities)
        except MissingPhrases as missing:
            return self._reject(request, RejectionReason.NO_DATA, str(missing))
        choices = [c for c in ranked if c.entity_id not in request.excluded_entities]
        answer = self._best(request, choices, entities)
        if isinstance(answer, Proposal) or answer.reason is RejectionReason.NO_VIEWPOINT:
            return answer
        place = self._past(request, self._grid, self._mirror)
        return place or self._likely.propose(self.name, request, self._grid, self._mirror) or answer

    def _past(self, request: ProposalRequest, grid: OccupancyGrid2D, mirror: SceneMirror) -> Proposal | None:
        """Return a goal at the place where the memory last saw the target; None if there is none or a phrase
        has no vector.
        """
        remembered = None if self._memory is None else self._memory.remembered()
        if remembered is None:
            return None
        try:
            return self._last_seen.propose(self.name, request, grid, mirror, remembered)
        except MissingPhrases:
            return None  # continue; the next request finds the vectors

    def _ranked(self, request: ProposalRequest, entities: Mapping[int, Entity]) -> list[_Choice]:
        """Return the candidates in the reasoner's order (eq. 19). Raises MissingPhrases."""
        scored = self._scored(request.step, entities)
        by_id = {candidate.entity_id: candidate for candidate in scored}
        judged = self._reasoner.rank(RankRequest(scored, request.task, entities, self._descriptions.texts()))
        return [_Choice(by_id[j.entity_id], j) for j in judged if j.entity_id in by_id]

    def _scored(self, step: Step, entities: Mapping[int, Entity]) -> list[Candidate]:
        """Return the query's result, recomputed only after a change of scene or task. Raises MissingPhrases."""
        mirror = self._mirror
        assert mirror is not None
        regions = tuple((region.id, region.label) for region in mirror.regions.values())
        key = (step.graphs, mirror.session_id, mirror.map_id, mirror.revision, regions)
        if self._cache is None or self._cache[0] != key:
            thinned = self._prefilter(step.graphs, entities)
            pool = self._pools.of(thinned, self._phrases, self.config.query, mirror.regions, mirror.rooms)
            self._cache = (key, score_pool(step.graphs, pool))
        return self._cache[1]

    def _is_accepted(self, choice: _Choice) -> bool:
        """Return whether the candidate is accepted as the target; a language model may overrule the query."""
        by_query = choice.candidate.score >= self.config.query.accept
        if choice.judgement.by == OfflineReasoner.name:
            return by_query
        return choice.judgement.confidence >= (SEMANTIC_MAP_UNSURE if by_query else SEMANTIC_MAP_SURE)

    def _best(
        self, request: ProposalRequest, choices: Sequence[_Choice], entities: Mapping[int, Entity]
    ) -> Proposal | Rejection:
        assert self._grid is not None
        accepted = [c for c in choices if self._is_accepted(c)]
        left = self._left(request, [c for c in choices if c not in accepted], entities)
        promising = [c for c in choices if left.get(c.entity_id, 0.0) >= self.config.overlooked]
        if not accepted and not promising:
            return self._reject(request, RejectionReason.NO_PROPOSAL, self._nearest(choices, entities))
        reach = Reach(self._grid, request.robot_pose, self.config.reach)
        failures = []
        for group in (accepted, promising):
            options: list[tuple[float, _Choice, FacingPlace | AnswerPose]] = []
            for choice in group[:SEMANTIC_MAP_TOP_N]:
                try:
                    viewpoint = self._viewpoint(request, reach, entities[choice.entity_id])
                except NoViewpoint as none:
                    failures.append(f"entity {choice.entity_id}: {none}")
                    continue
                worth = choice.score * self._standing(entities[choice.entity_id], request.stamp)
                worth -= SEMANTIC_MAP_DISTANCE_WEIGHT * viewpoint.path_length
                options.append((worth, choice, viewpoint))
            if options:
                _, choice, viewpoint = max(options, key=lambda option: option[0])
                return self._proposal(request, reach, choice, viewpoint, entities, left.get(choice.entity_id))
        reason = RejectionReason.NO_VIEWPOINT if accepted else RejectionReason.NO_PROPOSAL
        return self._reject(request, reason, "; ".join(failures))

    def _viewpoint(self, request: ProposalRequest, reach: Reach, entity: Entity) -> FacingPlace | AnswerPose:
        """Return the entity's best saved view if it is near enough and reachable, else the best viewpoint around
        it.
        """
        assert self._grid is not None
        posing = AnswerPoseConfig(SEMANTIC_MAP_SAVED_DISTANCE, self.config.viewpoints)
        saved = saved_pose(entity, self._grid, reach.easy, request.excluded_goals, posing)
        if saved is not None:
            return saved
        views = [view.map_from_camera for view in entity.views]
        return place_to_face(
            reach, request.robot_pose, (entity.box_min, entity.box_max), views, request.excluded_goals,
            self.config.viewpoints, self._mirror,
        )  # fmt: skip

    def _standing(self, entity: Entity, now: float) -> float:
        """Return the probability, (0, 1], that the entity is still at its place in the map (VLM-DEWM A.5.2).

        It is below 1 only if the entity is in state UNCERTAIN, or its age is above the half-life of its kind.
        """
        believed = entity.confidence if entity.state is EntityState.UNCERTAIN else 1.0
        stays = self._stays(entity, now)
        return max(min(believed, 1.0), _LEAST_STANDING) * max(
            stays if stays < _STALE else 1.0, _LEAST_STANDING
        )

    def _stays(self, entity: Entity, now: float) -> float:
        """Return the probability that the entity has not moved since it was seen; 1 if its age is unknown."""
        age = now - entity.last_seen
        return self._priors.of(entity.label).chance_to_stay(age) if math.isfinite(age) else 1.0

    def _left(
        self, request: ProposalRequest, choices: Sequence[_Choice], entities: Mapping[int, Entity]
    ) -> dict[int, float]:
        """Return by entity id, for candidates that match by themselves, the probability that what is missing around
        them is there: that the neighbours that the task names (else any target) were overlooked so far, or that a
        relation which is half true is.
        """
        hopeful = [c for c in choices if c.candidate.semantic_score >= self.config.query.promising]
        hopeful = [
            c
            for c in hopeful
            if c.judgement.by == OfflineReasoner.name or c.judgement.confidence >= SEMANTIC_MAP_UNSURE
        ]
        grid, graph = self._grid, request.step.graphs[0]
        if not hopeful or grid is None:
            return {}
        maps = self._likely.missed(request, wanted_neighbours(graph) or {graph.target.category}, self._mirror)
        boxes = [(entities[c.entity_id].box_min, entities[c.entity_id].box_max) for c in hopeful]
        around = SEMANTIC_MAP_SURROUNDINGS
        found = {}
        for c, (low, high) in zip(hopeful, boxes):
            true = min(c.candidate.predicate_scores.values(), default=0.0)
            missed = max(mean_within(left, grid, low - around, high + around) for left in maps)
            found[c.entity_id] = max(missed, true if true >= SEMANTIC_MAP_HALF_TRUE else 0.0)
        return found

    def _prefilter(self, graphs: Sequence[QueryGraph], entities: Mapping[int, Entity]) -> dict[int, Entity]:
        """Return the entities whose embedding is near that of the target or of a neighbour phrase (eq. 18),
        or whose name shares a word with one of these phrases.
        """
        if len(entities) < self.config.prefilter_from:
            return dict(entities)
        phrases = [(v.phrase, i == 0) for graph in graphs for i, v in enumerate(graph.variables)]
        words = {word for phrase, _ in phrases for word in phrase.casefold().split()}
        vectors = self._phrases.vectors([phrase for phrase, _ in phrases])
        limits = np.array(
            [
                SEMANTIC_MAP_TARGET_SIMILARITY if target else SEMANTIC_MAP_NEIGHBOR_SIMILARITY
                for _, target in phrases
            ]
        )
        captions = [entity.caption or entity.label for entity in entities.values()]
        near = (self._phrases.vectors(captions) @ vectors.T > limits).any(axis=1)
        return {
            entity.id: entity
            for entity, close in zip(entities.values(), near)
            if close or words & set(f"{entity.label} {entity.caption}".casefold().split())
        }

    def _proposal(
        self,
        request: ProposalRequest,
        reach: Reach,
        choice: _Choice,
        viewpoint: FacingPlace | AnswerPose,
        entities: Mapping[int, Entity],
        left: float | None,
    ) -> Proposal:
        """Return the proposal to go to an entity. left: `_left` of one that is not accepted, None = accepted."""
        candidate, judgement, accepted = choice.candidate, choice.judgement, left is None
        entity = entities[candidate.entity_id]
        score = choice.score if accepted else SEMANTIC_MAP_PROMISING_CONFIDENCE * candidate.semantic_score
        by_model = judgement.rationale if judgement.by != OfflineReasoner.name else ""
        why = by_model or self._why(candidate, accepted)
        others = tuple(i for i in _bound(candidate) if i != entity.id)
        confidence, goal = float(min(max(score, 0.0), 1.0)), np.asarray(viewpoint.pose, np.float64)
        return Proposal(
            expert=self.name,
            epoch=request.epoch,
            goal=goal,
            confidence=confidence,
            rationale=_going(entity, viewpoint.path_length, accepted)
            + (f": {why}" if why else "")
            + self._doubt(entity, request.stamp),
            entity_id=entity.id,
            evidence_entities=(entity.id, *others),
            evidence_keyframes=tuple(view.keyframe_id for view in entity.views if view.keyframe_id)[:3],
            stamp=entity.last_seen,
            chance=_given(confidence, left) * self._standing(entity, request.stamp),
            seconds=reach.seconds(goal, viewpoint.path_length, verifies=True),
        )

    def _doubt(self, entity: Entity, now: float) -> str:
        """Return a clause that says why the entity must be looked at before acting on it; "" if it need not
        be.
        """
        if entity.state is EntityState.UNCERTAIN:
            return "; it was looked for there in vain, so I look first"
        if self._stays(entity, now) >= _STALE:
            return ""
        return f"; it was seen {duration_in_words(now - entity.last_seen)} ago and may have moved, so I look first"

    def _why(self, candidate: Candidate, accepted: bool) -> str:
        """Return a clause that says which parts of the query hold for a candidate and which do not, by the
        map.
        """
        met, unmet = reasons(candidate.predicate_scores)
        if accepted:
            return f"it is {listed([*met, *unmet])}" if met or unmet else ""
        fits = f"it is {listed(met)} and may be the one" if met else "it may be the one"
        return f"{fits}, but as far as the map shows it is {listed(unmet)}" if unmet else fits

    def _nearest(self, choices: Sequence[_Choice], entities: Mapping[int, Entity]) -> str:
        if not choices:
            return "nothing like it is in the scene"
        best = choices[0].candidate
        name = entities[best.entity_id].caption or entities[best.entity_id].label
        return f"the nearest is entity {best.entity_id}, {name} ({best.score:.2f})"

    def _reject(self, request: ProposalRequest, reason: RejectionReason, message: str) -> Rejection:
        return Rejection(self.name, request.epoch, reason, message)


def _given(prior: float, left: float | None) -> float:
    """Return the probability that a candidate is the target, given that its neighbours were not seen.

    left: probability that they are there and were overlooked (`_left`), None = they were seen.
    """
    return prior if left is None else prior * left / max(prior * left + 1.0 - prior, 1e-9)


def _going(entity: Entity, length: float, accepted: bool) -> str:
    name = the(entity.caption or entity.label or "thing")
    return f"going {'' if accepted else 'closer '}to {name} (entity {entity.id}), {length:.1f} m away"


def _bound(candidate: Candidate) -> list[int]:
    """Return the ids of the entities that are bound to the query's anchors for this candidate."""
    bindings = candidate.bindings
    values = bindings.values() if isinstance(bindings, Mapping) else bindings
    return [int(v) for v in values if v is not None and not math.isnan(float(v)) and int(v) > 0]
