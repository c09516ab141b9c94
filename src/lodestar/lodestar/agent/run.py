"""Everything that belongs to one directive and ends with it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from lodestar.agent.commands import NavigationEvent
from lodestar.agent.config import LoopConfig
from lodestar.agent.goals import GoalMemory
from lodestar.agent.verification import Arrival
from lodestar.experts.protocol import Proposal, ProposalRequest, Rejection
from lodestar.language.directive import Directive, Subtask

BELOW_ACCEPT = "looked at from close, it does not meet the query"
UNCONFIRMED = "reached, but not seen again there"
UNREACHABLE = "no viewpoint of it could be reached"
FOUND = "found already"


@dataclass
class Navigation:
    """The goal that the navigator has. Times in seconds, distance by path in metres."""

    epoch: int
    proposal: Proposal
    sent: float
    deadline: float
    start: np.ndarray  # (3,), where the robot was when the goal was sent
    accepted: bool = False
    distance_remaining: float = float("nan")


@dataclass
class Run:
    """One directive under way."""

    directive: Directive
    started: float
    time_limit: float
    config: LoopConfig
    distance_before: float
    goals: GoalMemory
    subtask_index: int = 0
    found: list[int] = field(default_factory=list)
    found_here: int = 0
    excluded: dict[int, str] = field(default_factory=dict)
    viewpoints: Counter[int] = field(default_factory=Counter)
    events: list[NavigationEvent] = field(default_factory=list)
    request: ProposalRequest | None = None
    asked: tuple[str, ...] = ()
    answers: dict[str, Proposal | Rejection] = field(default_factory=dict)
    is_review: bool = False
    ask_after: float = 0.0
    idle_since: float = 0.0  # nothing to do since
    last_review: float = 0.0
    last_check: float = 0.0
    known_targets: frozenset[int] = frozenset()
    last_decision: float = 0.0
    decisions: int = 0
    failures: int = 0
    last_failure: str = ""
    retreats: list[np.ndarray] = field(default_factory=list)  # poses tried at this place
    unavailable_since: float | None = None
    navigation: Navigation | None = None
    arrival: Arrival | None = None
    text: str = ""

    @property
    def subtask(self) -> Subtask:
        """The step that is being worked on; an empty one where the directive has none."""
        subtasks = self.directive.subtasks
        return subtasks[min(self.subtask_index, len(subtasks) - 1)] if subtasks else Subtask()

    @property
    def complete(self) -> bool:
        """Whether every expert that was asked has answered."""
        return all(name in self.answers for name in self.asked)

    def next_subtask(self) -> bool:
        """Go on to the next step with nothing excluded; whether there is one."""
        self.subtask_index += 1
        self.found_here = 0
        self.excluded, self.viewpoints = {}, Counter()
        self.goals = GoalMemory(self.config)
        self.known_targets = frozenset()
        return self.subtask_index < max(len(self.directive.subtasks), 1)
