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
from lodestar.agent.questions import Questions
from lodestar.agent.stamps import NEVER, Stamp
from lodestar.agent.targets import TargetView
from lodestar.agent.verification import Arrival
from lodestar.experts.protocol import Proposal
from lodestar.language.directive import Directive, DirectiveKind, Subtask
from lodestar.selection.decision_log import Decision

BELOW_ACCEPT = "looked at from close, it does not meet the query"
UNCONFIRMED = "reached, but not seen again there"
UNREACHABLE = "no viewpoint of it could be reached"
UNSURE = "it may not be what is meant, and no viewpoint of it could be reached"
FOUND = "found already"


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
class Run:
    """One directive under way.

    started: loop time. begun_at: (3,), the first pose that was known then; begun_stamp: its stamp. told: what came of
    the steps that are over, in words. verdict: how the directive ends though the robot still drives: back, because a
    step failed, or to the charger.
    """

    directive: Directive
    started: float
    time_limit: float
    config: LoopConfig
    distance_before: float
    goals: GoalMemory
    questions: Questions
    begun_at: np.ndarray | None = None
    begun_stamp: Stamp = NEVER
    subtask_index: int = 0
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
    told: list[str] = field(default_factory=list)
    verdict: tuple[ErrorCode, str] | None = None
    charging: bool = False
    text: str = ""

    @property
    def subtask(self) -> Subtask:
        """The step that is being worked on; an empty one where the directive has none."""
        subtasks = self.directive.subtasks
        return subtasks[min(self.subtask_index, len(subtasks) - 1)] if subtasks else Subtask()

    @property
    def kind(self) -> DirectiveKind:
        """The kind of the step that is being worked on."""
        return self.directive.kind_of(self.subtask_index)

    @property
    def is_last(self) -> bool:
        """Whether no further step follows."""
        return self.subtask_index + 1 >= len(self.directive.subtasks)

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

    def begin_subtask(self, index: int) -> None:
        """Go on to step `index` with nothing excluded."""
        self.subtask_index = index
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
        self.failures = 0
