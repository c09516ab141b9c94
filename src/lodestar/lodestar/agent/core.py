"""What every state of the decision loop can do: look at the scene, send, record, end a step, finish."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

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
from lodestar.agent.energy import Battery
from lodestar.agent.errors import ErrorCode
from lodestar.agent.motion import Odometer
from lodestar.agent.perceiving import perceive
from lodestar.agent.run import BELOW_ACCEPT, Navigation, Run
from lodestar.agent.targets import Targets, TargetView
from lodestar.agent.words import step_in_words
from lodestar.experts.protocol import Proposal
from lodestar.geometry.poses import wrap_angle
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.language.directive import DirectiveKind, Subtask
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import Entity, EntityState
from lodestar.selection.decision_log import Decision, Outcome
from lodestar.selection.perceived import Perceived

_log = logging.getLogger(__name__)

HOME = "return"  # whose goal the way back to the start is
CHARGER = "charger"  # whose goal the way to the charger is
ASIDE = "retreat"  # whose goal a step out of a tight place is
KNOWN = "known_target"  # whose goal a target is that the experts were too late for
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
        self._battery = Battery()
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
        self.epoch_seconds = math.nan  # from the newest question to its decision

    def _look(self, run: Run) -> TargetView:
        """What the scene says of the current subtask, without excluded entities among the accepted."""
        if self._mirror is None or run.kind is not DirectiveKind.FIND:
            return TargetView()
        run.excluded = {self._mirror.resolve(i): reason for i, reason in run.excluded.items()}
        view = self._targets.look(self._mirror, run.subtask)
        self._ask_for(view.missing)
        for candidate in view.accepted:  # what looked wrong once may turn out right when more of it is known
            if run.excluded.get(candidate.entity_id) == BELOW_ACCEPT:
                del run.excluded[candidate.entity_id]
        accepted = tuple(c for c in view.accepted if c.entity_id not in run.excluded)
        if run.subtask.count == 1:
            accepted = run.doubt.wanted(accepted, self._mirror.resolve)
        return replace(view, accepted=accepted)

    def _ask_for(self, missing: tuple[str, ...]) -> None:
        """Vectors of these phrases are asked for, once."""
        if missing and missing != self._missing:
            self._queue.append(EmbedPhrases(missing))
        self._missing = missing

    def _entity(self, entity_id: int) -> Entity | None:
        """The entity that now bears this id or that it was merged into; None where it is gone."""
        if self._mirror is None or entity_id == 0:
            return None
        entity = self._mirror.entities.get(self._mirror.resolve(entity_id))
        return None if entity is None or entity.state is EntityState.ARCHIVED else entity

    @property
    def _entities(self) -> Mapping[int, Entity]:
        return {} if self._mirror is None else self._mirror.entities

    def _accepted_entities(self, view: TargetView) -> list[Entity]:
        entities = (self._entity(c.entity_id) for c in view.accepted)
        return [entity for entity in entities if entity is not None]

    def _perceived(self, view: TargetView | None, subtask: Subtask) -> Perceived:
        entities = self._mirror.entities if self._mirror is not None else {}
        return perceive(self._now, self._area, self._pose, self._grid, entities, view, subtask)

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
        run.questions.close()
        run.ask_after = self._now + wait
        self.state = State.DECIDING

    def _halt(self, run: Run, reason: str) -> None:
        """The navigator has no goal any more."""
        if run.navigation is not None:
            self._queue.append(CancelGoal(reason))
            run.navigation = None

    def _close(
        self, outcome: Outcome, view: TargetView | None = None, success: bool = False, ended: bool = False
    ) -> None:
        perceived = self._perceived(view, self._ledger.subtask)
        decision = self._ledger.close(outcome, perceived, success, ended)
        if decision is not None:
            self._queue.append(RecordDecision(decision))

    def _step_done(self, run: Run, text: str, view: TargetView | None = None) -> None:
        """A step has succeeded: on to the next, or the directive is over, as it was to end."""
        run.told.append(text)
        if run.is_last:
            if run.verdict is not None:
                self._finish(run, *run.verdict)
            else:
                self._finish(run, ErrorCode.NONE, text, Outcome.REACHED)
            return
        self._close(Outcome.REACHED, view, success=run.kind is DirectiveKind.FIND, ended=True)
        self._begin_step(run, run.subtask_index + 1, text)

    def _step_failed(self, run: Run, code: ErrorCode, message: str) -> None:
        """A step has failed and the directive with it; where its last step is to come back, it still does."""
        last = len(run.directive.subtasks) - 1
        if run.verdict is not None or run.is_last or run.directive.kind_of(last) is not DirectiveKind.RETURN:
            self._finish(run, *(run.verdict or (code, message)))
            return
        run.told.append(message)
        run.verdict = (code, message)
        self._close(Outcome.ABORTED, ended=True)
        self._begin_step(run, last, message)

    def _begin_step(self, run: Run, index: int, text: str) -> None:
        run.begin_subtask(index)
        run.idle_since = None
        run.text = f"{text.splitlines()[0]} Next: {step_in_words(run.directive, index)}."
        self._ledger.begin_subtask(self._now)
        self._redecide(run)

    def _finish(self, run: Run, code: ErrorCode, message: str, outcome: Outcome = Outcome.ABORTED) -> None:
        """The directive is over and the robot has no goal; that holds even if the account of it fails."""
        self._run, self.state = None, State.IDLE
        self._queue = [c for c in self._queue if not isinstance(c, SendGoal | RequestProposals)]
        if run.navigation is not None or code is not ErrorCode.NONE:
            self._queue.append(CancelGoal(message))
        view = TargetView()
        try:
            view = self._look(run)
            found = code is ErrorCode.NONE and run.kind is DirectiveKind.FIND
            self._close(outcome, view, success=found, ended=True)
        except Exception:  # whatever it is, it must not keep the robot going
            _log.exception("the account of a directive that is over is incomplete")
        travelled = self._odometer.distance - run.distance_before
        result = result_of(run, code, message, view, self._mirror, self._now, travelled, self._pose)
        self._queue.append(Finish(result))
