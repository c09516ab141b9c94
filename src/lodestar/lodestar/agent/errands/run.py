"""State of one directive: its itinerary, the current errand, and the results of earlier errands."""

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
    """Return whether the item is a place given by relations only, such as "in front of the sofa"."""
    lexicon = load_lexicon()
    return bool(item.best) and all(
        (graph.target.category in SPOTS or lexicon.is_generic(graph.target.category))
        and len(graph.variables) > 1
        for graph in item.best
    )


def is_room(item: Item, names: Collection[str]) -> bool:
    """Return whether the item is a room: by the lexicon, or because its word is in `names`, the names of
    known rooms.
    """
    lexicon = load_lexicon()
    categories = [graph.target.category for graph in item.best]
    return bool(categories) and all(
        lexicon.room(word) is not None or word.casefold() in names for word in categories
    )


def errand_of(step: Step, names: Collection[str]) -> Step:
    """Return the step as it is carried out: GO to an object becomes FIND; RETURN to a place becomes GO.
    names: of known rooms.
    """
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
    """The current errand of a directive, and the order of the errands to come.

    index: of the current step in the directive. errand: the current errand; the same object until it ends.
    """

    def __init__(self, directive: Directive, names: Collection[str] = ()) -> None:
        self._directive = directive
        self.index = 0
        self._stop = 0  # index of a patrol's stop
        self._round = 1  # of the step, from 1
        self._lap = 1  # repetition of the directive, from 1
        self.errand = self._errand(names)

    @property
    def step(self) -> Step:
        """Return the directive's step that the errand belongs to."""
        return self._directive.steps[self.index]

    @property
    def is_last(self) -> bool:
        """Return whether no errand follows the current one."""
        return (
            self._stop + 1 >= len(self.step.stops)
            and not _goes_on(self.step.times, self._round)
            and self.index + 1 >= len(self._directive.steps)
            and not _goes_on(self._directive.times, self._lap)
        )

    @property
    def ends_round(self) -> bool:
        """Return whether the current stop is the last one of the patrol's round."""
        return self._stop + 1 >= len(self.step.stops)

    def advance(self, names: Collection[str] = ()) -> None:
        """Begin the next errand of the directive, which must have one. names: of known rooms."""
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
        """Set the step's index and the errand directly, to follow another robot's run."""
        self.index, self._stop, self._round, self.errand = index, 0, 1, errand

    def visit(self, errand: Step, names: Collection[str] = ()) -> None:
        """Replace the errand by another one on behalf of the current step; `resume` returns to the step."""
        self.errand = errand_of(errand, names)

    def resume(self, names: Collection[str] = ()) -> None:
        """Make the step itself the errand again, after `visit`."""
        self.errand = self._errand(names)

    def go_to_last(self, names: Collection[str] = ()) -> None:
        """Skip to the last step, without further repetitions of the directive."""
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


MAX_SENTENCES = 100  # limit for a report's sentences and for answers, because a directive may run for days
EXPLORE = Step(StepKind.EXPLORE)  # explores everything to find the place that an errand names


@dataclass
class CheckVisit:
    """An errand on behalf of a CHECK, such as to look at the object. errand: kind of its step. begun: stamp
    of its begin.

    came: code and text of its end; None = in progress.
    """

    errand: StepKind
    begun: Stamp
    came: tuple[ErrorCode, str] | None = None
    entity_id: int = 0  # found by the errand, 0 = none
    belief: SearchBelief | None = None  # after a search without a find
    hidden: str = ""  # unobservable properties of the object, as words, for a memory query


@dataclass(frozen=True)
class FloorRest:
    """Unsearched rest of a floor: its m^2, as `FloorLeft.unseen`, and the seconds to search it, inf =
    unknown.
    """

    unseen: float
    seconds: float

    def is_slower(self, other: FloorRest, way: float) -> bool:
        """Return whether the object is expected to be found later if this floor is searched before the
        `other` floor, which is `way` seconds away.
        """
        if self.unseen <= 0.0 or math.isinf(other.seconds):
            return self.unseen <= 0.0 < other.unseen
        chance = self.unseen / (self.unseen + other.unseen)
        return chance * (2.0 * way + other.seconds) < (1.0 - chance) * self.seconds


