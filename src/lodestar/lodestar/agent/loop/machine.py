"""The decision loop (RoboAtlas Algorithm 1): a state machine that `tick(now)` advances.

Its owner hands it facts (`on_...`), calls `tick` and carries out the commands that come back. It has no thread and no
clock; the ROS node and the headless runner drive the same class.
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
from lodestar.agent.facts.config import LoopConfig
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
from lodestar.language.directive import Directive
from lodestar.memory.answer import AnswerOutcome
from lodestar.perception.lookout import VocabularyReport
from lodestar.scene.mirror import SceneMirror
from lodestar.selection.decisions import Outcome
from lodestar.worldmodel.skill_steps import with_skills
from lodestar.worldmodel.validation import TraceValidator

_log = logging.getLogger(__name__)
_DRIVING = frozenset({State.DECIDING, State.NAVIGATING})  # in which a goal may be under way
_LEAVES_FLOOR = frozenset({State.CROSSING, State.WAITING})  # in which it need not know its floor
_STANDING = frozenset({State.IDLE, State.HELD, State.WAITING})  # in which nothing may move the robot


class LoopState(Protocol):
    """One state of the loop."""

    def step(self, run: DirectiveRun) -> None:
        """Do what the state does in one tick; a transition may leave it."""
        ...


@dataclass(frozen=True)
class PartKinds:
    """Classes of the parts that a comparison may replace; by default the robot's own."""

    validator: type[TraceValidator] = TraceValidator
    outcomes: type[Outcomes] = Outcomes
    news: type[NavigatorNews] = NavigatorNews
    diagnosing: type[DiagnosingState] = DiagnosingState


OWN_PARTS = PartKinds()


