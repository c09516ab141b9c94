"""States IDLE and HELD: no directive runs, and the robot stands."""

from __future__ import annotations

from lodestar.agent.run import Run


class RestingState:
    """Nothing happens with a tick. IDLE leaves by `start` and `hold`, HELD by `release` alone."""

    def step(self, run: Run) -> None:
        """Raise: a directive cannot run here."""
        raise RuntimeError(f"a directive is open though the loop rests: {run.directive.text!r}")
