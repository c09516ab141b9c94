"""A goal for a known target without the experts, for when they are late or broken."""

from __future__ import annotations

import math

import numpy as np

from lodestar.agent.actions.transitions import Transitions
from lodestar.agent.decisions.admission import Admission, heads_for
from lodestar.agent.decisions.proposers import EXPLORER, KNOWN
from lodestar.agent.decisions.targets import TargetView
from lodestar.agent.errands.context import LoopContext
from lodestar.agent.errands.run import DirectiveRun
from lodestar.agent.errands.target_search import TargetSearch
from lodestar.agent.errands.words import going, name_of
from lodestar.experts.facing_places import place_to_face
from lodestar.experts.protocol import Proposal
from lodestar.experts.reach import Reach
from lodestar.grid.viewpoints import NoViewpoint
from lodestar.scene.records import Entity

_TRIED_TARGETS = 3  # known targets that the loop itself looks for viewpoints of, best first


class KnownTarget:
    """Sends the robot to a target that the map knows."""

    def __init__(self, context: LoopContext, search: TargetSearch, transitions: Transitions) -> None:
        self._context, self._search, self._transitions = context, search, transitions

    def head_for(self, run: DirectiveRun, admission: Admission, view: TargetView) -> bool:
        """Whether the robot goes to a known target on its own, because the expert for it is late or broken, or because
        a person pointed at one that the experts do not go to.

        Where none is known, an entity nearby that may turn out to be one from closer will do. The open decision stays
        open and is credited with the result: it brought the target into view.
        """
        late = any(arm.is_silent and arm.expert != EXPLORER for arm in admission.arms)
        if not late and not view.is_accepted(run.errand.pointed):
            return False
        accepted = self._search.accepted(view)
        if any(
            arm.proposal is not None and heads_for(arm.proposal, accepted) for arm in admission.admissible
        ):
            return False
        likely = accepted or self._search.promising(run, view)
        found = self._viewpoint_of(run, likely[:_TRIED_TARGETS])
        if found is None or (not accepted and found[2] > self._context.config.promising_reach):
            return False
        entity, goal, length = found
        assert run.questions.request is not None
        epoch = run.questions.request.epoch
        why = "you pointed at it" if entity.id == run.errand.pointed else "the experts have not answered"
        rationale = f"going to {name_of(entity)}, {length:.1f} m away, by the map: {why}"
        proposal = Proposal(KNOWN, epoch, goal, view.score(entity.id), rationale, entity.id)
        if not self._transitions.pursue(run, proposal, epoch, view).accepted:
            return False
        run.questions.close()
        run.text = going(proposal, entity, bool(accepted))
        run.errand.decided(self._context.now, view)
        return True

    def _viewpoint_of(
        self, run: DirectiveRun, entities: list[Entity]
    ) -> tuple[Entity, np.ndarray, float] | None:
        """The entity that is faced after the shortest way, the pose (3,) for it, and the way's length in metres."""
        facts = self._context.facts
        assert facts.pose is not None and facts.grid is not None
        config = self._context.config
        reach = Reach(facts.grid, facts.pose, config.reach)
        best: tuple[Entity, np.ndarray, float] | None = None
        for entity in entities:
            views = [view.map_from_camera for view in entity.views]
            try:
                found = place_to_face(
                    reach,
                    facts.pose,
                    (entity.box_min, entity.box_max),
                    views,
                    run.errand.goals.active(),
                    config.viewpoints,
                    config.approach,
                    facts.mirror,
                )
            except NoViewpoint:
                continue
            if found.path_length < (best[2] if best is not None else math.inf):
                best = entity, found.pose, found.path_length
        return best
