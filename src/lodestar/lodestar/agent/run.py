"""State of one directive; it ends with the directive."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from lodestar.agent.ambiguity import TargetAmbiguity
from lodestar.agent.commands import NavigationEvent
from lodestar.agent.config import LoopConfig
from lodestar.agent.errors import ErrorCode
from lodestar.agent.goals import GoalMemory
from lodestar.agent.itinerary import Itinerary
from lodestar.agent.open_action import GoneThing, OpenAction, OpenCase
from lodestar.agent.open_questions import OpenQuestion
from lodestar.agent.questions import Questions
from lodestar.agent.search_belief import SearchBelief
from lodestar.agent.stamps import NEVER, Stamp
from lodestar.agent.targets import TargetView
from lodestar.agent.verification import Arrival
from lodestar.experts.protocol import Proposal
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.language.directive import Constraint, Directive, Step, StepKind
from lodestar.memory.answer import Answer, AnswerOutcome
from lodestar.selection.decision_log import Decision
from lodestar.worldmodel.outcomes import Look

BELOW_ACCEPT = "looked at from close, it does not meet the query"
UNCONFIRMED = "reached, but not seen again there"
UNREACHABLE = "no viewpoint of it could be reached"
UNSURE = "it may not be what is meant, and no viewpoint of it could be reached"
FOUND = "found already"
GONE = "it is gone from there"
NOT_CHOSEN = "another one was chosen"
SHIFTED = 0.5  # m that a thing moved, beyond the error of its box
MAX_TOLD = 100  # sentences of a report
_EXPLORE = Step(StepKind.EXPLORE)


@dataclass
class Navigation:
    """The goal that the navigator has. Times in seconds, distance by path in metres.

    shortened: the goal is where the robot stood when it could face the target.
    """

    epoch: int
    proposal: Proposal
    sent: float
    deadline: float
    start: np.ndarray  # (3,), where the robot was when the goal was sent
    accepted: bool = False
    distance_remaining: float = float("nan")
    shortened: bool = False


@dataclass(frozen=True)
class Choice:
    """The decision that is validated. view: of the target when it was made."""

    decision: Decision
    proposal: Proposal
    view: TargetView


@dataclass
class OpenQuery:
    """A question to the memory. asked_at: loop time, seconds. outcome: None = it has not answered yet."""

    ticket: int
    asked_at: float
    outcome: AnswerOutcome | None = None


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


@dataclass
class Run:
    """One directive under way.

    started: loop time. begun_at: (3,), the first pose that was known then; begun_stamp: its stamp. told: what came of
    the steps that are over, in words. verdict: how the directive ends though the robot still drives: back, because a
    step failed, or to the charger.
    """

    directive: Directive
    itinerary: Itinerary
    started: float
    time_limit: float
    config: LoopConfig
    distance_before: float
    goals: GoalMemory
    questions: Questions
    begun_at: np.ndarray | None = None
    begun_stamp: Stamp = NEVER
    errands: int = 0  # that are over
    waits_until: float | None = None  # loop time, of a wait under way; None = until cancelled
    missed: tuple[ErrorCode, str] | None = None  # the first stop of a patrol that was not come to
    missed_here: int = 0  # stops, in this round
    place_checked: bool = False  # the surroundings were compared with the map before the first motion
    misplaced_since: float | None = None  # loop time since which they do not fit
    constraints_told: tuple[Constraint, ...] = ()  # to those who bar the zones
    unable: list[str] = field(default_factory=list)  # what the robot cannot do of the steps that are over
    found: list[int] = field(default_factory=list)
    found_here: int = 0
    excluded: dict[int, str] = field(default_factory=dict)
    viewpoints: Counter[int] = field(default_factory=Counter)
    forgiven: set[int] = field(default_factory=set)  # things that had their second chance
    hidden: set[int] = field(
        default_factory=set
    )  # things seen until just before an arrival, and not from there
    doubt: TargetAmbiguity = field(default_factory=TargetAmbiguity)
    events: list[NavigationEvent] = field(default_factory=list)
    ask_after: float = 0.0
    idle_since: float | None = (
        None  # when questions began to bring nothing; None where the last one brought a goal
    )
    last_review: float = 0.0
    last_check: float = 0.0
    known_targets: frozenset[int] = frozenset()
    last_decision: float = 0.0
    last_energy: float = -math.inf
    explored_at: float | None = None  # since when there has been nothing left to explore
    decisions: int = 0
    failures: int = 0
    last_failure: str = ""
    retreats: list[np.ndarray] = field(default_factory=list)  # poses tried at this place
    unavailable_since: float | None = None
    choice: Choice | None = None
    navigation: Navigation | None = None
    arrival: Arrival | None = None
    action: OpenAction | None = None  # under way
    look: str = ""  # id of the trace of a look that is being made for a diagnosis
    case: OpenCase | None = None  # its failure, which is being diagnosed
    recoveries: int = 0  # of this errand
    retries: int = 0  # of it, blind ones
    looks: dict[int, tuple[Look, ...]] = field(default_factory=dict)  # by entity, made for a diagnosis
    pointed: int = 0  # entity that a person says is the target of this errand; 0 = none
    gone: dict[int, GoneThing] = field(default_factory=dict)  # targets that are verified gone
    is_barred: bool = False  # no way leads to any target that is known, or it was given up
    barred_since: float | None = None  # loop time since which that is so
    barred_before: float = 0.0  # s for which it was so, until a way was found that was none
    tried_again: bool = False  # what had been given up, before the search for others ends
    out_of_sight: dict[int, float] = field(default_factory=dict)  # things that are hidden, and since when
    grids: dict[int, OccupancyGrid2D] = field(default_factory=dict)  # by entity, when it was first acted on
    jump_settled: Stamp = NEVER  # of the newest jump of the pose that was dealt with
    told: list[str] = field(default_factory=list)
    verdict: tuple[ErrorCode, str] | None = None
    charging: bool = False
    question: OpenQuestion | None = None  # that the robot asks back with its result
    query: OpenQuery | None = None  # to the memory, under way
    check: CheckVisit | None = None  # of the step that is worked on
    answers: list[Answer] = field(default_factory=list)
    unanswered: list[str] = field(default_factory=list)  # why, of the questions that are over
    text: str = ""
    _asked: Directive | None = None  # the newest of `asked`, so that experts see the same object again

    @property
    def step(self) -> Step:
        """The step that is being worked on, as an errand."""
        return self.itinerary.errand

    @property
    def step_index(self) -> int:
        """Of the step of the directive that is being worked on."""
        return self.itinerary.index

    @property
    def unscoped(self) -> Step:
        """The errand as exploration of everything, to find the place that it names."""
        return _EXPLORE

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

    @property
    def is_last(self) -> bool:
        """Whether no further step follows."""
        return self.itinerary.is_last

    def tell(self, text: str) -> None:
        """Keep what came of an errand for the report, which has the last `MAX_TOLD`."""
        self.told.append(text)
        del self.told[:-MAX_TOLD]

    def idle_for(self, now: float) -> float:
        """Seconds since the first of the questions without use, of which this is one. A long drive is none."""
        if self.idle_since is None:
            self.idle_since = now
        return now - self.idle_since

    def decided(self, now: float, view: TargetView) -> None:
        """A goal was decided on at `now` with these targets in view."""
        self.last_decision = now
        self.known_targets = frozenset(c.entity_id for c in view.accepted)

    def spend_viewpoint(self, entity_id: int, reason: str) -> None:
        """Use up one viewpoint of the entity; with the last of them the entity is excluded."""
        limit = self.config.unsure_viewpoints if reason == UNSURE else self.config.max_viewpoints
        self.viewpoints[entity_id] += 1
        if self.viewpoints[entity_id] >= limit:
            self.excluded[entity_id] = reason

    def second_chance(self) -> bool:
        """Goals that were given up before all was explored may be tried once more, and things
        `second_viewpoints` times; whether there is any.
        """
        given_up = {
            i for i, why in self.excluded.items() if why in (UNREACHABLE, UNCONFIRMED, UNSURE)
        } - self.forgiven
        for identity in given_up:
            del self.excluded[identity]
            self.viewpoints[identity] -= self.config.second_viewpoints
        self.forgiven |= given_up
        return self.goals.forgive() or bool(given_up)

    @property
    def given_up(self) -> list[int]:
        """Return the things that fit and are left out: no way led to them, or they were not seen from there."""
        return [i for i, why in self.excluded.items() if why in (UNREACHABLE, UNCONFIRMED)]

    def try_again(self) -> bool:
        """Give what was left out one more try before a search ends; whether there is any."""
        if self.tried_again:
            return False
        self.begin_last_try()
        return self.second_chance()

    def begin_last_try(self) -> None:
        """Forget what ends the search, until the next decision tells whether it still holds."""
        self.tried_again = True
        self.note_barred(False, math.nan)
        self.out_of_sight = {}

    def note_barred(self, is_barred: bool, now: float) -> None:
        """Note at loop time `now` whether no way leads to any target that is known.

        A way that turns out to be none does not give the search its time anew.
        """
        if not is_barred and self.barred_since is not None and math.isfinite(now):
            self.barred_before += now - self.barred_since
        if not is_barred:
            self.barred_since = None
        elif self.barred_since is None:
            self.barred_since = now
        self.is_barred = is_barred

    def barred_for(self, now: float) -> float:
        """Return the seconds for which no way led to any known target, the intervals before this one included."""
        return self.barred_before + (0.0 if self.barred_since is None else now - self.barred_since)

    def begin_errand(self) -> None:
        """The itinerary has gone on: nothing is excluded from the new errand."""
        self.errands += 1
        self.pointed = 0
        self._asked = None
        self.waits_until = None
        self.found_here = 0
        self.excluded, self.viewpoints, self.doubt = (
            {},
            Counter(),
            TargetAmbiguity(self.config.query.ambiguous),
        )
        self.forgiven, self.hidden = set(), set()
        self.goals = GoalMemory(self.config)
        self.known_targets = frozenset()
        self.explored_at = None
        self.failures = self.recoveries = self.retries = 0
        self.looks, self.gone, self.grids, self.out_of_sight = {}, {}, {}, {}
        self.is_barred, self.barred_since, self.barred_before, self.tried_again = False, None, 0.0, False
