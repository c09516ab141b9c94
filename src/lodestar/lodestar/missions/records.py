"""Records of a mission: its steps, its schedule, and outcomes of steps."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

FOREVER = 0  # rounds without end


class StepKind(Enum):
    """Kinds of steps; the value is the key in the file."""

    DIRECTIVE = "directive"
    WAYPOINT = "waypoint"
    QUESTION = "question"
    WAIT = "wait"
    CHANGES = "changes"
    SAVE = "save"


class Verdict(Enum):
    """Verdict on one attempt of a step."""

    DONE = "done"
    FAILED = "failed"
    HALTED = "halted"  # a person held the robot or stopped the directive
    GONE = "gone"  # the goal selector does not answer
    INTERRUPTED = "interrupted"  # this program was asked to stop


@dataclass(frozen=True)
class Place:
    """A waypoint in map. heading: radians, nan = any."""

    x: float  # m
    y: float  # m
    heading: float = math.nan

    def __str__(self) -> str:
        facing = "" if math.isnan(self.heading) else f" facing {math.degrees(self.heading):.0f} degrees"
        return f"({self.x:.1f}, {self.y:.1f}){facing}"


@dataclass(frozen=True)
class ChangesStep:
    """Options of a step that reports changes.

    since, after: map folders to compare; "" as `after` means the running stack.
    """

    since: str
    after: str = ""
    json: str = ""  # path of a JSON file for the report; "" = none
    priors: str = ""  # path of a file of counts; "" = none
    learn: bool = False
    tell: bool = False


@dataclass(frozen=True)
class Step:
    """One step; only the field of its kind is used.

    text: the directive or question. seconds: length of a wait. folder: destination of a save. keep_away_from:
    phrases, for directives and waypoints. time_limit: seconds, 0 = the node's default. go_on: a failure of
    the step does not stop the mission.
    """

    kind: StepKind
    text: str = ""
    place: Place | None = None
    seconds: float = 0.0
    changes: ChangesStep | None = None
    folder: str = ""
    keep_away_from: tuple[str, ...] = ()
    time_limit: float = 0.0
    name: str = ""
    retries: int = 0
    go_on: bool = False

    @property
    def words(self) -> str:
        """Return the step as a sentence for the robot, on one line."""
        if self.kind is StepKind.WAYPOINT:
            said = f"go to {self.place}"
        elif self.kind is StepKind.WAIT:
            said = f"wait {self.seconds:g} s"
        elif self.kind is StepKind.CHANGES and self.changes is not None:
            until = f" until {self.changes.after}" if self.changes.after else ""
            said = f"report what changed since {self.changes.since}{until}"
        elif self.kind is StepKind.SAVE:
            said = f"save the map to {self.folder}"
        else:
            said = self.text
        return "".join([said, *(f"; keep away from {thing}" for thing in self.keep_away_from)])

    @property
    def title(self) -> str:
        """Return the step's name, or its sentence if it has none."""
        return self.name or self.words


@dataclass(frozen=True)
class Schedule:
    """Times of day at which rounds begin, in local time.

    at: (hour, minute), sorted. days: 0 = Monday; empty = every day. window: seconds after such a time within which
    its round may still begin, or resume after a restart.
    """

    at: tuple[tuple[int, int], ...]
    days: frozenset[int] = frozenset()
    window: float = 7200.0


@dataclass(frozen=True)
class Mission:
    """A validated mission. steps: with repeated blocks expanded. rounds: their number, or `FOREVER`.

    every: seconds between the begins of two rounds. retry_delay: seconds.
    """

    name: str
    steps: tuple[Step, ...]
    description: str = ""
    rounds: int = 1
    every: float = 0.0
    schedule: Schedule | None = None
    retry_delay: float = 10.0
    reads_grammar: bool = True


@dataclass(frozen=True)
class Outcome:
    """Outcome of one attempt. text: for a person, one or several lines, untrusted. data: facts for the report."""

    verdict: Verdict
    text: str = ""
    code: int = 0
    data: Mapping[str, Any] = field(default_factory=dict)
