"""State of an errand (the task in progress: a step, one stop of a patrol, or a visit on behalf of a CHECK)
and of its current action.

Both are created anew and never reset. Only `Transitions` ends them.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from lodestar.agent.decisions.admission import GoalMemory
from lodestar.agent.decisions.ambiguity import TargetAmbiguity
from lodestar.agent.decisions.approach import Arrival
from lodestar.agent.errands.commands import NavigationEvent, SkillEnd
from lodestar.agent.facts.config import LoopConfig
from lodestar.agent.facts.times import NEVER, Stamp
from lodestar.experts.protocol import Proposal
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.memory.answer import AnswerOutcome
from lodestar.query.config import QUERY_AMBIGUOUS
from lodestar.query.targets import TargetView
from lodestar.selection.decisions import Decision
from lodestar.worldmodel.cause_table import Recovery
from lodestar.worldmodel.outcomes import Diagnosis, Look
from lodestar.worldmodel.records import Belief, Trace
from lodestar.worldmodel.way_change import Blockage

LOOP_MAX_VIEWPOINTS = 5  # viewpoints tried per entity before it is excluded (ours)
LOOP_UNSURE_VIEWPOINTS = 2  # viewpoints tried of an entity that may meet the query from nearer (ours)
LOOP_SECOND_VIEWPOINTS = 2  # viewpoints of an excluded entity, when everything else is explored (ADR 0006)


class Failure(Enum):
    """Failure modes of an action."""

    STOPPED = "stopped"  # the drive ended before its goal
    SILENT = "silent"  # no navigator takes the goal
    NOT_SEEN = "not seen"  # at the goal, the target was not seen
    OTHER = "other"  # at the goal, another matching object was seen instead of the known one
    NOT_IT = "not it"  # at the goal, the object does not match the query
    VANISHED = "vanished"  # the target is no longer in the scene
    POSE = "pose"  # the pose in map jumped
    BLIND = "blind"  # no images arrive
    INPUTS = "inputs"  # no pose or no grid arrives
    BATTERY = "battery"


@dataclass(frozen=True)
class OpenAction:
    """An action in progress. start: pose (3,) at its begin; grid: map at that time. means: entity id -> (3,)
    mean position at that time, in map.

    fitting: entities that matched the query at that time. label: label of the action's entity. contacts:
    number of contacts before the action. relations: relations of the action's entity, as measured at the
    begin.
    """

    trace: Trace
    began: Stamp
    start: np.ndarray
    grid: OccupancyGrid2D | None
    entity_id: int = 0
    means: dict[int, np.ndarray] = field(default_factory=dict)
    fitting: frozenset[int] = frozenset()
    label: str = ""
    contacts: int = 0
    relations: tuple[Belief, ...] = ()


@dataclass(frozen=True)
class GoneThing:
    """A known object that is verified gone from its place.

    seen: stamp of its last observation there. since: loop time of the verification, seconds. mean: (3,) in map, its
    old place; None = unknown.
    """

    entity_id: int
    name: str
    place: str
    seen: Stamp
    since: float
    mean: np.ndarray | None = None


@dataclass
class OpenCase:
    """A failure under diagnosis. Times are loop times, seconds.

    code: error code of the navigator. blocked: the robot tried to move and could not. start: pose (3,) at the
    failure. arrived: stamp of the arrival, if the robot reached its goal. until: end of the current
    diagnostic observation, during which the robot stands. blockage: the obstacle on the path, as first seen.
    asked_advice: time at which a language model was asked.
    """

    action: OpenAction
    failure: Failure
    proposal: Proposal
    why: str
    since: float
    stamp: Stamp
    code: int = 0
    blocked: bool = False
    start: np.ndarray | None = None
    arrived: Stamp = NEVER
    until: float = 0.0
    looks: tuple[Look, ...] = ()
    blockage: Blockage | None = None
    diagnosis: Diagnosis | None = None  # the final one ...
    recovery: Recovery | None = None  # ... and the recovery for it
    waited_since: float | None = None
    asked_advice: float | None = None


BELOW_ACCEPT = "looked at from close, it does not meet the query"
UNCONFIRMED = "reached, but not seen again there"
UNREACHABLE = "no viewpoint of it could be reached"
UNSURE = "it may not be what is meant, and no viewpoint of it could be reached"
FOUND = "found already"
REACHED = "reached, and it showed nothing"
GONE = "it is gone from there"
NOT_CHOSEN = "another one was chosen"
SHIFTED = 0.5  # m by which an object must move to count as moved, beyond the error of its box


@dataclass
class Navigation:
    """The navigator's current goal. Times in seconds, distance by path in metres.

    shortened: the goal was replaced by the robot's position when it could face the target there. passed: the
    place to view from the goal was observed, and the next goal is being chosen. facing: entity that the robot
    faces while driving, 0 = none, and the stamp since which it does. moved: (3,), new position of the goal
    after a loop closure, None = unchanged.
    """

    epoch: int
    proposal: Proposal
    sent: float
    deadline: float
    start: np.ndarray  # (3,), pose when the goal was sent
    accepted: bool = False
    distance_remaining: float = float("nan")
    shortened: bool = False
    passed: bool = False
    facing: tuple[int, Stamp] = (0, NEVER)
    moved: np.ndarray | None = None


@dataclass(frozen=True)
class Choice:
    """The decision being validated. view: candidates for the target at the decision."""

    decision: Decision
    proposal: Proposal
    view: TargetView


@dataclass
class OpenQuery:
    """A query to the memory. asked_at: loop time, seconds. outcome: None = pending."""

    ticket: int
    asked_at: float
    outcome: AnswerOutcome | None = None


@dataclass
class OpenSkill:
    """A user-defined skill in progress. Times are loop times, seconds.

    deadline: for its end. end: reported result, None = pending; ended, ended_at: loop time and stamp of the report.
    """

    ticket: int
    trace: Trace
    deadline: float
    end: SkillEnd | None = None
    ended: float = 0.0
    ended_at: Stamp = NEVER


@dataclass
class ActionState:
    """The current action, from its decision to its end. Times are loop times, seconds."""

    choice: Choice | None = None
    navigation: Navigation | None = None
    events: list[NavigationEvent] = field(default_factory=list)  # on the goal, not yet processed
    arrival: Arrival | None = None
    action: OpenAction | None = None  # open, with its trace
    look: str = ""  # id of the trace of a diagnostic look in progress
    case: OpenCase | None = None  # its failure, under diagnosis
    skill: OpenSkill | None = None  # carried out while the robot stands
    last_review: float = 0.0
    last_check: float = 0.0


@dataclass
class Errand:
    """One errand in progress: a step, one stop of a patrol, or a visit on behalf of a CHECK. Created when it
    begins and discarded when it ends. Times are loop times, seconds.

    number: of the errand in its directive; experts' answers are valid for this errand only. begun: stamp of
    its first request.
    """

    config: LoopConfig
    number: int = 0
    begun: Stamp = NEVER
    place: np.ndarray | None = None  # (3,) in map, destination; follows corrections of the map
    under_way: ActionState = field(default_factory=ActionState)
    query: OpenQuery | None = None  # to the memory, pending or just answered
    ask_after: float = 0.0
    # start of the requests without a usable goal; None = the last request brought one
    idle_since: float | None = None
    waits_until: float | None = None  # end of the current wait; None = until cancelled
    pointed: int = 0  # entity that a person named as the target; 0 = none
    found_here: int = 0
    excluded: dict[int, str] = field(default_factory=dict)
    viewpoints: Counter[int] = field(default_factory=Counter)
    forgiven: set[int] = field(default_factory=set)  # objects that had their second chance
    presumed: set[int] = field(
        default_factory=set
    )  # objects for which the end of the search was put off once
    # objects seen until just before an arrival, but not from the goal
    hidden: set[int] = field(default_factory=set)
    doubt: TargetAmbiguity = field(init=False)
    goals: GoalMemory = field(init=False)
    known_targets: frozenset[int] = frozenset()
    last_decision: float = 0.0
    explored_at: float | None = None  # since when nothing is left to explore
    # goals (3,) whose subject was observed on the way, and the time of the newest observation
    passed: list[np.ndarray] = field(default_factory=list)
    shown_at: float = -math.inf
    failures: int = 0  # consecutive failed drives
    unavailable_since: float | None = None  # since when no navigator accepts a goal
    last_failure: str = ""
    looked_at: str = ""  # why a target was likely at the last goal without a known entity
    retreats: list[np.ndarray] = field(default_factory=list)  # poses tried at this place
    recoveries: int = 0
    looks: dict[int, tuple[Look, ...]] = field(default_factory=dict)  # entity id -> diagnostic looks made
    gone: dict[int, GoneThing] = field(default_factory=dict)  # entity id -> target verified gone
    is_barred: bool = False  # every known target is unreachable or given up
    barred_since: float | None = None  # start of the current interval with `is_barred`
    barred_before: float = 0.0  # s of earlier intervals with `is_barred`
    tried_again: bool = False  # targets that were given up got a last try
    out_of_sight: dict[int, float] = field(default_factory=dict)  # entity id -> since when it is hidden
    grids: dict[int, OccupancyGrid2D] = field(default_factory=dict)  # entity id -> grid at its first action

    def __post_init__(self) -> None:
        self.doubt = TargetAmbiguity(QUERY_AMBIGUOUS)
        self.goals = GoalMemory(self.config)

    def idle_for(self, now: float) -> float:
        """Return the seconds since the first request without a usable goal; the first call starts the count. Driving
        does not count.
        """
        if self.idle_since is None:
            self.idle_since = now
        return now - self.idle_since

    def decided(self, now: float, view: TargetView) -> None:
        """Store the time of a decision and the targets that were accepted then."""
        self.last_decision = now
        self.known_targets = frozenset(c.entity_id for c in view.accepted)

    def spend_viewpoint(self, entity_id: int, reason: str) -> None:
        """Count a viewpoint of the entity as failed; after the last allowed viewpoint, exclude the entity."""
        limit = LOOP_UNSURE_VIEWPOINTS if reason == UNSURE else LOOP_MAX_VIEWPOINTS
        self.viewpoints[entity_id] += 1
        if self.viewpoints[entity_id] >= limit:
            self.excluded[entity_id] = reason

    def second_chance(self) -> bool:
        """Readmit goals and objects that were given up, once each, because everything else is explored.
        Readmitted objects get LOOP_SECOND_VIEWPOINTS more viewpoints. Return whether anything was readmitted.
        """
        given_up = {
            i for i, why in self.excluded.items() if why in (UNREACHABLE, UNCONFIRMED, UNSURE)
        } - self.forgiven
        for identity in given_up:
            del self.excluded[identity]
            self.viewpoints[identity] -= LOOP_SECOND_VIEWPOINTS
        self.forgiven |= given_up
        return self.goals.forgive() or bool(given_up)

    @property
    def given_up(self) -> list[int]:
        """Return the matching entities that were excluded because they were unreachable or not confirmed."""
        return [i for i, why in self.excluded.items() if why in (UNREACHABLE, UNCONFIRMED)]

    def try_again(self) -> bool:
        """Readmit excluded targets for a last try before the search ends. Return whether anything was
        readmitted.
        """
        if self.tried_again:
            return False
        self.begin_last_try()
        return self.second_chance()

    def begin_last_try(self) -> None:
        """Clear the conditions that end the search, for a last try; the next decision sets them again if they
        still hold.
        """
        self.tried_again = True
        self.note_barred(False, math.nan)
        self.out_of_sight = {}

    def note_barred(self, is_barred: bool, now: float) -> None:
        """Store whether every known target is unreachable, at loop time `now`.

        `barred_for` sums up all intervals, so that a path that proves to be blocked again does not restart
        the search time.
        """
        if not is_barred and self.barred_since is not None and math.isfinite(now):
            self.barred_before += now - self.barred_since
        if not is_barred:
            self.barred_since = None
        elif self.barred_since is None:
            self.barred_since = now
        self.is_barred = is_barred

    def barred_for(self, now: float) -> float:
        """Return the seconds for which every known target was unreachable, including earlier intervals."""
        return self.barred_before + (0.0 if self.barred_since is None else now - self.barred_since)
