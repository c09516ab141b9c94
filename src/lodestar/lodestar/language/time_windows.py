"""Times named in questions. They stay relative until `resolve` gets a clock; nothing here reads a clock."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

from lodestar.language.items import Item

DAY = 86400.0  # s
MAX_AGO = 3650.0 * DAY  # s, ten years


class TimeBasis(IntEnum):
    """References from which a TimePoint's seconds count. The numbers are those of TimePoint.msg."""

    NOW = 0  # `seconds` before now
    DAY = 1  # `seconds` after the midnight that begins `day`
    START = 2  # `seconds` after the robot started
    STAMP = 3  # `seconds` in the clock of the stamps
    EVENT = 4  # time of an event


@dataclass(frozen=True)
class Act:
    """An act: `verb` in its base form ("enter"), done by the robot, or by the item if not `own`."""

    verb: str
    own: bool = True


@dataclass(frozen=True)
class Event:
    """A single event: the robot did `act` with `item`, or the item did it; without an act, the item was seen."""

    act: Act | None = None
    item: Item | None = None


@dataclass(frozen=True)
class Clock:
    """Reference times for relative times, in seconds of the stamps' clock.

    midnight: the last midnight in the asker's time zone. start: when the robot started.
    """

    now: float
    midnight: float
    start: float


#: Returns the seconds at which an event began and ended; None if unknown.
EventTimes = Callable[[Event], "tuple[float, float] | None"]


@dataclass(frozen=True)
class TimePoint:
    """A point in time. day: of basis DAY, 0 = today, -1 = yesterday. event: of basis EVENT. Raises ValueError
    if invalid.
    """

    basis: TimeBasis
    seconds: float = 0.0
    day: int = 0
    event: Event | None = None

    def __post_init__(self) -> None:
        if not math.isfinite(self.seconds) or (self.basis is TimeBasis.NOW and abs(self.seconds) > MAX_AGO):
            raise ValueError("a time needs finite seconds, at most ten years ago")
        if abs(self.day) > MAX_AGO / DAY:
            raise ValueError("a day is at most ten years ago")
        if (self.basis is TimeBasis.EVENT) != (self.event is not None):
            raise ValueError("an event, and nothing else, needs what happened")


@dataclass(frozen=True)
class TimeWindow:
    """Time from `begin` to `end`; None = open. An empty window means any time."""

    begin: TimePoint | None = None
    end: TimePoint | None = None

    def __bool__(self) -> bool:
        return self.begin is not None or self.end is not None

    @property
    def events(self) -> tuple[Event, ...]:
        """Return the events whose times are needed to resolve the window."""
        return tuple(p.event for p in (self.begin, self.end) if p is not None and p.event is not None)

    def resolve(self, clock: Clock, when: EventTimes = lambda event: None) -> tuple[float, float] | None:
        """Return begin and end in seconds, clipped to now; None if an event's time is unknown or the window
        is empty.
        """
        begin, end = -math.inf, clock.now
        if self.begin is not None:
            found = _seconds(self.begin, clock, when)
            if found is None:
                return None
            begin = found[1] if self.begin.event is not None and self.begin != self.end else found[0]
        if self.end is not None:
            found = _seconds(self.end, clock, when)
            if found is None:
                return None
            end = found[0] if self.end.event is not None and self.begin != self.end else found[1]
        end = min(end, clock.now)
        return (begin, end) if begin <= end else None


def _seconds(point: TimePoint, clock: Clock, when: EventTimes) -> tuple[float, float] | None:
    """Return begin and end of a time point in seconds, None if unknown."""
    if point.event is not None:
        return when(point.event)
    bases = {
        TimeBasis.NOW: clock.now - point.seconds,
        TimeBasis.DAY: clock.midnight + point.day * DAY + point.seconds,
        TimeBasis.START: clock.start + point.seconds,
        TimeBasis.STAMP: point.seconds,
    }
    return bases[point.basis], bases[point.basis]


def ago(seconds: float) -> TimePoint:
    """Return the time this many seconds before now."""
    return TimePoint(TimeBasis.NOW, seconds)


def on_day(day: int, seconds: float = 0.0) -> TimePoint:
    """Return a time of a day, 0 = today; seconds beyond the day's length continue on later days."""
    return TimePoint(TimeBasis.DAY, seconds % DAY, day + int(seconds // DAY))


ANY_TIME = TimeWindow()
