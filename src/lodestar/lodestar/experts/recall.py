"""Returns to unconfirmed detections (glimpses) that may be the target."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lodestar.experts.config import EgocentricConfig
from lodestar.experts.detection_score import DetectionScorer, as_entity, name_of
from lodestar.experts.facing_places import place_to_face
from lodestar.experts.glimpses import Glimpse, GlimpseMemory
from lodestar.experts.protocol import Proposal, ProposalRequest
from lodestar.experts.reach import Reach
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.viewpoints import NoViewpoint
from lodestar.perception.eyes import eyes_of
from lodestar.query.categories import category_scores
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import EntityState

RECALL_ALIKE = 0.5  # category score, 0..1, from which a glimpse is scored by the query; chosen
RECALL_SHARE = 0.9  # factor of the glimpse's score in the proposal's confidence; chosen
RECALL_TOP_N = 3  # candidates for which a goal is searched, best first; chosen


class Recall:
    """Chooses an unconfirmed detection (glimpse) to return to."""

    def __init__(self, config: EgocentricConfig, worth: DetectionScorer) -> None:
        self.config = config
        self.glimpses = GlimpseMemory(eyes_of(config.directions.look_limits.eyes))
        self._worth = worth

    def candidates(
        self, request: ProposalRequest, now: float, mirror: SceneMirror | None
    ) -> list[tuple[float, Glimpse]]:
        """Return (score, glimpse) of glimpses that may be the target, best first, without those in the map
        and those seen at `now` (seconds) or later. Their relations to entities of the map count. Raises
        MissingPhrases.
        """
        glimpses = [g for g in self.glimpses.unknown_to(mirror) if g.stamp < now]
        glimpses = [g for g in glimpses if not self.glimpses.is_spent(g, request.excluded_goals)]
        labels = [g.thing.detection.label for g in glimpses]
        captions = [g.thing.detection.caption for g in glimpses]
        kinds = {graph.target.category for graph in request.step.graphs}
        fits = [category_scores(kind, labels, captions, self._worth.phrases) for kind in sorted(kinds)]
        alike = (
            [g for g, fit in zip(glimpses, np.max(fits, axis=0)) if fit > RECALL_ALIKE] if glimpses else []
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
        """Return a proposal to observe again the best candidate that can be faced; None if there is none.
        expert: name on the proposal.
        """
        config = self.config
        reach = Reach(grid, request.robot_pose, config.reach)
        for worth, glimpse in candidates[:RECALL_TOP_N]:
            box = glimpse.thing.box_min, glimpse.thing.box_max
            given_up = request.excluded_goals
            try:
                place = place_to_face(
                    reach, request.robot_pose, box, [glimpse.view], given_up, config.viewpoints
                )
            except NoViewpoint:
                continue
            self.glimpses.propose(glimpse, place.pose)
            ago = max(now - glimpse.stamp, 0.0)
            return Proposal(
                expert=expert,
                epoch=request.epoch,
                goal=place.pose,
                confidence=RECALL_SHARE * worth,
                rationale=f"I saw {name_of(glimpse.thing)} in passing {ago:.0f} s ago; going back to look",
                stamp=glimpse.stamp,
                chance=min(RECALL_SHARE * worth, 1.0),
                seconds=reach.seconds(place.pose, place.path_length, verifies=True),
            )
        return None
