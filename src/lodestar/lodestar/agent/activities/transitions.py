"""The transitions of the decision loop: which there are, and what happens on each."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from lodestar.agent.decisions.admission import ASIDE, LOOK, SEMANTIC_MAP
from lodestar.agent.decisions.approach import Arrival
from lodestar.agent.errands.commands import (
    AskMemory,
    CancelGoal,
    CancelSkill,
    DirectiveResult,
    Finish,
    LookFor,
    RecordTrace,
    RequestProposals,
    RunSkill,
    SendGoal,
    State,
    TakePassage,
    WithdrawQuery,
)
from lodestar.agent.errands.context import LoopContext, goal_patience, trace_of
from lodestar.agent.errands.errand import (
    REACHED,
    ActionState,
    Choice,
    Failure,
    Navigation,
    OpenCase,
    OpenSkill,
)
from lodestar.agent.errands.run import DirectiveRun
from lodestar.agent.errands.words import counted, name_of
from lodestar.agent.facts.errors import ErrorCode
from lodestar.agent.facts.times import NEVER, Stamp
from lodestar.agent.recovery.outcomes import Outcomes
from lodestar.experts.protocol import Proposal
from lodestar.floors.records import Passage
from lodestar.geometry.poses import apart
from lodestar.language.directive import StepKind
from lodestar.query.targets import TargetView
from lodestar.selection.decisions import Outcome
from lodestar.worldmodel.constraint_state import ConstraintTracker
from lodestar.worldmodel.outcomes import Result
from lodestar.worldmodel.records import Trace, Verdict

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Transition:
    """An edge of the state machine. The state it leads to may be one that it comes from."""

    sources: frozenset[State]
    target: State


_RUNNING = frozenset(State) - {State.IDLE, State.HELD}

#: Every transition. The table in ARCHITECTURE.md says the same; a test compares them.
TRANSITIONS = {
    "start": Transition(frozenset({State.IDLE}), State.DECIDING),
    "choose": Transition(frozenset({State.DECIDING}), State.VALIDATING),
    "send": Transition(_RUNNING - {State.VERIFYING, State.WAITING, State.CROSSING}, State.NAVIGATING),
    "diagnose": Transition(frozenset({State.DECIDING, State.NAVIGATING, State.VERIFYING}), State.DIAGNOSING),
    "arrive": Transition(frozenset({State.DECIDING, State.NAVIGATING}), State.VERIFYING),
    "wait": Transition(frozenset({State.DECIDING}), State.WAITING),
    "cross": Transition(frozenset({State.DECIDING}), State.CROSSING),
    "redecide": Transition(_RUNNING, State.DECIDING),
    "finish": Transition(_RUNNING, State.IDLE),
    "hold": Transition(frozenset({State.IDLE}), State.HELD),
    "release": Transition(frozenset({State.HELD}), State.IDLE),
}


#: Transitions that are events of the constraint state; the others follow from actions.
_EVENTS: dict[str, Callable[[ConstraintTracker], None]] = {
    "diagnose": ConstraintTracker.interrupt,
    "arrive": ConstraintTracker.arrive,
    "finish": ConstraintTracker.rest,
    "hold": ConstraintTracker.hold,
    "release": ConstraintTracker.rest,
}


class IllegalTransition(RuntimeError):
    """The loop was to take a transition that its state does not have; an error in the loop."""


class Transitions:
    """Takes transitions. Each method is one row of the table and leaves the context in the row's target state."""

    def __init__(self, context: LoopContext, outcomes: Outcomes) -> None:
        self._context, self.outcomes = context, outcomes

    def start(self, run: DirectiveRun) -> None:
        """The directive begins: the experts are asked with the next tick."""
        context = self._context
        context.run = run
        context.commands.append(LookFor(context.words.want(run.directive.nouns, context.place_names)))
        self._take("start")
        run.errand.ask_after = self._context.now

    def choose(self, run: DirectiveRun, choice: Choice) -> None:
        """A decision was made; it is validated next."""
        run.under_way.choice = choice
        self._take("choose")

    def send(
        self,
        run: DirectiveRun,
        proposal: Proposal,
        epoch: int,
        view: TargetView | None = None,
        is_checked: bool = False,
        keeps: bool = False,
    ) -> Verdict:
        """The navigator is given the proposal's goal where the validator accepts it; else nothing changes.

        Every goal of the loop leaves it here. view: of the target, for the beliefs of the trace. is_checked: the
        validator accepted it in this tick. keeps: a navigator that has this goal already keeps it.
        """
        context = self._context
        trace = trace_of(context, run.step, proposal, epoch, view or TargetView())
        verdict = Verdict() if is_checked else context.validator.check(trace)
        if not verdict.accepted:
            return verdict
        navigation = run.under_way.navigation
        if keeps and navigation is not None and _is_same_goal(navigation, proposal):
            navigation.proposal, navigation.moved = proposal, None
            self._record(run, proposal, trace)
        else:
            self._set_out(run, proposal, epoch, trace)
        self._take("send")
        return verdict

    def _set_out(self, run: DirectiveRun, proposal: Proposal, epoch: int, trace: Trace) -> None:
        context, pose, now = self._context, self._context.facts.known_pose, self._context.now
        goal = np.asarray(proposal.goal, np.float64)
        patience = goal_patience(pose, goal, context)
        run.under_way.navigation = Navigation(epoch, proposal, now, now + patience, pose.copy())
        self._record(run, proposal, trace)
        run.under_way.events = []
        run.under_way.last_review = run.under_way.last_check = now
        context.facts.odometer.rest()
        context.commands.append(
            SendGoal(epoch, goal, proposal.entity_id, proposal.expert, proposal.rationale)
        )

    def go(self, run: DirectiveRun, proposer: str, goal: np.ndarray, text: str) -> Verdict:
        """As `send`, for a goal (3,) of the loop's own; text: why, which the run tells where it is sent."""
        epoch = self._context.next_epoch()
        verdict = self.send(run, Proposal(proposer, epoch, goal, 1.0, text), epoch)
        run.text = text if verdict.accepted else run.text
        return verdict

    def _record(self, run: DirectiveRun, proposal: Proposal, trace: Trace) -> None:
        if proposal.expert == LOOK:  # about the action that failed, which is still open
            self.outcomes.begin_look(run, trace)
        else:
            run.under_way.case = None
            self.outcomes.begin(run, trace)
            self._context.constraint.begin(trace)
        self._context.commands.append(RecordTrace(trace))

    def diagnose(self, run: DirectiveRun, case: OpenCase) -> None:
        """An action failed: the robot stands, and finds out why before it does anything else."""
        if run.under_way.navigation is not None:
            self._context.commands.append(CancelGoal(case.why))
        self.outcomes.end_look(run, Result.CANCELLED, case.why)
        run.under_way.navigation = run.under_way.arrival = None
        run.requests.close()
        run.under_way.case = case
        self._take("diagnose")

    def diagnosed(
        self, run: DirectiveRun, failure: Failure, proposal: Proposal, why: str, **more: Any
    ) -> bool:
        """Return whether a failure is diagnosed now. more: of the case, see `Outcomes.open_case`."""
        case = self.outcomes.open_case(run, failure, proposal, why, **more)
        if case is not None:
            self.diagnose(run, case)
        return case is not None

    def arrive(self, run: DirectiveRun, navigation: Navigation, since: Stamp | None = None) -> None:
        """The robot stands at the goal and looks before anything is decided; after a step aside it decides.

        since: stamp from which it saw what it came for, where that was before it came to stand.
        """
        proposal = navigation.proposal
        run.under_way.navigation = None
        run.requests.close()
        if proposal.expert == LOOK and run.under_way.case is not None:
            run.under_way.case.until = self._context.now + self._context.config.recovery.turned
            self.outcomes.end_look(run, Result.COMMITTED, "Turned, and looked.")
            self.diagnose(run, run.under_way.case)
            return
        if not proposal.entity_id:
            self.outcomes.close(run, Result.COMMITTED)
        if proposal.expert == ASIDE:
            run.text = "Stepped aside; choosing anew."
            self.redecide(run)
            return
        pose = self._context.facts.pose
        if (
            pose is not None
            and math.dist(pose[:2], proposal.goal[:2]) <= self._context.config.return_tolerance
        ):
            run.errand.failures = 0
            if proposal.expert == SEMANTIC_MAP and not proposal.entity_id:
                run.errand.looked_at = proposal.rationale
        run.under_way.arrival = Arrival(
            np.asarray(proposal.goal) if since is None or pose is None else pose.copy(),
            proposal.entity_id,
            proposal.expert,
            self._context.now,
            since or self._context.facts.stamp,
        )
        entity = self._context.facts.entity(proposal.entity_id)
        run.text = (
            f"Arrived; checking {name_of(entity)}." if entity is not None else "Arrived; looking around."
        )
        self._take("arrive")

    def pass_by(self, run: DirectiveRun, navigation: Navigation) -> None:
        """The goal has shown what it was for: the next one is decided on, in motion where it is still driven to."""
        proposal, context = navigation.proposal, self._context
        navigation.passed = True
        run.errand.passed.append(np.asarray(proposal.goal, np.float64))
        run.errand.shown_at = context.now
        away, turned = apart(context.facts.known_pose, navigation.start)
        if away >= context.config.stuck_distance or turned >= context.config.stuck_angle:
            run.errand.failures = 0
        self.outcomes.close(run, Result.COMMITTED)
        context.account.close(Outcome.REACHED, context.search.look(run))
        run.text = "I have seen what I was going to look at; choosing the next place."
        self.redecide(run)

    def come_by(self, run: DirectiveRun, navigation: Navigation) -> None:
        """The robot stands at a goal that has shown what it was for; what it showed not, no other look there will."""
        run.under_way.navigation = None
        run.errand.goals.exclude(navigation.proposal.goal, REACHED, self._context.facts.grid)
        if self._context.state is not State.DECIDING or not navigation.passed:
            self.pass_by(run, navigation)

    def wait(self, run: DirectiveRun) -> None:
        """The robot stands until its activity goes on. It has no goal, and nothing may move it meanwhile."""
        run.requests.close()
        self.take_back(run, "the robot waits")
        self._take("wait")

    def carry_out(self, run: DirectiveRun, trace: Trace, patience: float) -> None:
        """A user's skill begins, for which the robot stands until it has ended, `patience` seconds at most."""
        context = self._context
        self.wait(run)
        self.outcomes.begin(run, trace)
        context.constraint.begin(trace)
        run.under_way.skill = OpenSkill(trace.epoch, trace, context.now + patience)
        context.commands += [RecordTrace(trace), RunSkill(trace.epoch, trace)]

    def cross(self, run: DirectiveRun, trace: Trace, passage: Passage, level: int, patience: float) -> None:
        """The robot takes a passage toward a level, within `patience` seconds at most. It has no goal meanwhile."""
        context = self._context
        run.requests.close()
        self.take_back(run, "the robot changes the floor")
        self._take("cross")
        self.outcomes.begin(run, trace)
        context.constraint.begin(trace)
        run.under_way.skill = OpenSkill(trace.epoch, trace, context.now + patience)
        floor = context.facts.building.active
        context.commands += [RecordTrace(trace), TakePassage(trace.epoch, trace, passage, floor, level)]

    def change_floor(self, run: DirectiveRun, text: str) -> None:
        """The errand goes on on another floor: what was found and left out stays so, goals and looks are others."""
        before = run.errand
        self.next_errand(run, text, success=True)
        run.errand.found_here, run.errand.excluded = before.found_here, dict(before.excluded)
        run.errand.pointed, run.errand.forgiven = before.pointed, set(before.forgiven)

    def redecide(self, run: DirectiveRun, wait: float = 0.0) -> None:
        """Ask the experts anew, `wait` seconds from now at the earliest; a goal under way stays under way."""
        run.requests.close()
        run.errand.ask_after = self._context.now + wait
        if run.under_way.navigation is not None:
            run.under_way.navigation.facing = (0, NEVER)  # nobody looks whether it still holds
        run.under_way.arrival = run.under_way.case = None
        if run.under_way.navigation is None:
            self.outcomes.end_look(run, Result.CANCELLED, "It was given up.")
        self._take("redecide")

    def finish(
        self, run: DirectiveRun, code: ErrorCode, message: str, outcome: Outcome = Outcome.ABORTED
    ) -> None:
        """The directive is over and the robot has no goal; that holds even if the account of it fails."""
        context = self._context
        context.run = None
        context.clock.go()
        context.facts.rest()
        self._take("finish")
        is_driving = run.under_way.navigation is not None
        self._end_errand(run, message, success=code in (ErrorCode.NONE, ErrorCode.UNABLE))
        if code is not ErrorCode.NONE and not is_driving:
            context.commands.append(CancelGoal(message))
        view = TargetView()
        try:
            view = context.search.look(run)
            found = code in (ErrorCode.NONE, ErrorCode.UNABLE) and run.step.kind is StepKind.FIND
            context.account.close(outcome, view, success=found, ended=True)
        except Exception:  # whatever it is, it must not keep the robot going
            _log.exception("the account of a directive that is over is incomplete")
        result = self._result(run, code, message, view)  # it tells of the words that were wanted
        context.commands += [LookFor(context.words.want(())), Finish(result)]

    def _result(self, run: DirectiveRun, code: ErrorCode, message: str, view: TargetView) -> DirectiveResult:
        """Return the result, with what was seen instead and a report for a person."""
        context = self._context
        nearest = tuple(c.entity_id for c in view.candidates if c.entity_id not in run.found)
        success = code is ErrorCode.NONE
        unseen = context.words.unseen
        sentences = [
            *run.report,
            *([] if message in run.report else [message]),
            *([unseen] if unseen else []),
        ]
        travelled = context.facts.odometer.distance - run.distance_before
        duration, pose = context.now - run.started, context.facts.pose
        story = ("\n" if any("\n" in part for part in sentences) else " ").join(sentences)
        account = f"Drove {travelled:.1f} m in {duration:.0f} s; {counted(run.decisions, 'decision')}."
        return DirectiveResult(
            error_code=code,
            error_msg="" if success else message,
            success=success,
            entity_ids=tuple(run.found),
            nearest_matches=() if success else nearest[: run.config.nearest_matches],
            epochs=run.decisions,
            distance_travelled=travelled,
            duration=duration,
            report=f"{story}\n{account}" if "\n" in story else f"{story} {account}",
            final_pose=None if pose is None else pose.copy(),
            question=run.question if code is ErrorCode.AMBIGUOUS else None,
            answers=tuple(run.answers),
            searched_share=context.searched.share,
            unseen=unseen,
        )

    def next_errand(self, run: DirectiveRun, message: str, success: bool = False) -> None:
        """The errand is over and the itinerary has gone on: nothing of the old errand reaches the new one."""
        self._end_errand(run, message, success)
        run.begin_errand()
        self.redecide(run)

    def _end_errand(self, run: DirectiveRun, message: str, success: bool) -> None:
        """The errand has no goal, no open action or trace, and waits for no answer; what was not carried out yet of
        its commands is withdrawn.
        """
        context = self._context
        begun = SendGoal | RequestProposals | AskMemory | RunSkill | TakePassage
        context.commands = [c for c in context.commands if not isinstance(c, begun)]
        self.end_action(run, message, success)
        run.requests.end_errand()
        if run.errand.query is not None:
            context.commands.append(WithdrawQuery(run.errand.query.ticket))
        run.errand.query = None

    def end_action(self, run: DirectiveRun, why: str, success: bool = False) -> None:
        """The action that is under way ends, with its trace, its goal and its diagnosis; another may begin."""
        self.outcomes.end_look(run, Result.CANCELLED, why)
        self.outcomes.close(run, Result.COMMITTED if success else Result.CANCELLED, why)
        self.take_back(run, why)
        run.errand.under_way = ActionState()

    def take_back(self, run: DirectiveRun, why: str) -> None:
        """The navigator has no goal and no skill is under way; the action that was to end so is not waited for."""
        if run.under_way.navigation is not None:
            run.under_way.navigation = None
            self.outcomes.close(run, Result.CANCELLED, why)
            self._context.commands.append(CancelGoal(why))
        skill, run.under_way.skill = run.under_way.skill, None
        if skill is not None and skill.end is None:
            self._context.commands.append(CancelSkill(skill.ticket))

    def hold(self) -> None:
        """Motion is forbidden until `release`."""
        self._take("hold")

    def release(self) -> None:
        """Directives are taken again."""
        self._take("release")

    def _take(self, name: str) -> None:
        edge, state = TRANSITIONS[name], self._context.state
        if state not in edge.sources:
            raise IllegalTransition(f"{name} is no transition of {state.name}")
        self._context.state = edge.target
        event = _EVENTS.get(name)
        if event is not None:
            event(self._context.constraint)


def _is_same_goal(navigation: Navigation, proposal: Proposal) -> bool:
    return _is_near(navigation.proposal.goal, proposal.goal)


def _is_near(goal: np.ndarray, other: np.ndarray) -> bool:
    metres, turned = apart(goal, other)
    return metres < 0.05 and turned < 0.1
