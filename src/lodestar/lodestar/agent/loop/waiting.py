"""State WAITING: the robot stands while its activity waits for a time, or for the memory's answer."""

from __future__ import annotations

from lodestar.agent.activities.charger_trip import ChargerTrip
from lodestar.agent.activities.table import Activities
from lodestar.agent.errands.run import DirectiveRun


class WaitingState:
    """Leaves by `redecide` where something is left to do or the battery demands it, or by `finish`."""

    def __init__(self, trip: ChargerTrip, activities: Activities) -> None:
        self._trip, self._activities = trip, activities

    def step(self, run: DirectiveRun) -> None:
        """Let the activity see whether its wait is over."""
        if not self._trip.turned_back(run):
            self._activities.of(run).waited(run)
