"""Transitions of the decision loop between its states, and the effects of each."""

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
from lodestar.agent.facts.config import (
    LOOP_NEAREST_MATCHES,
    LOOP_RETURN_TOLERANCE,
    LOOP_STUCK_ANGLE,
    LOOP_STUCK_DISTANCE,
)
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

RECOVERY_TURNED = 1.0  # s after a diagnostic turn in which objects there are detected (ours)

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Transition:
    """A permitted change of the loop's state: the states in which it may happen, and the state that it leads
    to (possibly the same).
    """

    sources: frozenset[State]
    target: State


_RUNNING = frozenset(State) - {State.IDLE, State.HELD}

#: All transitions. ARCHITECTURE.md has the same table; a test compares them.
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


#: Transitions that are also events of the constraint state; its other changes follow from actions.
_EVENTS: dict[str, Callable[[ConstraintTracker], None]] = {
    "diagnose": ConstraintTracker.interrupt,
    "arrive": ConstraintTracker.arrive,
    "finish": ConstraintTracker.rest,
    "hold": ConstraintTracker.hold,
    "release": ConstraintTracker.rest,
}


class IllegalTransition(RuntimeError):
    """The loop attempted a transition that its state does not have; a bug in the loop."""


class Transitions:
    """Performs transitions. Each public method with a row in TRANSITIONS leaves the context in that row's
    target state.
    """

    def __init__(self, context: LoopContext, outcomes: Outcomes) -> None:
        self._context, self.outcomes = context, outcomes

    def start(self, run: DirectiveRun) -> None:
        """Start the directive; the experts are asked with the next tick."""
        context = self._context
        context.run = run
        context.commands.append(LookFor(context.words.want(run.directive.nouns, context.place_names)))
        self._take("start")
        run.errand.ask_after = self._context.now

    def choose(self, run: DirectiveRun, choice: Choice) -> None:
        """Store the policy's choice; it is validated in state VALIDATING."""
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
        """Send the proposal's goal to the navigator if the validator accepts it; else change nothing. Return
        the verdict.

        Every goal of the loop is sent here. view: candidates for the target, whose relations are recorded in
        the trace. is_checked: the validator accepted the proposal in this tick. keeps: do not resend a goal
        that the navigator already has.
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
        """Send a goal (3,) that the loop itself has chosen, as `send` does, and return the verdict. text:
        rationale, and status text once the goal is sent.
        """
        epoch = self._context.next_epoch()
        verdict = self.send(run, Proposal(proposer, epoch, goal, 1.0, text), epoch)
        run.text = text if verdict.accepted else run.text
        return verdict

    def _record(self, run: DirectiveRun, proposal: Proposal, trace: Trace) -> None:
        if proposal.expert == LOOK:  # belongs to the failed action, which is still open
            self.outcomes.begin_look(run, trace)
        else:
            run.under_way.case = None
            self.outcomes.begin(run, trace)
            self._context.constraint.begin(trace)
        self._context.commands.append(RecordTrace(trace))

    def diagnose(self, run: DirectiveRun, case: OpenCase) -> None:
        """Stop the robot and diagnose the failed action."""
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
        """Open a case for the failure, and stop the robot to diagnose it. Return whether a case was opened.
        more: fields of the case, see `Outcomes.open_case`.
        """
        case = self.outcomes.open_case(run, failure, proposal, why, **more)
        if case is not None:
            self.diagnose(run, case)
        return case is not None

    def arrive(self, run: DirectiveRun, navigation: Navigation, since: Stamp | None = None) -> None:
        """End the drive to the goal, and begin to verify the goal. After a turn for a diagnosis, resume the
        diagnosis instead; after a step aside, decide again.

        since: stamp from which observations of the object or place at the goal count, if earlier than the
        arrival.
        """
        proposal = navigation.proposal
        run.under_way.navigation = None
        run.requests.close()
        if proposal.expert == LOOK and run.under_way.case is not None:
            run.under_way.case.until = self._context.now + RECOVERY_TURNED
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
        if pose is not None and math.dist(pose[:2], proposal.goal[:2]) <= LOOP_RETURN_TOLERANCE:
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
        """Count a viewpoint goal as reached without stopping, because the place to view from it was already
        observed, and choose the next goal.
        """
        proposal, context = navigation.proposal, self._context
        navigation.passed = True
        run.errand.passed.append(np.asarray(proposal.goal, np.float64))
        run.errand.shown_at = context.now
        away, turned = apart(context.facts.known_pose, navigation.start)
        if away >= LOOP_STUCK_DISTANCE or turned >= LOOP_STUCK_ANGLE:
            run.errand.failures = 0
        self.outcomes.close(run, Result.COMMITTED)
        context.account.close(Outcome.REACHED, context.search.look(run))
        run.text = "I have seen what I was going to look at; choosing the next place."
        self.redecide(run)

    def come_by(self, run: DirectiveRun, navigation: Navigation) -> None:
        """Exclude a viewpoint goal at which the robot has stopped, and count it as reached unless `pass_by`
        has already done so.
        """
        run.under_way.navigation = None
        run.errand.goals.exclude(navigation.proposal.goal, REACHED, self._context.facts.grid)
        if self._context.state is not State.DECIDING or not navigation.passed:
            self.pass_by(run, navigation)

    def wait(self, run: DirectiveRun) -> None:
        """Stop the robot until the activity continues. Meanwhile it has no goal, and nothing may move it."""
        run.requests.close()
        self.take_back(run, "the robot waits")
        self._take("wait")

    def carry_out(self, run: DirectiveRun, trace: Trace, patience: float) -> None:
        """Run a user-defined skill. The robot stands until it ends, at most `patience` seconds."""
        context = self._context
        self.wait(run)
        self.outcomes.begin(run, trace)
        context.constraint.begin(trace)
        run.under_way.skill = OpenSkill(trace.epoch, trace, context.now + patience)
        context.commands += [RecordTrace(trace), RunSkill(trace.epoch, trace)]

    def cross(self, run: DirectiveRun, trace: Trace, passage: Passage, level: int, patience: float) -> None:
        """Take a passage toward a level, within `patience` seconds. The robot has no goal meanwhile."""
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
        """Restart the errand on another floor. Found and excluded entities are kept; goals and observations are
        not.
        """
        before = run.errand
        self.next_errand(run, text, success=True)
        run.errand.found_here, run.errand.excluded = before.found_here, dict(before.excluded)
        run.errand.pointed, run.errand.forgiven = before.pointed, set(before.forgiven)

    def redecide(self, run: DirectiveRun, wait: float = 0.0) -> None:
        """Ask the experts again, at the earliest `wait` seconds from now. A goal in progress is kept."""
        run.requests.close()
        run.errand.ask_after = self._context.now + wait
        if run.under_way.navigation is not None:
            run.under_way.navigation.facing = (0, NEVER)  # no check of the goal in this state
        run.under_way.arrival = run.under_way.case = None
        if run.under_way.navigation is None:
            self.outcomes.end_look(run, Result.CANCELLED, "It was given up.")
        self._take("redecide")

    def finish(
        self, run: DirectiveRun, code: ErrorCode, message: str, outcome: Outcome = Outcome.ABORTED
    ) -> None:
        """End the directive; the robot has no goal afterwards, even if recording its last decision fails."""
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
        except Exception:  # no error here may keep the robot driving
            _log.exception("the account of a directive that is over is incomplete")
        result = self._result(run, code, message, view)  # before LookFor resets the wanted words
        context.commands += [LookFor(context.words.want(())), Finish(result)]

    def _result(self, run: DirectiveRun, code: ErrorCode, message: str, view: TargetView) -> DirectiveResult:
        """Return the result, with the nearest matches if it failed, and a report for a person."""
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
            nearest_matches=() if success else nearest[:LOOP_NEAREST_MATCHES],
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
        """End the current errand and begin the itinerary's next one, with fresh state."""
        self._end_errand(run, message, success)
        run.begin_errand()
        self.redecide(run)

    def _end_errand(self, run: DirectiveRun, message: str, success: bool) -> None:
        """End the errand: close its action, trace and memory query, and drop its commands that were not
        carried out yet.
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
        """End the current action with its trace, goal and diagnosis, so that another may begin."""
        self.outcomes.end_look(run, Result.CANCELLED, why)
        self.outcomes.close(run, Result.COMMITTED if success else Result.CANCELLED, why)
        self.take_back(run, why)
        run.errand.under_way = ActionState()

    def take_back(self, run: DirectiveRun, why: str) -> None:
        """Cancel the goal and the skill in progress, without waiting until they have stopped."""
        if run.under_way.navigation is not None:
            run.under_way.navigation = None
            self.outcomes.close(run, Result.CANCELLED, why)
            self._context.commands.append(CancelGoal(why))
        skill, run.under_way.skill = run.under_way.skill, None
        if skill is not None and skill.end is None:
            self._context.commands.append(CancelSkill(skill.ticket))

    def hold(self) -> None:
        """Forbid motion until `release`."""
        self._take("hold")

    def release(self) -> None:
        """Permit motion and accept directives again."""
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
