"""Lifetimes within a directive: an errand (one step, or one stop of a patrol), and the action that is under way.

Both are created anew and never reset. `Transitions` alone ends them.
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
from lodestar.query.targets import TargetView
from lodestar.selection.decisions import Decision
from lodestar.worldmodel.cause_table import Recovery
from lodestar.worldmodel.outcomes import Diagnosis, Look
from lodestar.worldmodel.records import Belief, Trace
from lodestar.worldmodel.way_change import Blockage


class Failure(Enum):
    """Ways in which an action fails."""

    STOPPED = "stopped"  # the drive ended before its goal
    SILENT = "silent"  # no navigator takes the goal
    NOT_SEEN = "not seen"  # at the goal: the target was not seen
    OTHER = "other"  # at the goal: another one that fits, and not the one that was known
    NOT_IT = "not it"  # at the goal: it is not what was looked for
    VANISHED = "vanished"  # the target is no longer there
    POSE = "pose"  # the pose in the map jumped
    BLIND = "blind"  # no sight comes
    INPUTS = "inputs"  # no pose or no grid comes
    BATTERY = "battery"


@dataclass(frozen=True)
class OpenAction:
    """An action under way. start: (3,) pose, and grid, when it began. means: entity id -> (3,) mean then.

    fitting: entities that met the query then. label: of the entity that the action is about. contacts: felt before it.
    relations: of the thing that the trace is about, as they were then, or nearly.
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
    """A thing that was known and is verified gone from its place.

    seen: stamp at which it was last seen there; since: loop time, seconds. mean: (3,) in map, where it was; None =
    unknown.
    """

    entity_id: int
    name: str
    place: str
    seen: Stamp
    since: float
    mean: np.ndarray | None = None


@dataclass
class OpenCase:
    """A failure that is being diagnosed. Times are loop times, seconds.

    code: the navigator's. blocked: it tried to move and could not. start: (3,) pose at the failure. arrived: stamp of
    the arrival, where the robot came to its goal. until: up to which the robot stands and looks. blockage: what came
    into the way, as it was seen first. asked_advice: when a language model was asked.
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
    diagnosis: Diagnosis | None = None  # the last one, once it is settled ...
    recovery: Recovery | None = None  # ... and what is done about it
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
SHIFTED = 0.5  # m that a thing moved, beyond the error of its box


@dataclass
class Navigation:
    """The goal that the navigator has. Times in seconds, distance by path in metres.

    shortened: the goal is where the robot stood when it could face the target. passed: it has shown what it was for,
    and the next one is being decided on. facing: entity that the robot faces on its way, 0 = none; and since which
    stamp. moved: (3,), where the goal lies since a loop was closed, None = where it was.
    """

    epoch: int
    proposal: Proposal
    sent: float
    deadline: float
    start: np.ndarray  # (3,), where the robot was when the goal was sent
    accepted: bool = False
    distance_remaining: float = float("nan")
    shortened: bool = False
    passed: bool = False
    facing: tuple[int, Stamp] = (0, NEVER)
    moved: np.ndarray | None = None


@dataclass(frozen=True)
class Choice:
    """The decision that is validated. view: of the target when it was made."""

    decision: Decision
    proposal: Proposal
    view: TargetView


@dataclass
class OpenQuery:
    """A query to the memory. asked_at: loop time, seconds. outcome: None = it has not answered yet."""

    ticket: int
    asked_at: float
    outcome: AnswerOutcome | None = None


@dataclass
class OpenSkill:
    """A skill of a user's under way. Times in seconds of the loop.

    deadline: by which it must have ended. end: what was told of it, None = nothing yet; ended, ended_at: loop time and
    stamp then.
    """

    ticket: int
    trace: Trace
    deadline: float
    end: SkillEnd | None = None
    ended: float = 0.0
    ended_at: Stamp = NEVER


@dataclass
class ActionState:
    """The action under way, from its decision to its end. Times in seconds of the loop."""

    choice: Choice | None = None
    navigation: Navigation | None = None
    events: list[NavigationEvent] = field(default_factory=list)  # of the goal, not yet looked at
    arrival: Arrival | None = None
    action: OpenAction | None = None  # with its trace
    look: str = ""  # id of the trace of a look that is being made for a diagnosis
    case: OpenCase | None = None  # its failure, which is being diagnosed
    skill: OpenSkill | None = None  # that is carried out while the robot stands
    last_review: float = 0.0
    last_check: float = 0.0


@dataclass
class Errand:
    """One errand under way, created when it begins and thrown away whole when it is over. Times in seconds of the loop.

    number: of the errand in its directive; what is asked for one is answered for that one alone. begun: stamp of its
    first request.
    """

    config: LoopConfig
    number: int = 0
    begun: Stamp = NEVER
    place: np.ndarray | None = None  # (3,) in map, to which it goes: it moves with the map
    under_way: ActionState = field(default_factory=ActionState)
    query: OpenQuery | None = None  # to the memory, under way
    ask_after: float = 0.0
    # when requests began to bring nothing; None where the last one brought a goal
    idle_since: float | None = None
    waits_until: float | None = None  # of a wait under way; None = until cancelled
    pointed: int = 0  # entity that a person says is the target; 0 = none
    found_here: int = 0
    excluded: dict[int, str] = field(default_factory=dict)
    viewpoints: Counter[int] = field(default_factory=Counter)
    forgiven: set[int] = field(default_factory=set)  # things that had their second chance
    # things seen until just before an arrival, and not from there
    hidden: set[int] = field(default_factory=set)
    doubt: TargetAmbiguity = field(init=False)
    goals: GoalMemory = field(init=False)
    known_targets: frozenset[int] = frozenset()
    last_decision: float = 0.0
    explored_at: float | None = None  # since when there has been nothing left to explore
    # goals (3,) that had shown what they were for on the way, and when the newest had
    passed: list[np.ndarray] = field(default_factory=list)
    shown_at: float = -math.inf
    failures: int = 0  # drives in a row
    unavailable_since: float | None = None  # since when no navigator has taken a goal
    last_failure: str = ""
    looked_at: str = ""  # why the place was likely at which the robot last arrived without a known entity
    retreats: list[np.ndarray] = field(default_factory=list)  # poses tried at this place
    recoveries: int = 0
    looks: dict[int, tuple[Look, ...]] = field(default_factory=dict)  # by entity, made for a diagnosis
    gone: dict[int, GoneThing] = field(default_factory=dict)  # targets that are verified gone
    is_barred: bool = False  # no way leads to any target that is known, or it was given up
    barred_since: float | None = None  # since when that is so
    barred_before: float = 0.0  # s for which it was so, until a way was found that was none
    tried_again: bool = False  # what had been given up, before the search for others ends
    out_of_sight: dict[int, float] = field(default_factory=dict)  # things that are hidden, and since when
    grids: dict[int, OccupancyGrid2D] = field(default_factory=dict)  # by entity, when it was first acted on

    def __post_init__(self) -> None:
        self.doubt = TargetAmbiguity(self.config.query.ambiguous)
        self.goals = GoalMemory(self.config)

    def idle_for(self, now: float) -> float:
        """Seconds since the first of the requests without use, of which this is one. A long drive is none."""
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
