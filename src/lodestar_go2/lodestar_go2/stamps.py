"""Conversion of the robot's stamps to our clock, the ROS clock of this computer."""

from __future__ import annotations

from collections import Counter, deque

STAMP_WINDOW = 10.0  # s over which the smallest delay is taken for the offset of the clocks; chosen
STAMP_RESTART = 1.0  # s by which a stamp runs back to be a restart of the robot's clock; chosen
STAMP_MAX_DELAY = 1.0  # s behind our clock, beyond which a message is dropped as late; chosen
STAMP_STEP = 0.3  # s for which every message is late, after which our clock was set forwards; chosen
STAMP_SLACK = (
    0.1  # s by which the smallest delay of STAMP_STEP exceeds the offset if our clock was set; chosen
)


class StampRepair:
    """Converts the stamps of one stream to our clock, with one rule per fault.

    | fault | rule |
    |---|---|
    | another clock | its offset is the smallest difference to the time of arrival within the window |
    | a repeated stamp | dropped |
    | a stamp that falls back by less than STAMP_RESTART | dropped as late |
    | a stamp that falls back further | the robot's clock has restarted: the offset is determined again |
    | a zero stamp | replaced by the time of arrival |
    | our clock was set back, or forwards | the offset is determined again, and stamps ascend from there |
    """

    def __init__(self) -> None:
        self._newest: float | None = None
        self._given: float | None = None  # newest stamp that was returned
        self._delays: deque[tuple[float, float]] = deque()
        self._arrived: float | None = None  # time of the newest arrival
        # arrival since which every message was late, and the least by which one was
        self._late: tuple[float, float] | None = None
        self.counts: Counter[str] = Counter()

    def restart_clock(self) -> None:
        """Forget all times of our clock, because it was set; the robot's newest stamp is kept."""
        self._delays.clear()
        self._given = self._arrived = self._late = None

    @property
    def offset(self) -> float:
        """Return the seconds by which our clock is ahead of the robot's; 0 before the first message."""
        return min((delay for _, delay in self._delays), default=0.0)

    def repaired(self, stamp: float, arrival: float) -> float | None:
        """Return a stamp in our clock, ascending; None if the message must be dropped.

        stamp: seconds of the robot's clock. arrival: seconds of our clock.
        """
        if self._arrived is not None and arrival < self._arrived:
            self.counts["steps_of_our_clock"] += 1
            self.restart_clock()
        self._arrived = arrival
        if stamp <= 0.0:
            self.counts["without_stamp"] += 1
            return self._ascending(arrival)
        if self._newest is not None and stamp <= self._newest:
            if stamp == self._newest:
                self.counts["repeated"] += 1
                return None
            if self._newest - stamp < STAMP_RESTART:
                self.counts["late"] += 1
                return None
            self.counts["clock_restarts"] += 1
            self._delays.clear()
            self._late = None
        self._newest = stamp
        self._note(arrival, arrival - stamp)
        late = arrival - stamp - self.offset
        if late <= STAMP_SLACK:
            self._late = None
            return self._ascending(stamp + self.offset)
        since, least = self._late or (arrival, late)
        self._late = since, min(least, late)
        if arrival - since >= STAMP_STEP:
            self.counts["steps_of_our_clock"] += 1
            delay = self.offset + min(least, late)
            self.restart_clock()
            self._note(arrival, delay)
        elif late > STAMP_MAX_DELAY:
            self.counts["late"] += 1
            return None
        return self._ascending(stamp + self.offset)

    def _note(self, arrival: float, delay: float) -> None:
        """Add a delay to the window; earlier, larger delays are removed, because they can no longer be the minimum."""
        while self._delays and self._delays[-1][1] >= delay:
            self._delays.pop()
        self._delays.append((arrival, delay))
        while arrival - self._delays[0][0] > STAMP_WINDOW:
            self._delays.popleft()

    def _ascending(self, stamp: float) -> float | None:
        if self._given is not None and stamp <= self._given:
            self.counts["not_ascending"] += 1
            return None
        self._given = stamp
        return stamp
