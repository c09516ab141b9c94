"""The decision loop (RoboAtlas Algorithm 1): a state machine that `tick(now)` advances.

Its owner passes facts to it (`on_...`), calls `tick` and carries out the returned commands. It has no thread and no
clock; the ROS node and the headless runner use the same class.
"""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from lodestar.agent.activities.activity import Tools
from lodestar.agent.activities.table import Activities
from lodestar.agent.decisions.requests import Requests
from lodestar.agent.errands.commands import (
    CancelGoal,
    Choice,
    Command,
    Feedback,
    NavigationEvent,
    OpenQuestion,
    SkillEnd,
    State,
)
from lodestar.agent.errands.context import LoopContext
from lodestar.agent.errands.errand import NOT_CHOSEN, Failure
from lodestar.agent.errands.run import DirectiveRun, Itinerary
from lodestar.agent.errands.words import been_in_words, step_in_words
from lodestar.agent.facts.config import LOOP_FRESH_LOOKS, LoopConfig
from lodestar.agent.facts.errors import Busy, ErrorCode, Held
from lodestar.agent.facts.times import Stamp
from lodestar.agent.facts.vocabulary import DirectiveWords
from lodestar.agent.loop.crossing import CrossingState
from lodestar.agent.loop.deciding import DecidingState, ValidatingState
from lodestar.agent.loop.diagnosing import DiagnosingState
from lodestar.agent.loop.feedback import feedback_of
from lodestar.agent.loop.following import MapFollower
from lodestar.agent.loop.navigating import NavigatingState, NavigatorNews
from lodestar.agent.loop.pointing import Pointed, Pointing
from lodestar.agent.loop.resting import RestingState, WaitingState, pause, refuse, resume, silent_input
from lodestar.agent.loop.verifying import VerifyingState
from lodestar.agent.recovery.outcomes import Outcomes
from lodestar.experts.protocol import Proposal, Rejection
from lodestar.floors.records import Building
from lodestar.grid.energy import EnergyBudget
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.language.checks import check_directive
from lodestar.language.directive import Directive
from lodestar.memory.answer import AnswerOutcome
from lodestar.perception.lookout import VocabularyReport
from lodestar.scene.mirror import SceneMirror
from lodestar.selection.decisions import Outcome
from lodestar.worldmodel.skill_steps import with_skills
from lodestar.worldmodel.validation import TraceValidator

LOOP_TIME_LIMIT = 900.0  # s, time limit of a directive without one of its own (ours)

_log = logging.getLogger(__name__)
_DRIVING = frozenset({State.DECIDING, State.NAVIGATING})  # states in which a goal may be in progress
_LEAVES_FLOOR = frozenset({State.CROSSING, State.WAITING})  # states in which the floor may be unknown
_STANDING = frozenset({State.IDLE, State.HELD, State.WAITING})  # states in which nothing may move the robot


class LoopState(Protocol):
    """Interface of one state of the decision loop."""

    def step(self, run: DirectiveRun) -> None:
        """Do one tick of the state's work; a transition may end the state."""


@dataclass(frozen=True)
class PartKinds:
    """Classes of the parts that a benchmark may replace; by default the robot's own."""

    validator: type[TraceValidator] = TraceValidator
    outcomes: type[Outcomes] = Outcomes
    news: type[NavigatorNews] = NavigatorNews
    diagnosing: type[DiagnosingState] = DiagnosingState


OWN_PARTS = PartKinds()


