"""Parser of durations, times of day, and the next time of a schedule."""

from __future__ import annotations

import math
import re
from datetime import datetime, timedelta

from lodestar.missions.records import Schedule

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_UNITS = {
    "s": 1.0,
    "sec": 1.0,
    "second": 1.0,
    "min": 60.0,
    "minute": 60.0,
    "h": 3600.0,
    "hour": 3600.0,
    "day": 86400.0,
}
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]+)\s*")
_CLOCK = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)")
LONGEST = 31 * 86400.0  # seconds; chosen


def seconds_of(said: object) -> float:
    """Return the seconds of "90 s", "5 min", "1 h 30 min", "1 day" or of a number of seconds. Raises ValueError."""
    if isinstance(said, int | float) and not isinstance(said, bool):
        seconds = float(said)
    elif isinstance(said, str):
        text = said.strip().lower()
        parts = _PART.findall(text)
        if not parts or _PART.sub("", text):
            raise ValueError(f'{said!r} is no duration: write for example "90 s", "5 min" or "1 h 30 min"')
        unknown = [unit for _, unit in parts if unit not in _UNITS and unit.rstrip("s") not in _UNITS]
        if unknown:
            raise ValueError(f"{unknown[0]!r} is no unit of time: write s, min, h or day")
        seconds = sum(
            float(number) * _UNITS.get(unit, _UNITS.get(unit.rstrip("s"), 0.0)) for number, unit in parts
        )
    else:
        raise ValueError(f'{said!r} is no duration: write for example "90 s" or "5 min"')
    if not (math.isfinite(seconds) and 0.0 < seconds <= LONGEST):
        raise ValueError(f"{said!r} does not lie above 0 s and within 31 days")
    return seconds


def time_of_day(said: object) -> tuple[int, int]:
    """Return hour and minute of "22:00". Raises ValueError."""
    found = _CLOCK.fullmatch(said.strip()) if isinstance(said, str) else None
    if found is None:
        raise ValueError(f'{said!r} is no time of day: write for example "22:00"')
    return int(found[1]), int(found[2])


def next_due(schedule: Schedule, now: float, after: float) -> float:
    """Return the first time of the schedule after `after` whose window is open at `now` or still to come.

    All are seconds since the epoch. A time whose window has closed is skipped.
    """
    day = datetime.fromtimestamp(min(now, max(after, now - schedule.window))).date() - timedelta(days=1)
    while True:
        if not schedule.days or day.weekday() in schedule.days:
            for hour, minute in schedule.at:
                due = datetime(day.year, day.month, day.day, hour, minute).timestamp()
                if due > after and now - due <= schedule.window:
                    return due
        day += timedelta(days=1)


def clock_words(stamp: float) -> str:
    """Return seconds since the epoch as local time, such as "Mon 22:00"."""
    moment = datetime.fromtimestamp(stamp)
    return f"{DAYS[moment.weekday()].title()} {moment:%H:%M}"
