"""Likely places of an unseen target, by nearby objects and rooms, while they are partly unexplored."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lodestar.experts.config import LikelyConfig, ReachConfig
from lodestar.experts.facing_places import place_towards
from lodestar.experts.protocol import Proposal, ProposalRequest
from lodestar.experts.reach import Reach
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.language.priors import CoOccurrence
from lodestar.models.english import the
from lodestar.models.lexicon import load_lexicon
from lodestar.models.phrases import MissingPhrases, PhraseBook
from lodestar.query.categories import category_scores
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import Entity, EntityState


class LikelyPlaces:
    """Propose to look around objects near which the target is likely, by word co-occurrence (RoboAtlas IV-E, V)."""

    def __init__(self, config: LikelyConfig, phrases: PhraseBook, reach: ReachConfig) -> None:
        self._config, self._reach = config, reach
        self._phrases = phrases
        self._sense = CoOccurrence(phrases, config.prior)

    def propose(
        self, expert: str, request: ProposalRequest, grid: OccupancyGrid2D, mirror: SceneMirror
    ) -> Proposal | None:
        """A look at what is unknown around the likeliest place; None where none is likely enough or all is known."""
        category = request.step.graphs[0].target.category
        if not category or load_lexicon().is_generic(category):
            return None
        config = self._config
        borders = border_points(grid)
        open_things: list[tuple[Entity, np.ndarray]] = []
        for thing in mirror.entities.values():
            if (
                thing.state is not EntityState.ACTIVE
                or thing.id in request.excluded_entities
                or not thing.label
            ):
                continue
            near = borders[_gaps(borders, thing) <= config.surroundings]
            if len(near) * grid.resolution >= config.border:
                open_things.append((thing, near))
        if not open_things:
            return None
        things = [thing for thing, _ in open_things]
        try:
            scores = self._scores(category, request.step.neighbors, things, mirror)
        except MissingPhrases:
            return None
        pose = np.asarray(request.robot_pose, np.float64)
        far = np.array([np.linalg.norm(thing.mean[:2] - pose[:2]) for thing in things])
        worth = scores - config.distance_weight * far
        fit = (scores >= config.least) & (far <= config.max_distance)
        order = [i for i in np.argsort(-worth, kind="stable") if fit[i]]
        reach = Reach(grid, pose, self._reach)
        for i in order[: config.top_n]:
            thing, near = open_things[i]
            middle = near[np.argmin(np.linalg.norm(near - np.median(near, axis=0), axis=1))]
            goal = place_towards(reach, pose, middle, request.excluded_goals, config.approach)
            if goal is not None and reach.easy[tuple(grid.cells_of(goal[:2]))] <= config.max_distance:
                return self._proposal(expert, request, reach, thing, float(scores[i]), goal)
        return None

    def _scores(
        self, category: str, neighbors: Sequence[str], things: Sequence[Entity], mirror: SceneMirror
    ) -> np.ndarray:
        """Return the scores (N,) of the places, in [0, 1]. Raises MissingPhrases."""
        labels = [thing.label for thing in things]
        rooms = [mirror.regions[t.region_id].label if t.region_id in mirror.regions else "" for t in things]
        weight = self._config.room_weight
        scores = self._sense.near(category, labels) * (
            1.0 - weight + weight * self._sense.inside(category, rooms)
        )
        captions = [thing.caption for thing in things]
        for phrase in neighbors:
            fit = category_scores(phrase, labels, captions, self._phrases)
            scores = np.maximum(scores, self._config.anchor * fit)
        return scores

    def _proposal(
        self,
        expert: str,
        request: ProposalRequest,
        reach: Reach,
        thing: Entity,
        score: float,
        pose: np.ndarray,
    ) -> Proposal:
        name = the(thing.caption or thing.label or "thing")
        return Proposal(
            expert=expert,
            epoch=request.epoch,
            goal=np.asarray(pose, np.float64),
            confidence=self._config.confidence * score,
            rationale=f"going to look around {name}: it is likely to be there ({score:.2f}), and not all was looked at",
            evidence_entities=(thing.id,),
            evidence_keyframes=tuple(view.keyframe_id for view in thing.views if view.keyframe_id)[:3],
            stamp=thing.last_seen,
            chance=self._config.confidence * score,
            seconds=reach.seconds(pose),
        )


def border_points(grid: OccupancyGrid2D) -> np.ndarray:
    """Return the centres (N, 2) in map of free cells next to unknown ones (RoboAtlas eq. 14)."""
    free = (grid.cells >= 0) & (grid.cells < grid.occupied_from)
    unknown = grid.cells < 0
    beside = np.zeros_like(unknown)
    beside[1:] |= unknown[:-1]
    beside[:-1] |= unknown[1:]
    beside[:, 1:] |= unknown[:, :-1]
    beside[:, :-1] |= unknown[:, 1:]
    return grid.points_of(np.argwhere(free & beside))


def _gaps(points: np.ndarray, thing: Entity) -> np.ndarray:
    """Return the distances (N,) in plan, metres, from points to an entity's box."""
    return np.linalg.norm(points - np.clip(points, thing.box_min[:2], thing.box_max[:2]), axis=1)


def unknown_share(grid: OccupancyGrid2D, box_min: np.ndarray, box_max: np.ndarray, reach: float) -> float:
    """Return the share of unknown cells in the box in plan, grown by `reach` metres; cells off the grid are unknown."""
    low = grid.cells_of(np.array([box_min[:2] - reach]))[0]
    high = grid.cells_of(np.array([box_max[:2] + reach]))[0] + 1
    area = int(np.prod(high - low))
    top, left = np.maximum(low, 0)
    window = grid.cells[top : max(int(high[0]), 0), left : max(int(high[1]), 0)]
    return 1.0 - int((window >= 0).sum()) / max(area, 1)