class DecisionLoop:
    """Follows one directive at a time. `motion_allowed` is false whenever the robot must stand.

    context: new, without a run (`make_context`).
    """

    def __init__(self, context: LoopContext, kinds: PartKinds = OWN_PARTS) -> None:
        self._context = context
        self._held_by = self._paused_by = ""
        context.validator = kinds.validator(context.facts, context.config.validation, context.skills)
        tools = Tools(context, kinds.outcomes(context))
        self._transitions, self._floors = tools.transitions, tools.floors
        activities = self._activities = Activities(tools)
        self._news = kinds.news(tools, activities)
        self._pointing, self._following = Pointing(context), MapFollower(context)
        self._navigating = NavigatingState(tools, activities, self._news)
        self._states: dict[State, LoopState] = {
            State.IDLE: RestingState(),
            State.DECIDING: DecidingState(tools, activities),
            State.VALIDATING: ValidatingState(tools),
            State.NAVIGATING: self._navigating,
            State.VERIFYING: VerifyingState(tools, activities),
            State.WAITING: WaitingState(tools, activities),
            State.DIAGNOSING: kinds.diagnosing(tools, self._news),
            State.CROSSING: CrossingState(tools),
            State.HELD: RestingState(),
        }

    # --- requests -------------------------------------------------------------------------------------------

    def start(
        self,
        directive: Directive,
        now: float,
        time_limit: float = 0.0,
        excluded: frozenset[int] = frozenset(),
    ) -> None:
        """Begin a directive. time_limit: seconds, 0 = the default; an endless directive has no default limit.

        excluded: entities that its first step must not accept as the target. Raises DirectiveRefused.
        """
        context = self._context
        if why := self._held_by or self._paused_by:
            raise Held(f"the robot is {why}")
        if context.run is not None:
            raise Busy(f"another directive runs: {context.run.directive.text!r}")
        directive = with_skills(directive, context.skills)
        refuse(directive, self.config, context.skills, context.facts.building)
        facts = context.facts
        facts.grid_heard = facts.pose_heard = context.clock.advance(now)
        itinerary = Itinerary(directive, context.place_names)
        words = step_in_words(itinerary.errand)
        default = math.inf if directive.is_endless else LOOP_TIME_LIMIT
        run = DirectiveRun(
            directive=directive,
            itinerary=itinerary,
            started=context.now,
            time_limit=time_limit if time_limit > 0.0 else default,
            config=self.config,
            distance_before=facts.odometer.distance,
            requests=Requests(self.config.expert_deadline),
            constraints_sent=directive.constraints,
            text=f"{words[:1].upper()}{words[1:]}: choosing where to go.",
        )
        run.errand.excluded = dict.fromkeys(excluded, NOT_CHOSEN)
        context.directives += 1
        context.questions.set_aside()
        context.searched.count_from(facts.stamp.after(-LOOP_FRESH_LOOKS).seconds)
        context.ledger.begin_directive(context.now, run.time_limit)
        self._transitions.start(run)

    def ask(self, text: str, choices: tuple[Choice, ...], now: float) -> OpenQuestion:
        """Return a new question to the user; `answer` answers it."""
        return self._context.questions.ask(text, choices, self._context.clock.advance(now))

    def answer(self, question: str, choice: int, now: float, time_limit: float = 0.0) -> Directive:
        """Begin the directive of a choice (counted from 1) for an open question, and return it. Raises
        DirectiveRefused, or DirectiveError for a directive that cannot be obeyed.
        """
        questions = self._context.questions
        chosen = questions.answered(question, choice, self._context.clock.advance(now))
        check_directive(chosen.directive)  # a reading that was asked back has not been checked
        self.start(chosen.directive, now, time_limit, chosen.excluded)
        questions.close(question)
        return chosen.directive

    def point_out(self, point: np.ndarray, now: float) -> Pointed:
        """Return the meaning of a point (3,) in map that a person indicated: an answer to the open question, or the
        target of the search, which the robot then goes to. Raises PointingRefused.
        """
        self._context.clock.advance(now)
        return self._pointing.at(point)

    def cancel(self, now: float, why: str = "Cancelled on request.") -> None:
        """End the directive as CANCELLED. Motion is forbidden at once; the commands come with the next tick."""
        self._context.clock.advance(now)
        self._stop(ErrorCode.CANCELLED, why)

    def _stop(self, code: ErrorCode, why: str) -> None:
        """End the running directive, and cancel the navigator's goal in any case."""
        if self._context.run is not None:
            self._transitions.finish(self._context.run, code, why, Outcome.CANCELLED)
        else:
            self._context.commands.append(CancelGoal(why))

    def hold(self, held: bool, now: float, why: str = "held") -> None:
        """Forbid or permit motion; forbidding it ends a directive as HELD. why: reason given to directives
        that are refused meanwhile.
        """
        self._context.clock.advance(now)
        self._held_by = why if held else ""
        if held and not self.held:
            self._stop(ErrorCode.HELD, "Held: all motion was stopped on request.")
            self._transitions.hold()
        elif self.held and not held:
            self._transitions.release()

    def pause(self, paused: bool, now: float, why: str = "paused") -> None:
        """Stop the robot and suspend the running directive, or resume it. No other begins while it is paused."""
        context = self._context
        self._paused_by = why if paused else ""
        context.clock.advance(now)
        run = context.run
        if run is not None and paused and not context.clock.stands:
            pause(context, self._transitions, run)
        elif run is not None and not paused and context.clock.stands:
            resume(context, run)

    def restart_clock(self, now: float) -> None:
        """Restart at `now`, after a simulator or replay has restarted: discard the pose, and end a running
        directive.
        """
        context = self._context
        if context.run is not None:
            message = "The clock went back: the simulator or the replay has started again."
            self._transitions.finish(context.run, ErrorCode.TF_ERROR, message, Outcome.CANCELLED)
        context.clock.restart(now)
        context.facts.restart_clock(now)
        context.ledger.builder.restart_clock()
        for looks in (context.searched, *context.searched_floors.values()):
            looks.restart_clock()
        context.questions.restart_clock()

    # --- facts ----------------------------------------------------------------------------------------------

    def on_pose(self, pose: np.ndarray, stamp: float) -> None:
        """Store the robot's pose (3,) x, y, yaw in map. A pose older than the last, or not finite, is ignored.

        stamp: seconds on the sensors' clock, not the time of `tick`.
        """
        context = self._context
        if context.facts.take_pose(pose, Stamp(stamp), context.now):
            context.ledger.builder.observe_pose(context.facts.known_pose, stamp)

    def on_correction(self, map_from_odom: np.ndarray, odom_from_sensor: np.ndarray, stamp: float) -> None:
        """Move stored places after a jump of map <- odom; see `MapFollower`."""
        self._following.take(map_from_odom, odom_from_sensor, stamp)

    def on_motion(self, command: np.ndarray, velocity: np.ndarray, stamp: float) -> None:
        """Store the commanded and the measured velocity, (3,) each: m/s, m/s, rad/s in the body frame."""
        facts = self._context.facts
        if np.isfinite(command).all() and np.isfinite(velocity).all():
            facts.contacts.observe(command, velocity, facts.pose, Stamp(stamp))
            facts.odometer.feel(velocity, Stamp(stamp))

    def on_grid(self, grid: OccupancyGrid2D) -> None:
        """Store the grid for all planning."""
        self._context.facts.take_grid(grid, self._context.now)

    def on_scene(self, mirror: SceneMirror, whole: SceneMirror | None = None) -> None:
        """Store the scene mirror of the robot's floor, which may change in place between ticks.

        whole: mirror of all floors; None = the same.
        """
        self._context.facts.mirror, self._context.facts.whole = mirror, whole or mirror

    def on_building(self, building: Building) -> None:
        """Store the known floors and the robot's floor."""
        self._context.take_building(building)

    def on_sight(self, stamp: float) -> None:
        """Note that the camera sent an image at `stamp`, seconds. Without such calls a silent camera is not
        noticed.
        """
        self._context.facts.sight = max(self._context.facts.sight, Stamp(stamp))

    def on_look(self, map_from_camera: np.ndarray, stamp: float) -> None:
        """Count the floor in view of the camera's pose (4, 4), optical frame, as searched: its image of `stamp`,
        seconds, entered the map. Without such calls nothing is searched.
        """
        facts = self._context.facts
        if facts.pose is not None and not (facts.building.is_between or facts.building.outdates(stamp)):
            self._context.searched.note(map_from_camera, facts.pose, stamp, facts.grid)

    def on_vocabulary(self, report: VocabularyReport) -> None:
        """Store perception's report on the words it can name, in answer to `LookFor` or unasked."""
        self._context.words.hear(report)

    def on_energy(self, budget: EnergyBudget) -> None:
        """Store the battery's budget."""
        self._context.facts.take_energy(budget)

    def on_answer(self, answer: Proposal | Rejection) -> None:
        """Store an expert's answer. A late one is kept for the next epoch; an unrequested one is dropped."""
        if self._context.run is not None:
            self._context.run.requests.hear(answer, self._context.now)

    def on_memory(self, ticket: int, outcome: AnswerOutcome) -> None:
        """Store the outcome of a query to the memory; ignore a query that is no longer pending."""
        query = None if self._context.run is None else self._context.run.errand.query
        if query is not None and query.ticket == ticket:
            query.outcome = outcome

    def on_asks(self, text: str) -> None:
        """Show a request for a person's help, such as to open a lift's door, as the status text while the
        robot takes a lift.
        """
        if self._context.run is not None and self.state is State.CROSSING:
            self._context.run.text = text

    def on_skill(self, ticket: int, end: SkillEnd) -> None:
        """Store the end of a skill; ignore a skill that is no longer pending, and repeated reports."""
        context = self._context
        skill = None if context.run is None else context.run.under_way.skill
        if skill is not None and skill.ticket == ticket and skill.end is None:
            skill.end, skill.ended, skill.ended_at = end, context.now, context.facts.stamp

    def on_navigation(self, event: NavigationEvent) -> None:
        """Queue a report of the navigator for the next tick."""
        run = self._context.run
        if run is not None and run.under_way.navigation is not None:
            run.under_way.events.append(event)

    # --- state for the owner --------------------------------------------------------------------------------

    @property
    def config(self) -> LoopConfig:
        """Return the loop's configuration."""
        return self._context.config

    @property
    def state(self) -> State:
        """Return the loop's state."""
        return self._context.state

    @property
    def epoch(self) -> int:
        """Return the number of the newest request or goal (epoch)."""
        return self._context.epoch

    @property
    def epoch_seconds(self) -> float:
        """Return the seconds from the newest request to its decision; NaN before the first."""
        return self._context.epoch_seconds

    @property
    def experts(self) -> tuple[str, ...]:
        """Return the names of the experts."""
        return self._context.experts

    @property
    def energy(self) -> EnergyBudget:
        """Return the energy budget: the newest message less the distance driven since."""
        return self._context.facts.energy

    @property
    def goal_under_way(self) -> bool:
        """Return whether the navigator has a goal of this loop, or the robot takes a passage."""
        run = self._context.run
        return run is not None and (run.under_way.navigation is not None or self.state is State.CROSSING)

    @property
    def motion_allowed(self) -> bool:
        """Return whether the robot may move: a goal is under way, and nothing makes the robot stand."""
        return self.goal_under_way and not self._context.clock.stands and self.state not in _STANDING

    @property
    def held(self) -> bool:
        """Return whether the latch that forbids motion is set."""
        return self.state is State.HELD

    @property
    def directive(self) -> Directive | None:
        """Return the running directive, None = none."""
        return self._context.run.directive if self._context.run is not None else None

    @property
    def words(self) -> DirectiveWords:
        """Return the words that perception should detect, and its report on them."""
        return self._context.words

    @property
    def skill(self) -> str:
        """Return the name of the user-defined skill in progress, "" = none."""
        skill = None if self._context.run is None else self._context.run.under_way.skill
        return "" if skill is None else skill.trace.action.skill.value

    def feedback(self) -> Feedback:
        """Return the loop's state, goal and reason, for the action's feedback."""
        return feedback_of(self._context)

    # --- the machine ----------------------------------------------------------------------------------------

    def advance(self, now: float) -> None:
        """Set the time of the following inputs, seconds. Needed during a long tick, whose begin would be too
        old.
        """
        self._context.clock.advance(now)

    def tick(self, now: float) -> list[Command]:
        """Advance to `now`, seconds, and return the resulting commands. A time that goes back is ignored."""
        context = self._context
        context.clock.advance(now)
        run = context.run
        if run is not None and not context.clock.stands:
            self._guarded(run)
        commands, context.commands = context.commands, []
        return commands

    def _guarded(self, run: DirectiveRun) -> None:
        """Do one step of the directive, unless its time is over or inputs are silent. An error ends the
        directive, because it would recur with every tick.
        """
        try:
            silence = silent_input(self._context)
            if self._context.now - run.started > run.time_limit and not self._must_go_on(run):
                self._end_at_limit(run)
            elif silence is None:
                self._step(run)
            else:
                code, message = silence
                self._transitions.outcomes.note(run, Failure.INPUTS, message)
                self._transitions.finish(run, code, message)
        except Exception as error:
            _log.exception("the decision loop failed")
            if self._context.run is run:
                message = f"The decision loop failed: {type(error).__name__}: {error}"
                self._transitions.finish(run, ErrorCode.UNKNOWN, message)

    def _must_go_on(self, run: DirectiveRun) -> bool:
        """Return whether the directive continues past its time limit, because the robot is on stairs or on
        its way to the charger.
        """
        return self.state is State.CROSSING or run.charging or run.returning

    def _end_at_limit(self, run: DirectiveRun) -> None:
        """End a directive whose time is over, with its activity's conclusion if it has one."""
        message = f"The time limit of {run.time_limit:.0f} s is reached."
        known = self._activities.of(run).conclusion(run)
        code, words = (ErrorCode.TIME_LIMIT, "") if known is None else known
        told = words, been_in_words(run), message
        self._transitions.finish(run, code, " ".join(filter(None, told)))

    def _step(self, run: DirectiveRun) -> None:
        if self.state not in _LEAVES_FLOOR and self._floors.stands(run):
            return
        self._news.hear(run)
        if self._context.run is not run:
            return
        if self.state in _DRIVING and self._navigating.is_given_up(run):
            return
        self._states[self.state].step(run)
        if self.state is State.VALIDATING:  # runs in the tick in which it was chosen
            self._states[self.state].step(run)
