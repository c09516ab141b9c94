"""Table of the unfinished goals of `follow_directive`, each with its phase."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum, auto
from typing import Any

from lodestar.memory.events import DirectiveNews
from lodestar_ros.client_watch import OwnerWatch

_WOULD_STOP = "Stop at once."
_THEN = f'{_WOULD_STOP} Then read "'


def stop_report(rest: str) -> str:
    """Return the report of a dry run whose text stops the robot. rest: text after the stop, "" = none."""
    return f'{_THEN}{rest}".' if rest else _WOULD_STOP


def rest_after_stop(report: str) -> str | None:
    """Return the text after the stop in the report of a dry run; None if its text does not stop the robot."""
    if report.startswith(_THEN):
        return report.removeprefix(_THEN).removesuffix('".')
    return "" if report == _WOULD_STOP else None


class Phase(Enum):
    """Phase of an unfinished goal: the event or the worker that it waits for."""

    EARLY = auto()  # waits for the first clock message, the gate's first message, or its owner
    READING = auto()  # a language model reads the text
    DESCRIBING = auto()  # a vision model describes the pictures
    STARTING = auto()  # the loop's thread reads and starts the directive
    FOLLOWED = auto()  # the loop follows the directive


#: Phases of goals that have not reached the loop.
WAITING = (Phase.EARLY, Phase.READING, Phase.DESCRIBING)


class DirectiveGoal:
    """One goal of a client.

    handle: rclpy's goal handle. withdrawn: the goal must not be started or continued. before: sentence about
    the stop at the start of its text, "" = none. owner: watch of the goal's owner, None = the goal has no
    owner. start: called at the end of `Phase.EARLY`.

    Used by the executor; the decision loop's thread only reads `is_wanted`, and changes the phase when it
    starts the goal.
    """

    def __init__(self, handle: Any, phase: Phase) -> None:
        self.handle, self.phase = handle, phase
        self.withdrawn, self.before = False, ""
        self.owner: OwnerWatch | None = None
        self.start: Callable[[], None] = lambda: None
        self.begun: DirectiveNews | None = None  # report that was published when the directive began

    @property
    def is_wanted(self) -> bool:
        """Return whether the goal may still be started."""
        return not (self.withdrawn or self.handle.is_cancel_requested)


class DirectiveGoals:
    """The unfinished goals in order of arrival. Executor only, except `begun`."""

    def __init__(self) -> None:
        # goal that the loop started last; written by the loop's thread
        self.begun: DirectiveGoal | None = None
        self._goals: list[DirectiveGoal] = []

    def __contains__(self, goal: DirectiveGoal) -> bool:
        return goal in self._goals

    def add(self, handle: Any, phase: Phase) -> DirectiveGoal:
        """Add the goal of a handle and return it."""
        goal = DirectiveGoal(handle, phase)
        self._goals.append(goal)
        return goal

    def remove(self, goal: DirectiveGoal) -> bool:
        """Remove a finished goal; return whether it was in the table."""
        there = goal in self._goals
        if there:
            self._goals.remove(goal)
        return there

    def of(self, handle: Any) -> DirectiveGoal | None:
        """Return the goal of a handle, or None."""
        return next((goal for goal in self._goals if goal.handle == handle), None)

    def waiting(self) -> Iterator[DirectiveGoal]:
        """Yield the goals not yet passed to the decision loop; goals may be removed during the iteration."""
        yield from [goal for goal in self._goals if goal.phase in WAITING]

    @property
    def followed(self) -> DirectiveGoal | None:
        """Return the goal that the decision loop follows, or None."""
        return next((goal for goal in self._goals if goal.phase is Phase.FOLLOWED), None)

    def withdraw(self) -> list[DirectiveGoal]:
        """Withdraw every goal that was not started; return the waiting ones, for the caller to conclude."""
        for goal in self._goals:
            goal.withdrawn |= goal.phase is not Phase.FOLLOWED
        return list(self.waiting())
