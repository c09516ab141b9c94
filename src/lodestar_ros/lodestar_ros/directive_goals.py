"""The goals of `follow_directive` that are not over, in one table, each with its phase."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum, auto
from typing import Any

from lodestar.memory.events import DirectiveNews


class Phase(Enum):
    """The thing that a goal waits for."""

    EARLY = auto()  # the clock's first message: its time cannot be measured yet
    READING = auto()  # a language model, which reads its text
    DESCRIBING = auto()  # a vision model, which describes its pictures
    STARTING = auto()  # the loop's thread, which reads and starts it
    FOLLOWED = auto()  # its end: the loop follows it


#: Nothing of these has reached the loop.
WAITING = (Phase.EARLY, Phase.READING, Phase.DESCRIBING)


class DirectiveGoal:
    """One goal of a client. handle: rclpy's. withdrawn: it is not to be begun any more.

    The executor owns it; the loop's thread reads `is_wanted`, and changes the phase while it starts the goal.
    """

    def __init__(self, handle: Any, phase: Phase) -> None:
        self.handle, self.phase = handle, phase
        self.withdrawn = False
        self.begun: DirectiveNews | None = None  # when it was told that it is followed

    @property
    def is_wanted(self) -> bool:
        """Return whether it may still be begun."""
        return not (self.withdrawn or self.handle.is_cancel_requested)


class DirectiveGoals:
    """The goals that are not over, in the order of their arrival. Of the executor, but for `begun`."""

    def __init__(self) -> None:
        self.begun: DirectiveGoal | None = None  # that the loop started last; of the loop's thread
        self._goals: list[DirectiveGoal] = []

    def __contains__(self, goal: DirectiveGoal) -> bool:
        return goal in self._goals

    def add(self, handle: Any, phase: Phase) -> DirectiveGoal:
        """Take in a goal."""
        goal = DirectiveGoal(handle, phase)
        self._goals.append(goal)
        return goal

    def remove(self, goal: DirectiveGoal) -> bool:
        """Forget a goal that is over; return whether it was there."""
        there = goal in self._goals
        if there:
            self._goals.remove(goal)
        return there

    def of(self, handle: Any) -> DirectiveGoal | None:
        """Return the goal of a handle."""
        return next((goal for goal in self._goals if goal.handle == handle), None)

    def waiting(self) -> Iterator[DirectiveGoal]:
        """Yield the goals that have not reached the loop; they may be removed meanwhile."""
        yield from [goal for goal in self._goals if goal.phase in WAITING]

    @property
    def followed(self) -> DirectiveGoal | None:
        """Return the goal that the loop follows."""
        return next((goal for goal in self._goals if goal.phase is Phase.FOLLOWED), None)

    def withdraw(self) -> list[DirectiveGoal]:
        """Mark every goal that has not begun; return those that wait, for which nobody else will tell their end."""
        for goal in self._goals:
            goal.withdrawn |= goal.phase is not Phase.FOLLOWED
        return list(self.waiting())
