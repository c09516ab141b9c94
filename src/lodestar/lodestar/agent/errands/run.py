"""State of one directive; it ends with the directive."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from lodestar.agent.decisions.questions import Questions
from lodestar.agent.errands.errand import ActionState, Errand
from lodestar.agent.errands.itinerary import Itinerary
from lodestar.agent.errands.open_questions import OpenQuestion
from lodestar.agent.errands.search_belief import SearchBelief
from lodestar.agent.facts.config import LoopConfig
from lodestar.agent.facts.errors import ErrorCode
from lodestar.agent.facts.stamps import NEVER, Stamp
from lodestar.language.directive import Constraint, Directive, Step, StepKind
from lodestar.memory.answer import Answer

MAX_TOLD = 100  # sentences of a report
_EXPLORE = Step(StepKind.EXPLORE)


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
class DirectiveRun:
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
    questions: Questions
    begun_at: np.ndarray | None = None
    begun_stamp: Stamp = NEVER
    errand: Errand = field(init=False)  # that is worked on
    missed: tuple[ErrorCode, str] | None = None  # the first stop of a patrol that was not come to
    missed_here: int = 0  # stops, in this round
    place_checked: bool = False  # the surroundings were compared with the map before the first motion
    misplaced_since: float | None = None  # loop time since which they do not fit
    constraints_told: tuple[Constraint, ...] = ()  # to those who bar the zones
    unable: list[str] = field(default_factory=list)  # what the robot cannot do of the steps that are over
    found: list[int] = field(default_factory=list)
    last_energy: float = -math.inf
    decisions: int = 0
    unavailable_since: float | None = None
    jump_settled: Stamp = NEVER  # of the newest jump of the pose that was dealt with
    told: list[str] = field(default_factory=list)
    verdict: tuple[ErrorCode, str] | None = None
    charging: bool = False
    question: OpenQuestion | None = None  # that the robot asks back with its result
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

    def __post_init__(self) -> None:
        self.errand = Errand(self.config)

    @property
    def under_way(self) -> ActionState:
        """The action of the errand."""
        return self.errand.under_way

    def begin_errand(self) -> None:
        """The itinerary has gone on: a new errand begins, of which nothing has happened yet."""
        self.errand = Errand(self.config, self.errand.number + 1)
        self._asked = None