class DecisionLoop:
    """Follows one directive at a time; `motion_allowed` is false whenever the robot must stand.

    context: in which nothing runs yet (`make_context`).
    """

    def __init__(self, context: LoopContext, kinds: PartKinds = OWN_PARTS) -> None:
        self._context = context
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
        """Begin a directive; time_limit in seconds, 0 = the default, which one that is endless has none of.

        excluded: entities that its first step does not mean.
        Raises DirectiveRefused.
        """
        context = self._context
        if context.state is State.HELD:
            raise Held("the robot is held; release the hold first")
        if context.run is not None:
            raise Busy(f"another directive runs: {context.run.directive.text!r}")
        directive = with_skills(directive, context.skills)
        refuse(directive, self.config, context.skills, context.facts.building)
        facts = context.facts
        facts.grid_heard = facts.pose_heard = context.clock.advance(now)
        itinerary = Itinerary(directive, context.place_names)
        words = step_in_words(itinerary.errand)
        default = math.inf if directive.is_endless else self.config.time_limit
        run = DirectiveRun(
            directive=directive,
            itinerary=itinerary,
            started=context.now,
            time_limit=time_limit if time_limit > 0.0 else default,
            config=self.config,
            distance_before=facts.odometer.distance,
            requests=Requests(self.config),
            constraints_sent=directive.constraints,
            text=f"{words[:1].upper()}{words[1:]}: asking the experts where to go.",
        )
        run.errand.excluded = dict.fromkeys(excluded, NOT_CHOSEN)
        context.directives += 1
        context.questions.set_aside()
        context.searched.count_from(facts.stamp.after(-self.config.fresh_looks).seconds)
        context.ledger.begin_directive(context.now, run.time_limit)
        self._transitions.start(run)

    def ask(self, text: str, choices: tuple[Choice, ...], now: float) -> OpenQuestion:
        """A question to whoever gave a directive, which `answer` answers."""
        return self._context.questions.ask(text, choices, self._context.clock.advance(now))

    def answer(self, question: str, choice: int, now: float, time_limit: float = 0.0) -> Directive:
        """Begin what a choice (counted from 1) of an open question means, and return it. Raises DirectiveRefused."""
        questions = self._context.questions
        chosen = questions.answered(question, choice, self._context.clock.advance(now))
        self.start(chosen.directive, now, time_limit, chosen.excluded)
        questions.close(question)
        return chosen.directive

    def point_out(self, point: np.ndarray, now: float) -> Pointed:
        """Return what a person means who points at (3,) in map: an answer to the open question, or the target of the
        search, which is gone to from now on. Raises PointingRefused.
        """
        self._context.clock.advance(now)
        return self._pointing.at(point)

    def cancel(self, now: float, why: str = "Cancelled on request.") -> None:
        """End the directive as CANCELLED; motion is refused at once, the commands come with the next tick."""
        self._context.clock.advance(now)
        self._stop(ErrorCode.CANCELLED, why)

    def _stop(self, code: ErrorCode, why: str) -> None:
        """The directive that runs ends, and no navigator keeps a goal, whether one runs or not."""
        if self._context.run is not None:
            self._transitions.finish(self._context.run, code, why, Outcome.CANCELLED)
        else:
            self._context.commands.append(CancelGoal(why))

    def hold(self, held: bool, now: float) -> None:
        """Set or release the latch that forbids motion; setting it ends a directive as HELD."""
        self._context.clock.advance(now)
        if held and not self.held:
            self._stop(ErrorCode.HELD, "Held: all motion was stopped on request.")
            self._transitions.hold()
        elif self.held and not held:
            self._transitions.release()

    def pause(self, paused: bool, now: float) -> None:
        """Let the robot stand and keep the directive that runs, or go on with it."""
        context = self._context
        context.clock.advance(now)
        run = context.run
        if run is not None and paused and not context.clock.stands:
            pause(context, self._transitions, run)
        elif run is not None and not paused and context.clock.stands:
            resume(context, run)

    def restart_clock(self, now: float) -> None:
        """Time begins anew at `now`: a simulator or a replay has started again, and nothing known of where the
        robot is holds any more. A directive that runs is over.
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
        """The robot is at pose (3,) x, y, yaw in map; a pose older than the last, or not finite, is dropped.

        stamp: seconds on the clock of the sensors, not the time of `tick`.
        """
        context = self._context
        if context.facts.take_pose(pose, Stamp(stamp), context.now):
            context.ledger.builder.observe_pose(context.facts.known_pose, stamp)
            if context.facts.blind_for <= self.config.recovery.camera_patience:
                context.searched.note(
                    context.facts.known_pose, context.facts.stamp.seconds, context.facts.grid
                )

    def on_correction(self, map_from_odom: np.ndarray, odom_from_sensor: np.ndarray, stamp: float) -> None:
        """Move the places that are kept where map <- odom has jumped; see `MapFollower`."""
        self._following.take(map_from_odom, odom_from_sensor, stamp)

    def on_motion(self, command: np.ndarray, velocity: np.ndarray, stamp: float) -> None:
        """The robot was told `command` and moves with `velocity`, (3,) each: m/s, m/s, rad/s in the body frame."""
        facts = self._context.facts
        if np.isfinite(command).all() and np.isfinite(velocity).all():
            facts.contacts.observe(command, velocity, facts.pose, Stamp(stamp))
            facts.odometer.feel(velocity, Stamp(stamp))

    def on_grid(self, grid: OccupancyGrid2D) -> None:
        """Plan everything on this grid from now on."""
        self._context.facts.take_grid(grid, self._context.now)

    def on_scene(self, mirror: SceneMirror, whole: SceneMirror | None = None) -> None:
        """The scene's copy, which may change in place between ticks: what is on the robot's floor.

        whole: what is on all floors; None = the same.
        """
        self._context.facts.mirror, self._context.facts.whole = mirror, whole or mirror

    def on_building(self, building: Building) -> None:
        """Take the floors that are known, and that on which the robot is."""
        self._context.take_building(building)

    def on_sight(self, stamp: float) -> None:
        """The camera sent an image at `stamp`, seconds; without any such word, a silent camera is not noticed."""
        self._context.facts.sight = max(self._context.facts.sight, Stamp(stamp))

    def on_vocabulary(self, report: VocabularyReport) -> None:
        """Take what perception can name, in answer to `LookFor` or before any."""
        self._context.words.hear(report)

    def on_energy(self, budget: EnergyBudget) -> None:
        """The battery lasts for this budget from now on."""
        self._context.facts.take_energy(budget)

    def on_answer(self, answer: Proposal | Rejection) -> None:
        """Take an expert's answer; a late one is kept for the next epoch, one that was not asked for is dropped."""
        if self._context.run is not None:
            self._context.run.requests.hear(answer, self._context.now)

    def on_memory(self, ticket: int, outcome: AnswerOutcome) -> None:
        """Take the outcome of a question to the memory; one that is not waited for any more is dropped."""
        query = None if self._context.run is None else self._context.run.errand.query
        if query is not None and query.ticket == ticket:
            query.outcome = outcome

    def on_asks(self, text: str) -> None:
        """Tell what a person is asked to do while a lift is taken."""
        if self._context.run is not None and self.state is State.CROSSING:
            self._context.run.text = text

    def on_skill(self, ticket: int, end: SkillEnd) -> None:
        """Take how a skill ended; one that is not waited for any more is dropped, and so is a second word of an end."""
        context = self._context
        skill = None if context.run is None else context.run.under_way.skill
        if skill is not None and skill.ticket == ticket and skill.end is None:
            skill.end, skill.ended, skill.ended_at = end, context.now, context.facts.stamp

    def on_navigation(self, event: NavigationEvent) -> None:
        """News of the navigator, looked at in the next tick."""
        run = self._context.run
        if run is not None and run.under_way.navigation is not None:
            run.under_way.events.append(event)

    # --- what others may know -------------------------------------------------------------------------------

    @property
    def config(self) -> LoopConfig:
        """The loop's numbers."""
        return self._context.config

    @property
    def state(self) -> State:
        """The state that the loop is in."""
        return self._context.state

    @property
    def epoch(self) -> int:
        """The newest epoch."""
        return self._context.epoch

    @property
    def epoch_seconds(self) -> float:
        """Seconds from the newest request to its decision; NaN before the first."""
        return self._context.epoch_seconds

    @property
    def experts(self) -> tuple[str, ...]:
        """Names of the experts."""
        return self._context.experts

    @property
    def energy(self) -> EnergyBudget:
        """Return the energy budget from the newest message and the distance driven since."""
        return self._context.facts.energy

    @property
    def motion_allowed(self) -> bool:
        """Whether the robot may move at all."""
        run = self._context.run
        stands = self._context.clock.stands or self.state in _STANDING
        return run is not None and not stands

    @property
    def held(self) -> bool:
        """Whether the latch is set."""
        return self.state is State.HELD

    @property
    def directive(self) -> Directive | None:
        """The one that runs."""
        return self._context.run.directive if self._context.run is not None else None

    @property
    def words(self) -> DirectiveWords:
        """Return the words that perception is to look for, and whether it does."""
        return self._context.words

    @property
    def skill(self) -> str:
        """Name of the skill of a user's that is under way, "" = none."""
        skill = None if self._context.run is None else self._context.run.under_way.skill
        return "" if skill is None else skill.trace.action.skill.value

    def feedback(self) -> Feedback:
        """Return the state, the goal and the reason, for the action's feedback."""
        return feedback_of(self._context)

    # --- the machine ----------------------------------------------------------------------------------------

    def advance(self, now: float) -> None:
        """Set the time of the inputs that follow, seconds: after a long tick it would still be that of its begin."""
        self._context.clock.advance(now)

    def tick(self, now: float) -> list[Command]:
        """The commands that follow from advancing to `now`, seconds; time that goes back counts as no time."""
        context = self._context
        context.clock.advance(now)
        run = context.run
        if run is not None and not context.clock.stands:
            self._guarded(run)
        commands, context.commands = context.commands, []
        return commands

    def _guarded(self, run: DirectiveRun) -> None:
        """One step; an error in it ends the directive, because it would come again with every tick."""
        try:
            silence = silent_input(self._context)
            if self._context.now - run.started > run.time_limit and self.state is not State.CROSSING:
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

    def _end_at_limit(self, run: DirectiveRun) -> None:
        """End a directive whose time is over, with what its errand knows by then."""
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
        if self.state is State.VALIDATING:  # a state of its own, but of no tick of its own
            self._states[self.state].step(run)
