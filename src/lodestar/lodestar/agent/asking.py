"""What the experts are asked, whose answers may be chosen from, and the choice."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from lodestar.agent.admission import Admission, admit, heads_for
from lodestar.agent.commands import RecordDecision, RequestProposals, State
from lodestar.agent.core import EXPLORER, KNOWN, LoopCore
from lodestar.agent.questions import LateAnswer, objection
from lodestar.agent.run import Run
from lodestar.agent.targets import TargetView
from lodestar.agent.words import going
from lodestar.experts.facing_places import ApproachConfig, place_to_face
from lodestar.experts.protocol import Proposal, ProposalRequest, RejectionReason
from lodestar.experts.reach import Reach, ReachConfig
from lodestar.grid.viewpoints import NoViewpoint, ViewpointConfig
from lodestar.language.directive import DirectiveKind
from lodestar.scene.records import Entity
from lodestar.selection.decision_log import Outcome

KNOWER = "semantic_map"  # the expert that has viewpoints of what is known
_TRIED_TARGETS = 3  # known targets that the loop itself looks for viewpoints of, best first


class Asking(LoopCore):
    """Questions to the experts, and the decision over their answers."""

    def _ask(self, run: Run, experts: tuple[str, ...], review: bool = False) -> None:
        """Open an epoch; who still thinks about an older question is left to it."""
        assert self._pose is not None and self._grid is not None
        run.goals.refresh(self._grid)
        self.epoch += 1
        request = ProposalRequest(
            epoch=self.epoch,
            stamp=self._now,
            directive=replace(run.directive, kind=run.kind),
            subtask_index=run.subtask_index,
            robot_pose=self._pose.copy(),
            excluded_entities=frozenset(run.excluded) | run.doubt.put_off(self._entities, self._pose),
            excluded_goals=run.goals.active(),
            deadline=self._now + self.config.expert_deadline,
        )
        asked = run.questions.open(request, experts, review)
        if asked:
            self._queue.append(RequestProposals(request, asked))

    def _experts_for(self, run: Run) -> tuple[str, ...]:
        """Who has something to say to this step: to see everything, only the explorer has."""
        searches = run.kind is DirectiveKind.FIND or EXPLORER not in self.experts
        return self.experts if searches else (EXPLORER,)

    def _admit(self, run: Run, view: TargetView) -> Admission:
        avoid: tuple[Entity, ...] = ()
        if self._mirror is not None:
            avoid = self._targets.constraints(self._mirror, run.subtask)
        return admit(
            run.questions.asked,
            run.questions.take(self._now, lambda late: self._objection(run, late)),
            run.goals,
            run.excluded,
            self._accepted_entities(view) if self.config.known_first else [],
            avoid,
            run.directive.keep_away_distance,
            lambda identity: self._entity(identity) is not None,
            self._grid,
        )

    def _gave_way(self, run: Run, admission: Admission) -> bool:
        """Whether one of several that may be meant has no viewpoint, so that another is the next to look at."""
        assert self._pose is not None
        if admission.rejection(KNOWER) is not RejectionReason.NO_VIEWPOINT:
            return False
        return run.doubt.give_way(self._entities, self._pose)

    def _objection(self, run: Run, late: LateAnswer) -> str:
        assert self._pose is not None and self._grid is not None
        known = lambda identity: self._entity(identity) is not None  # noqa: E731
        return objection(late, self._now, run.subtask_index, self._pose, self._grid, known, self.config)

    def _choose(self, run: Run, admission: Admission, view: TargetView) -> None:
        """Take one of the admitted proposals, have it validated, and go."""
        request = run.questions.request
        assert request is not None
        run.questions.close()
        self._close(Outcome.PREEMPTED, view)
        decision, proposal = self._ledger.choose(
            request, admission, run.subtask, self._perceived(view, run.subtask), self.config.map_id
        )
        self._queue.append(RecordDecision(decision))
        self.epoch_seconds = self._now - request.stamp
        run.decisions += 1
        run.explored_at = None
        self._decided(run, view)
        self.state = State.VALIDATING
        refusal = self._validator(decision, proposal)
        if refusal:
            run.goals.exclude(proposal.goal, refusal, self._grid)
            self._close(Outcome.ABORTED, view)
            self._redecide(run)
            return
        run.text = going(proposal, self._entity(proposal.entity_id), view.is_accepted(proposal.entity_id))
        self._pursue(run, proposal, request.epoch)

    def _decided(self, run: Run, view: TargetView) -> None:
        run.last_decision = self._now
        run.known_targets = frozenset(c.entity_id for c in view.accepted)

    def _pursue(self, run: Run, proposal: Proposal, epoch: int) -> None:
        """Send the goal, unless the navigator has it already."""
        if run.navigation is not None and self._is_under_way(run.navigation, proposal):
            run.navigation.proposal = proposal
            self.state = State.NAVIGATING
        else:
            self._send(run, proposal, epoch)

    def _head_for_known(self, run: Run, admission: Admission, view: TargetView) -> bool:
        """Whether the robot goes to a known target on its own, because who should propose that is late or broken.

        Where none is known, a thing near by that may turn out to be one, seen from closer, will do. The decision that
        is open stays open, and gets what comes of it: it brought the target into view.
        """
        if not any(arm.is_silent and arm.expert != EXPLORER for arm in admission.arms):
            return False
        accepted = self._accepted_entities(view)
        if any(
            arm.proposal is not None and heads_for(arm.proposal, accepted) for arm in admission.admissible
        ):
            return False
        found = self._viewpoint_of(run, (accepted or self._promising(run, view))[:_TRIED_TARGETS])
        if found is None or (not accepted and found[2] > self.config.promising_reach):
            return False
        entity, goal, length = found
        assert run.questions.request is not None
        epoch = run.questions.request.epoch
        run.questions.close()
        rationale = f"{length:.1f} m away; the experts have not answered, so I go by the map"
        proposal = Proposal(KNOWN, epoch, goal, view.score(entity.id), rationale, entity.id)
        run.text = going(proposal, entity, bool(accepted))
        self._decided(run, view)
        self._pursue(run, proposal, epoch)
        return True

    def _promising(self, run: Run, view: TargetView) -> list[Entity]:
        """What is the right thing by its looks, though it does not meet the whole query, best first."""
        likely = [c for c in view.candidates if c.semantic_score >= self.config.promising]
        likely = [c for c in likely if c.entity_id not in run.excluded]
        entities = (self._entity(c.entity_id) for c in sorted(likely, key=lambda c: -c.semantic_score))
        return [entity for entity in entities if entity is not None]

    def _viewpoint_of(self, run: Run, entities: list[Entity]) -> tuple[Entity, np.ndarray, float] | None:
        """The entity that is faced after the shortest way, the pose (3,) for it, and the way's length in metres."""
        assert self._pose is not None and self._grid is not None
        reach = Reach(self._grid, self._pose, ReachConfig())
        best: tuple[Entity, np.ndarray, float] | None = None
        for entity in entities:
            views = [view.map_from_camera for view in entity.views]
            try:
                found = place_to_face(
                    reach,
                    self._pose,
                    (entity.box_min, entity.box_max),
                    views,
                    run.goals.active(),
                    ViewpointConfig(),
                    ApproachConfig(),
                    self._mirror,
                )
            except NoViewpoint:
                continue
            if found.path_length < (best[2] if best is not None else math.inf):
                best = entity, found.pose, found.path_length
        return best
