"""State of one directive, which ends with it: its itinerary, the errand, and what came of those before."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from lodestar.agent.decisions.requests import Requests
from lodestar.agent.errands.commands import OpenQuestion
from lodestar.agent.errands.errand import ActionState, Errand
from lodestar.agent.facts.config import LoopConfig
from lodestar.agent.facts.errors import ErrorCode
from lodestar.agent.facts.times import NEVER, Stamp
from lodestar.experts.absence import SearchBelief
from lodestar.language.directive import (
    ROBOT_FRAME,
    UNTIL_CANCELLED,
    Constraint,
    Directive,
    Item,
    Scope,
    Step,
    StepKind,
)
from lodestar.language.levels import is_floor
from lodestar.language.query_graph import SPOTS
from lodestar.memory.answer import Answer
from lodestar.models.lexicon import load_lexicon


def is_spot(item: Item) -> bool:
    """Whether only relations say where it is."""
    lexicon = load_lexicon()
    return bool(item.best) and all(
        (graph.target.category in SPOTS or lexicon.is_generic(graph.target.category))
        and len(graph.variables) > 1
        for graph in item.best
    )


def is_room(item: Item, names: Collection[str]) -> bool:
    """Whether it is a room by the lexicon, or by a word that operators have for one here (`names`)."""
    lexicon = load_lexicon()
    categories = [graph.target.category for graph in item.best]
    return bool(categories) and all(
        lexicon.room(word) is not None or word.casefold() in names for word in categories
    )


def errand_of(step: Step, names: Collection[str]) -> Step:
    """The step as it is done: going to a thing is to find it, an earlier place is gone to. names: of rooms here."""
    if step.kind is StepKind.RETURN and step.item is not None and (step.item.best or step.item.images):
        step = replace(step, kind=StepKind.GO)
    if step.kind is not StepKind.GO or step.pose is not None or step.is_remembered:
        return step
    if step.item is None:
        return replace(step, item=Item(tuple((room,) for room in step.scope.rooms)), scope=Scope())
    if (
        is_room(step.item, names)
        or is_spot(step.item)
        or (step.scope.level is not None and is_floor(step.item))
    ):
        return step
    return replace(step, kind=StepKind.FIND)


class Itinerary:
    """The errand that is worked on and the way to the next one.

    index: of the step in the directive. errand: what is done for it now; the same object while it is worked on.
    """

    def __init__(self, directive: Directive, names: Collection[str] = ()) -> None:
        self._directive = directive
        self.index = 0
        self._stop = 0  # of a patrol
        self._round = 1  # of the step
        self._lap = 1  # of the directive
        self.errand = self._errand(names)

    @property
    def step(self) -> Step:
        """The step of the directive that the errand is for."""
        return self._directive.steps[self.index]

    @property
    def is_last(self) -> bool:
        """Whether nothing follows."""
        return (
            self._stop + 1 >= len(self.step.stops)
            and not _goes_on(self.step.times, self._round)
            and self.index + 1 >= len(self._directive.steps)
            and not _goes_on(self._directive.times, self._lap)
        )

    @property
    def ends_round(self) -> bool:
        """Whether a patrol has no further stop in this round."""
        return self._stop + 1 >= len(self.step.stops)

    def advance(self, names: Collection[str] = ()) -> None:
        """Go on to the next errand; nothing may follow the last one. names: of rooms, as they are known now."""
        if self._stop + 1 < len(self.step.stops):
            self._stop += 1
        elif _goes_on(self.step.times, self._round):
            self._stop, self._round = 0, self._round + 1
        else:
            self.index, self._stop, self._round = self.index + 1, 0, 1
            if self.index >= len(self._directive.steps):
                self.index, self._lap = 0, self._lap + 1
        self.errand = self._errand(names)

    def follow(self, index: int, errand: Step) -> None:
        """Work on what another robot works on."""
        self.index, self._stop, self._round, self.errand = index, 0, 1, errand

    def visit(self, errand: Step, names: Collection[str] = ()) -> None:
        """Do something else for the step first; `resume` comes back to it."""
        self.errand = errand_of(errand, names)

    def resume(self, names: Collection[str] = ()) -> None:
        """Go on with the step itself."""
        self.errand = self._errand(names)

    def go_to_last(self, names: Collection[str] = ()) -> None:
        """Leave out everything but the last step, which is done once."""
        self.index, self._stop, self._round = len(self._directive.steps) - 1, 0, 1
        self._lap = max(self._directive.times, self._lap)
        self.errand = self._errand(names)

    def _errand(self, names: Collection[str]) -> Step:
        step = self.step
        if step.kind is StepKind.PATROL and step.stops:
            step = Step(StepKind.GO, step.stops[self._stop], scope=step.scope)
        return errand_of(step, names)


def _goes_on(times: int, done: int) -> bool:
    return times == UNTIL_CANCELLED or done < times


MAX_SENTENCES = 100  # of a report, and answers: a directive may go on for days
EXPLORE = Step(StepKind.EXPLORE)  # everything, to find the place that an errand names


@dataclass
class CheckVisit:
    """The way of a CHECK to what it is about. errand: what is done for it. begun: stamp of its begin.

    came: code of the errand that led there, and its words; None = under way.
    """

    errand: StepKind
    begun: Stamp
    came: tuple[ErrorCode, str] | None = None
    entity_id: int = 0  # that was found, 0 = none
    belief: SearchBelief | None = None  # after a search without a find
    hidden: str = ""  # of the thing that it stands before, as words; the memory is asked about it


@dataclass(frozen=True)
class FloorRest:
    """Rest of the search of a floor: m^2, as `FloorLeft.unseen`, and the seconds for them, inf where none is shown."""

    unseen: float
    seconds: float

    def is_slower(self, other: FloorRest, way: float) -> bool:
        """Return whether searching this floor first is expected to take longer than another one, `way` seconds away."""
        if self.unseen <= 0.0 or math.isinf(other.seconds):
            return self.unseen <= 0.0 < other.unseen
        chance = self.unseen / (self.unseen + other.unseen)
        return chance * (2.0 * way + other.seconds) < (1.0 - chance) * self.seconds


@dataclass
class FloorTour:
    """The floors of one directive. goal: level that the search has chosen to go on on, None = none.

    left: id of the floor from which a passage is taken. at, began: likewise of that on which the errand's goals lie,
    and on which the directive began. searched: step of the directive and id of each floor on which
    nothing was left to explore. unknown_since: loop time since which the robot does not know its floor. looks: floor,
    and x, y in map, of each try to look from near at what may be stairs.
    """

    goal: int | None = None
    left: int = 0
    at: int = 0
    began: int = 0
    searched: set[tuple[int, int]] = field(default_factory=set)
    unknown_since: float | None = None
    looks: list[tuple[int, float, float]] = field(default_factory=list)
    # likewise, of floors that were left before they were explored, as it was then
    left_over: dict[tuple[int, int], FloorRest] = field(default_factory=dict)
    base: dict[int, int] = field(default_factory=dict)  # by step, the level from which "upstairs" is said
    since: float = -math.inf  # loop time at which the robot came to its floor
    pace: float = 0.0  # m^2 per second of the search on the floor where it was measured last, 0 = on none
    progress: deque[tuple[float, float]] = field(
        default_factory=deque
    )  # loop time, and m^2 that were looked at


@dataclass
class DirectiveRun:
    """One directive under way.

    started: loop time. begun_at: (3,), the first pose that was known then; begun_stamp: its stamp. report: what came of
    the steps that are over, in words. verdict: how the directive ends though the robot still drives: back, because a
    step failed, or to the charger.
    """

    directive: Directive
    itinerary: Itinerary
    started: float
    time_limit: float
    config: LoopConfig
    distance_before: float
    requests: Requests
    begun_at: np.ndarray | None = None
    begun_stamp: Stamp = NEVER
    errand: Errand = field(init=False)  # that is worked on
    missed: tuple[ErrorCode, str] | None = None  # the first stop of a patrol that was not come to
    missed_here: int = 0  # stops, in this round
    place_checked: bool = False  # the surroundings were compared with the map before the first motion
    misplaced_since: float | None = None  # loop time since which they do not fit
    constraints_sent: tuple[Constraint, ...] = ()  # to those who bar the zones
    unable: list[str] = field(default_factory=list)  # what the robot cannot do of the steps that are over
    found: list[int] = field(default_factory=list)
    last_energy: float = -math.inf
    decisions: int = 0
    jump_settled: Stamp = NEVER  # of the newest jump of the pose that was dealt with
    report: list[str] = field(default_factory=list)
    verdict: tuple[ErrorCode, str] | None = None
    charging: bool = False
    question: OpenQuestion | None = None  # that belongs to the failure that is told
    check: CheckVisit | None = None  # of the step that is worked on
    answers: list[Answer] = field(default_factory=list)
    unanswered: list[str] = field(default_factory=list)  # why, of the questions that are over
    text: str = ""
    floors: FloorTour = field(default_factory=FloorTour)
    named: dict[int, np.ndarray] = field(
        init=False
    )  # by step, poses (3,) that people named, where they lie now
    _asked: Directive | None = None  # the newest of `asked`, so that experts see the same object again

    @property
    def step(self) -> Step:
        """The step that is being worked on, as an errand."""
        return self.itinerary.errand

    @property
    def step_index(self) -> int:
        """Of the step of the directive that is being worked on."""
        return self.itinerary.index

    def asked(self, step: Step) -> Directive:
        """The directive as experts hear of it, with `step` in the place of the one that is worked on."""
        steps = self.directive.steps
        if step is steps[self.step_index]:
            return self.directive
        if self._asked is None or self._asked.steps[self.step_index] is not step:
            index = self.step_index
            self._asked = self.directive.with_steps((*steps[:index], step, *steps[index + 1 :]))
        return self._asked

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """The constraints that hold while the step is worked on."""
        return self.directive.constraints_of(self.step_index)

    def tell(self, text: str) -> None:
        """Keep what came of an errand for the report, which has the last `MAX_SENTENCES`."""
        self.report.append(text)
        del self.report[:-MAX_SENTENCES]

    def note_found(self, identities: Iterable[int]) -> None:
        """These entities were found, the last of them last; one that was found before is told once."""
        new = list(dict.fromkeys(identities))
        self.found = [identity for identity in self.found if identity not in new] + new

    def __post_init__(self) -> None:
        self.errand = Errand(self.config)
        poses = ((index, step.pose) for index, step in enumerate(self.directive.steps))
        self.named = {
            index: np.array([pose.x, pose.y, math.nan if pose.heading is None else pose.heading])
            for index, pose in poses
            if pose is not None and pose.frame != ROBOT_FRAME
        }

    @property
    def under_way(self) -> ActionState:
        """The action of the errand."""
        return self.errand.under_way

    def begin_errand(self) -> None:
        """The itinerary has gone on: a new errand begins, of which nothing has happened yet."""
        self.errand = Errand(self.config, self.errand.number + 1)
        self._asked = None
