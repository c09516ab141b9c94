"""State WAITING: the robot stands until a time of the loop's clock, or until the directive is cancelled."""

from __future__ import annotations

from lodestar.agent.charger_trip import ChargerTrip
from lodestar.agent.context import LoopContext
from lodestar.agent.run import Run
from lodestar.agent.steps import Steps
from lodestar.agent.words import duration_in_words


class WaitingState:
    """Leaves by `redecide` where another step follows or the battery demands it, or by `finish`."""

    def __init__(self, context: LoopContext, steps: Steps, trip: ChargerTrip) -> None:
        self._context, self._steps, self._trip = context, steps, trip

    def step(self, run: Run) -> None:
        """End the wait when its time has come."""
        if self._trip.turned_back(run) or run.waits_until is None:
            return
        if self._context.now >= run.waits_until:
            self._steps.succeed(run, f"Waited for {duration_in_words(run.step.seconds or 0.0)}.")