@dataclass
class FloorTour:
    """Floors of the building that one directive has visited, searched or chosen. goal: level on which the
    search is to continue, None = none.

    left: id of the floor from which a passage is taken. at: id of the floor of the errand's goals. began: id
    of the floor where the directive began. searched: (step index, floor id) of fully explored floors.
    unknown_since: loop time since which the floor is unknown. looks: (floor id, x, y) in map of each place of
    possible stairs that was looked at.
    """

    goal: int | None = None
    left: int = 0
    at: int = 0
    began: int = 0
    searched: set[tuple[int, int]] = field(default_factory=set)
    unknown_since: float | None = None
    looks: list[tuple[int, float, float]] = field(default_factory=list)
    # (step index, floor id) -> unsearched rest of a floor that was left before it was explored
    left_over: dict[tuple[int, int], FloorRest] = field(default_factory=dict)
    base: dict[int, int] = field(default_factory=dict)  # step index -> level to which "upstairs" refers
    since: float = -math.inf  # loop time of the arrival on this floor
    pace: float = 0.0  # m^2 per second of the last measured search, 0 = none measured
    progress: deque[tuple[float, float]] = field(default_factory=deque)  # (loop time, m^2 observed)


@dataclass
class DirectiveRun:
    """One directive in progress.

    started: loop time. begun_at: (3,), first known pose; begun_stamp: its stamp. report: results of ended steps, as
    sentences. verdict: how the directive will end, while the robot still drives to the start or charger.
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
    errand: Errand = field(init=False)  # current errand
    missed: tuple[ErrorCode, str] | None = None  # first stop of a patrol that failed
    missed_here: int = 0  # failed stops of this round
    place_checked: bool = False  # the surroundings were compared with the map before the first motion
    misplaced_since: float | None = None  # loop time since which they do not match
    constraints_sent: tuple[Constraint, ...] = ()  # last constraints published
    unable: list[str] = field(default_factory=list)  # requests beyond the robot's abilities, of ended steps
    found: list[int] = field(default_factory=list)
    last_energy: float = -math.inf
    decisions: int = 0
    jump_settled: Stamp = NEVER  # of the newest pose jump that was handled
    report: list[str] = field(default_factory=list)
    verdict: tuple[ErrorCode, str] | None = None
    charging: bool = False
    returning: bool = False  # whether the battery demands a way back that the step makes by itself
    question: OpenQuestion | None = None  # asked with the failure that is reported
    check: CheckVisit | None = None  # of the current step
    answers: list[Answer] = field(default_factory=list)
    unanswered: list[str] = field(default_factory=list)  # reasons, for ended steps
    text: str = ""
    floors: FloorTour = field(default_factory=FloorTour)
    # step index -> named pose (3,), as it lies in the map now
    named: dict[int, np.ndarray] = field(init=False)
    _asked: Directive | None = None  # last result of `asked`, so that experts get the same object again

    @property
    def step(self) -> Step:
        """Return the current errand as a step."""
        return self.itinerary.errand

    @property
    def step_index(self) -> int:
        """Return the index of the current step in the directive."""
        return self.itinerary.index

    def asked(self, step: Step) -> Directive:
        """Return the directive for the experts, with `step` in place of the current step."""
        steps = self.directive.steps
        if step is steps[self.step_index]:
            return self.directive
        if self._asked is None or self._asked.steps[self.step_index] is not step:
            index = self.step_index
            self._asked = self.directive.with_steps((*steps[:index], step, *steps[index + 1 :]))
        return self._asked

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """Return the constraints that hold during the current step."""
        return self.directive.constraints_of(self.step_index)

    def tell(self, text: str) -> None:
        """Append a sentence to the report, which keeps only the last `MAX_SENTENCES`."""
        self.report.append(text)
        del self.report[:-MAX_SENTENCES]

    def note_found(self, identities: Iterable[int]) -> None:
        """Append found entities in order; an entity found before moves to the end."""
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
        """Return the state of the current action."""
        return self.errand.under_way

    def begin_errand(self) -> None:
        """Create the state of the errand that the itinerary has just chosen."""
        self.errand = Errand(self.config, self.errand.number + 1)
        self._asked = None
