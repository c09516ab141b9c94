"""The action under way, with the world as it was when it began, and a failure of it that is being diagnosed."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from lodestar.agent.facts.stamps import NEVER, Stamp
from lodestar.experts.protocol import Proposal
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.worldmodel.cause_table import Recovery
from lodestar.worldmodel.outcomes import Diagnosis, Look
from lodestar.worldmodel.records import Belief, Trace
from lodestar.worldmodel.way_change import Blockage


class Failing(Enum):
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
    failing: Failing
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
