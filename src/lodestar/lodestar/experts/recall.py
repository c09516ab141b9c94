"""Returns to unconfirmed detections that may be the target."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lodestar.experts.config import RecallConfig
from lodestar.experts.detection_score import DetectionScorer, as_entity, name_of
from lodestar.experts.facing_places import place_to_face
from lodestar.experts.glimpses import Glimpse, GlimpseMemory
from lodestar.experts.protocol import Proposal, ProposalRequest
from lodestar.experts.reach import Reach
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.viewpoints import NoViewpoint
from lodestar.query.categories import category_scores
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import EntityState


class Recall:
    """Choose a glimpse to return to."""

    def __init__(self, config: RecallConfig, worth: DetectionScorer) -> None:
        self.config = config
        self.glimpses = GlimpseMemory(config.glimpses)
        self._worth = worth

    def candidates(
        self, request: ProposalRequest, now: float, mirror: SceneMirror | None
    ) -> list[tuple[float, Glimpse]]:
        """Return glimpses that may be the target, with their scores, best first, excluding those in the map and those
        from the view of `now` (seconds). Their relations may refer to entities of the map. Raises MissingPhrases.
        """
        glimpses = [g for g in self.glimpses.unknown_to(mirror) if g.stamp < now]
        glimpses = [g for g in glimpses if not self.glimpses.is_spent(g, request.excluded_goals)]
        labels = [g.thing.detection.label for g in glimpses]
        captions = [g.thing.detection.caption for g in glimpses]
        kinds = {graph.target.category for graph in request.step.graphs}
        fits = [category_scores(kind, labels, captions, self._worth.phrases) for kind in sorted(kinds)]
        alike = (
            [g for g, fit in zip(glimpses, np.max(fits, axis=0)) if fit > self.config.alike]
            if glimpses
            else []
        )
        if not alike:
            return []
        known = {} if mirror is None else mirror.entities
        entities = {i: e for i, e in known.items() if e.state is not EntityState.ARCHIVED}
        first = max(known, default=0) + 1
        dressed = {i: as_entity(i, g.thing, g.stamp, mirror) for i, g in enumerate(alike, first)}
        worth = self._worth.of(request, entities | dressed, mirror)
        found = [(worth.get(i, 0.0), glimpse) for i, glimpse in enumerate(alike, first)]
        return sorted((one for one in found if one[0] > 0.0), key=lambda one: -one[0])

    def going_back(
        self,
        expert: str,
        request: ProposalRequest,
        grid: OccupancyGrid2D,
        now: float,
        candidates: Sequence[tuple[float, Glimpse]],
    ) -> Proposal | None:
        """Propose, as this expert, a goal for another look at the best possible candidate; None if there is none."""
        config = self.config
        reach = Reach(grid, request.robot_pose, config.reach)
        for worth, glimpse in candidates[: config.top_n]:
            box = glimpse.thing.box_min, glimpse.thing.box_max
            given_up = request.excluded_goals
            try:
                place = place_to_face(
                    reach,
                    request.robot_pose,
                    box,
                    [glimpse.view],
                    given_up,
                    config.viewpoints,
                    config.approach,
                )
            except NoViewpoint:
                continue
            self.glimpses.propose(glimpse, place.pose)
            ago = max(now - glimpse.stamp, 0.0)
            return Proposal(
                expert=expert,
                epoch=request.epoch,
                goal=place.pose,
                confidence=config.share * worth,
                rationale=f"I saw {name_of(glimpse.thing)} in passing {ago:.0f} s ago; going back to look",
                stamp=glimpse.stamp,
                chance=min(config.share * worth, 1.0),
                seconds=reach.seconds(place.pose, place.path_length, verifies=True),
            )
        return None
