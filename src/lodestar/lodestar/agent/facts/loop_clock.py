"""The loop's own time: its owner's clock, which stands while a directive is paused."""

from __future__ import annotations


class LoopClock:
    """Loop time, so that no deadline and no patience counts a pause. now: seconds; stands: whether it is stopped."""

    def __init__(self) -> None:
        self.now, self.stands = 0.0, False
        self._given, self._rested = 0.0, 0.0  # the owner's newest time, and how long the clock has stood

    def advance(self, given: float) -> float:
        """Take the owner's time in seconds, and return loop time; time that goes back counts as no time."""
        self._given = max(self._given, given)
        if not self.stands:
            self.now = max(self.now, self._given - self._rested)
        return self.now

    def stop(self) -> None:
        """Stand until `go`."""
        self.stands = True

    def go(self) -> None:
        """Go on from where it stands; a clock that goes is left as it is."""
        if self.stands:
            self.stands, self._rested = False, self._given - self.now

    def restart(self, given: float) -> None:
        """Begin anew at the owner's time, in seconds."""
        self.now = self._given = given
        self.stands, self._rested = False, 0.0
