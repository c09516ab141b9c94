"""Errands that end where the robot stands: waiting, stopping, and what nothing here can answer yet."""

from __future__ import annotations

from lodestar.agent.activity import Activity
from lodestar.agent.errors import ErrorCode
from lodestar.agent.run import Run
from lodestar.agent.words import duration_in_words


class Wait(Activity):
    """WAIT: the robot stands for a time on the loop's clock, or until the directive is cancelled."""

    def act(self, run: Run) -> bool:
        """Begin to wait; the time of it does not count against the directive's limit."""
        seconds = run.step.seconds
        now = self._tools.context.now
        run.waits_until = None if seconds is None else now + seconds
        run.time_limit += seconds or 0.0
        run.text = f"Waiting {'until cancelled' if seconds is None else f'for {duration_in_words(seconds)}'}."
        self._tools.transitions.wait(run)
        return True


class Stop(Activity):
    """STOP: the directive ends, and the robot stands."""

    def act(self, run: Run) -> bool:
        """End it."""
        self._tools.steps.succeed(run, "Stopped.")
        return True


class Unanswered(Activity):
    """CHECK and ASK: a directive does not ask the memory, so the robot says so without driving for it."""

    def act(self, run: Run) -> bool:
        """End it with the code for that."""
        self._tools.steps.fail(run, ErrorCode.CANNOT_ANSWER, unanswered(run.step.question or run.step.target))
        return True


def unanswered(question: str) -> str:
    """Return why a question is not answered, and what may be asked instead."""
    said = f'"{question}": ' if question else ""
    return (
        f"{said}a directive asks nothing of the memory yet. Ask it with `python -m lodestar_ros.ask`, or send the "
        "robot to find the thing or to list what is there."
    )
