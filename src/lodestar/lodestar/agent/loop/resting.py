"""States IDLE and HELD: no directive runs, and the robot stands."""

from __future__ import annotations

from lodestar.agent.errands.run import DirectiveRun


class RestingState:
    """Do nothing on a tick. IDLE is left by `start` and `hold`, HELD by `release` alone."""

    def step(self, run: DirectiveRun) -> None:
        """Raise: a directive cannot run here."""
        raise RuntimeError(f"a directive is open though the loop rests: {run.directive.text!r}")
