"""Errands that end where the robot stands: waiting and stopping."""

from __future__ import annotations

from lodestar.agent.activities.activity import Activity
from lodestar.agent.errands.run import DirectiveRun
from lodestar.language.step_kinds import duration_in_words


class Wait(Activity):
    """WAIT: the robot stands for a time on the loop's clock, or until the directive is cancelled."""

    def act(self, run: DirectiveRun) -> bool:
        """Begin to wait; the time of it does not count against the directive's limit."""
        seconds = run.step.seconds
        now = self._tools.context.now
        run.errand.waits_until = None if seconds is None else now + seconds
        run.time_limit += seconds or 0.0
        run.text = f"Waiting {'until cancelled' if seconds is None else f'for {duration_in_words(seconds)}'}."
        self._tools.transitions.wait(run)
        return True

    def waited(self, run: DirectiveRun) -> None:
        """End the wait when its time has come."""
        if run.errand.waits_until is not None and self._tools.context.now >= run.errand.waits_until:
            self._tools.steps.succeed(run, f"Waited for {duration_in_words(run.step.seconds or 0.0)}.")


class Stop(Activity):
    """STOP: the directive ends, and the robot stands."""

    def act(self, run: DirectiveRun) -> bool:
        """End it."""
        self._tools.steps.succeed(run, "Stopped.")
        return True
