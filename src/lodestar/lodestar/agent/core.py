"""What every state of the decision loop can do: look at the scene, ask, decide, send, record, finish."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable

import numpy as np

from lodestar.agent.admission import Admission, admit
from lodestar.agent.commands import (
    CancelGoal,
    Command,
    EmbedPhrases,
    Finish,
    RecordDecision,
    RequestProposals,
    SendGoal,
    State,
)
from lodestar.agent.config import LoopConfig
from lodestar.agent.credit import Ledger
from lodestar.agent.endings import result_of
from lodestar.agent.errors import ErrorCode
from lodestar.agent.motion import Odometer
from lodestar.agent.run import BELOW_ACCEPT, Navigation, Run
from lodestar.agent.targets import Targets, TargetView
from lodestar.agent.words import going
from lodestar.experts.protocol import Proposal, ProposalRequest
from lodestar.geometry.poses import wrap_angle
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.language.directive import DirectiveKind
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import Entity, EntityState
from lodestar.scene.similarity import similarity_count
from lodestar.selection.decision_log import Decision, Outcome

_log = logging.getLogger(__name__)

HOME = "return"  # whose goal the way back to the start is
ASIDE = "retreat"  # whose goal a step out of a tight place is
EXPLORER = "frontier"  # the expert whose EXPLORED ends exploration

#: Says whether a decision may be carried out, and if not, why ("" = it may).
Validator = Callable[[Decision, Proposal], str]


def passes(decision: Decision, proposal: Proposal) -> str:
    """Every decision may be carried out."""
    return ""


class LoopCore:
    """Facts, the open run and the commands that wait for the next tick."""

    def __init__(
        self,
        config: LoopConfig,
        ledger: Ledger,
        targets: Targets,
        experts: tuple[str, ...],
        validator: Validator,
    ) -> None:
        self.config = config
        self.experts = experts
        self.state = State.IDLE
        self.epoch = 0  # of the newest request; never reused
        self._ledger = ledger
        self._targets = targets
        self._validator = validator
        self._odometer = Odometer(config)
        self._pose: np.ndarray | None = None
        self._pose_stamp = -math.inf
        self._home: np.ndarray | None = None
        self._grid: OccupancyGrid2D | None = None
        self._grid_heard = self._pose_heard = 0.0  # when the newest ones came
        self._area = 0.0
        self._mirror: SceneMirror | None = None
        self._run: Run | None = None
        self._queue: list[Command] = []
        self._missing: tuple[str, ...] = ()
        self._now = 0.0

    def _look(self, run: Run) -> TargetView:
        """What the scene says of the current subtask, without excluded entities among the accepted."""
        if self._mirror is None or run.directive.kind is not DirectiveKind.FIND:
            return TargetView()
        run.excluded = {self._mirror.resolve(i): reason for i, reason in run.excluded.items()}
        view = self._targets.look(self._mirror, run.subtask)
        if view.missing and view.missing != self._missing:
            self._queue.append(EmbedPhrases(view.missing))
        self._missing = view.missing
        for candidate in view.accepted:  # what looked wrong once may turn out right when more of it is known
            if run.excluded.get(candidate.entity_id) == BELOW_ACCEPT:
                del run.excluded[candidate.entity_id]
        accepted = tuple(c for c in view.accepted if c.entity_id not in run.excluded)
        return TargetView(view.candidates, accepted, view.missing)

    def _entity(self, entity_id: int) -> Entity | None:
        """The entity that now bears this id or that it was merged into; None where it is gone."""
        if self._mirror is None or entity_id == 0:
            return None
        entity = self._mirror.entities.get(self._mirror.resolve(entity_id))
        return None if entity is None or entity.state is EntityState.ARCHIVED else entity

    def _accepted_entities(self, view: TargetView) -> list[Entity]:
        entities = (self._entity(c.entity_id) for c in view.accepted)
        return [entity for entity in entities if entity is not None]

    def _ask(self, run: Run, experts: tuple[str, ...], review: bool = False) -> None:
        assert self._pose is not None and self._grid is not None
        run.goals.refresh(self._grid)
        self.epoch += 1
        run.request = ProposalRequest(
            epoch=self.epoch,
            stamp=self._now,
            directive=run.directive,
            subtask_index=run.subtask_index,
            robot_pose=self._pose.copy(),
            excluded_entities=frozenset(run.excluded),
            excluded_goals=run.goals.active(),
            deadline=self._now + self.config.expert_deadline,
        )
        run.asked, run.answers, run.is_review = experts, {}, review
        self._queue.append(RequestProposals(run.request, experts))

    def _admit(self, run: Run, view: TargetView) -> Admission:
        avoid: tuple[Entity, ...] = ()
        if self._mirror is not None:
            avoid = self._targets.constraints(self._mirror, run.subtask)
        return admit(
            run.asked,
            run.answers,
            run.goals,
            run.excluded,
            self._accepted_entities(view),
            avoid,
            run.directive.keep_away_distance,
        )

    def _v_sim(self, view: TargetView) -> float:
        return similarity_count([c.semantic_score for c in view.candidates])

    def _choose(self, run: Run, admission: Admission, view: TargetView) -> None:
        """Take one of the admitted proposals, have it validated, and go."""
        assert run.request is not None
        request, run.request = run.request, None
        self._close(Outcome.PREEMPTED, view)
        decision, proposal = self._ledger.choose(
            request, admission, self._area, self._v_sim(view), self.config.map_id
        )
        self._queue.append(RecordDecision(decision))
        run.decisions += 1
        run.last_decision = self._now
        run.known_targets = frozenset(c.entity_id for c in view.accepted)
        self.state = State.VALIDATING
        refusal = self._validator(decision, proposal)
        if refusal:
            run.goals.exclude(proposal.goal, refusal, self._grid)
            self._close(Outcome.ABORTED, view)
            self._redecide(run)
            return
        run.text = going(proposal, self._entity(proposal.entity_id), view.is_accepted(proposal.entity_id))
        if run.navigation is not None and self._is_under_way(run.navigation, proposal):
            run.navigation.proposal = proposal  # the navigator has this goal already
            self.state = State.NAVIGATING
        else:
            self._send(run, proposal, request.epoch)

    def _is_under_way(self, navigation: Navigation, proposal: Proposal) -> bool:
        before, after = np.asarray(navigation.proposal.goal), np.asarray(proposal.goal)
        turned = abs(float(wrap_angle(after[2] - before[2])))
        return math.hypot(*(after - before)[:2]) < 0.05 and turned < 0.1

    def _send(self, run: Run, proposal: Proposal, epoch: int) -> None:
        """The navigator is given the goal; the robot is under way."""
        assert self._pose is not None
        goal = np.asarray(proposal.goal, np.float64)
        straight = math.hypot(goal[0] - self._pose[0], goal[1] - self._pose[1])
        patience = self.config.goal_time_base + 2.0 * straight / self.config.slowest_speed
        run.navigation = Navigation(epoch, proposal, self._now, self._now + patience, self._pose.copy())
        run.events = []
        run.last_review = run.last_check = self._now
        self._odometer.rest(self._now)
        self._queue.append(SendGoal(epoch, goal, proposal.entity_id, proposal.expert, proposal.rationale))
        self.state = State.NAVIGATING

    def _redecide(self, run: Run, wait: float = 0.0) -> None:
        """Ask the experts anew, `wait` seconds from now at the earliest; a goal under way stays under way."""
        run.request = None
        run.ask_after = self._now + wait
        self.state = State.DECIDING

    def _halt(self, run: Run, reason: str) -> None:
        """The navigator has no goal any more."""
        if run.navigation is not None:
            self._queue.append(CancelGoal(reason))
            run.navigation = None

    def _close(self, outcome: Outcome, view: TargetView | None = None, success: bool = False) -> None:
        v_sim = self._v_sim(view) if view is not None else 0.0
        decision = self._ledger.close(outcome, self._area, v_sim, success)
        if decision is not None:
            self._queue.append(RecordDecision(decision))

    def _finish(self, run: Run, code: ErrorCode, message: str, outcome: Outcome = Outcome.ABORTED) -> None:
        """The directive is over and the robot has no goal; that holds even if the account of it fails."""
        self._run, self.state = None, State.IDLE
        self._queue = [c for c in self._queue if not isinstance(c, SendGoal | RequestProposals)]
        if run.navigation is not None or code is not ErrorCode.NONE:
            self._queue.append(CancelGoal(message))
        view = TargetView()
        try:
            view = self._look(run)
            self._close(
                outcome, view, success=code is ErrorCode.NONE and run.directive.kind is DirectiveKind.FIND
            )
        except Exception:  # whatever it is, it must not keep the robot going
            _log.exception("the account of a directive that is over is incomplete")
        entities = self._mirror.entities if self._mirror is not None else {}
        travelled = self._odometer.distance - run.distance_before
        result = result_of(run, code, message, view, entities, self._now, travelled, self._pose)
        self._queue.append(Finish(result))
