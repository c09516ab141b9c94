"""What the live navigator did with its goals, told again to a headless decision loop."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from action_msgs.msg import GoalStatus

from lodestar.agent.commands import NavigationEvent, NavigationKind

_ENDS = {
    GoalStatus.STATUS_SUCCEEDED: NavigationKind.SUCCEEDED,
    GoalStatus.STATUS_ABORTED: NavigationKind.ABORTED,
    GoalStatus.STATUS_CANCELED: NavigationKind.CANCELED,
}
_REPLACED_WITHIN = 0.5  # s between the end of a goal and the goal that took its place
_ACCEPTED_WITHIN = 2.0  # s between a decision and its goal


@dataclass
class LiveGoal:
    """A goal of the live run. accepted, ended: seconds of the run's clock."""

    accepted: float
    ended: float = float("inf")
    end: NavigationKind | None = None


def live_goals(statuses: Iterable[tuple[float, Any]]) -> list[LiveGoal]:
    """The goals of a run in order, from (time, GoalStatusArray) pairs."""
    goals: dict[bytes, LiveGoal] = {}
    for now, array in statuses:
        for status in array.status_list:
            key = bytes(status.goal_info.goal_id.uuid)
            goal = goals.setdefault(key, LiveGoal(now))
            if goal.end is None and status.status in _ENDS:
                goal.ended, goal.end = now, _ENDS[status.status]
    return sorted(goals.values(), key=lambda goal: goal.accepted)


class NavigationReplay:
    """Stands in for the navigator: a goal that the loop sends ends when and as the live robot's goal did.

    A live goal that was replaced by the next one did not end for the loop: the robot drove on.
    """

    def __init__(self, goals: Sequence[LiveGoal]) -> None:
        self._goals = list(goals)
        self._current: int | None = None
        self._epoch = 0

    def send(self, epoch: int, now: float, decided: float | None) -> NavigationEvent:
        """The loop sends a goal; decided: when the live loop took the decision that is followed, None = none was."""
        at = now if decided is None else decided
        after = [i for i, goal in enumerate(self._goals) if at <= goal.accepted <= at + _ACCEPTED_WITHIN]
        running = [i for i, goal in enumerate(self._goals) if goal.accepted <= now < goal.ended]
        self._current = after[0] if after else (running[-1] if running else None)
        self._epoch = epoch
        return NavigationEvent(NavigationKind.ACCEPTED, epoch=epoch)

    def cancel(self) -> NavigationEvent | None:
        """The loop takes its goal back."""
        if self._current is None:
            return None
        self._current = None
        return NavigationEvent(NavigationKind.CANCELED, epoch=self._epoch)

    def update(self, now: float, remaining: float) -> NavigationEvent | None:
        """News of the goal. remaining: metres of path."""
        if self._current is None:
            return None
        goal = self._goals[self._current]
        if now < goal.ended or goal.end is None:
            return NavigationEvent(NavigationKind.FEEDBACK, distance_remaining=remaining, epoch=self._epoch)
        if goal.end is not NavigationKind.SUCCEEDED and self._replaced(self._current):
            self._current += 1
            return None
        self._current = None
        return NavigationEvent(goal.end, epoch=self._epoch)

    def _replaced(self, index: int) -> bool:
        after = self._goals[index + 1] if index + 1 < len(self._goals) else None
        return after is not None and after.accepted <= self._goals[index].ended + _REPLACED_WITHIN
