"""The window of a question in seconds, also one that an event gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from lodestar.language.time_windows import Clock, Event, TimeBasis, TimePoint
from lodestar.memory.answering.inquiry import Inquiry, kind_of_change
from lodestar.memory.answering.readings import rooms_meant
from lodestar.memory.answering.selection import When, find, find_changed
from lodestar.memory.answering.subjects import Meant, Rooms, Visited
from lodestar.memory.records import WALL_TIME
from lodestar.memory.requests import Request

_DAY = 86400.0
_ON_THE_WAY = ("drive",)  # what the robot did without a thing or a room
_ENTERING, _LEAVING = ("enter", "reach", "visit"), ("leave",)


@dataclass(frozen=True)
class Window:
    """span: seconds, None = at any time. problem: why there is none, "" = it is given or not needed.

    is_event: it hangs on an event that is not known.
    """

    span: tuple[float, float] | None = None
    problem: str = ""
    is_event: bool = False


def resolved_window(inquiry: Inquiry) -> Window:
    """Return the window of the inquiry's question. What lies in the future, or hangs on an event that is not known,
    is a problem.
    """
    window = inquiry.question.window
    if not window:
        return Window()
    clock = clock_of(inquiry)
    if _is_future(window.begin, clock):
        return Window(problem="that lies in the future, and I remember only what was")
    missing: list[Event] = []

    def when(event: Event) -> tuple[float, float] | None:
        span = event_times(inquiry, event)
        if span is None:
            missing.append(event)
        return span

    found = window.resolve(clock, when)
    if found is not None:
        return Window(found)
    if missing:
        return Window(problem="I do not remember what the time in the question hangs on", is_event=True)
    return Window(problem="the time in the question ends before it begins")


def clock_of(inquiry: Inquiry) -> Clock:
    """Return now, the last midnight and when the robot started. Simulated time has its days at whole ones.

    The robot started with its oldest memory of the last session, which is looked up where the window counts from it.
    """
    now = inquiry.now
    if now >= WALL_TIME:
        day = datetime.fromtimestamp(now).replace(hour=0, minute=0, second=0, microsecond=0)
        midnight = day.timestamp()
    else:
        midnight = now - now % _DAY
    window = inquiry.question.window
    from_start = any(
        point is not None and point.basis is TimeBasis.START for point in (window.begin, window.end)
    )
    return Clock(now, midnight, _started(inquiry) if from_start else now)


def _started(inquiry: Inquiry) -> float:
    """Return when the oldest memory of the last session began, among as many as are read; now, where there is none."""
    found = [hit.memory for hit in inquiry.tools.memories.search(Request(limit=inquiry.config.segments))]
    return min((m.start for m in found if m.session == found[0].session), default=inquiry.now)


def event_times(inquiry: Inquiry, event: Event) -> tuple[float, float] | None:
    """Return when something last happened, seconds; None where memory does not know."""
    anytime = inquiry.anytime
    act = event.act
    if event.item is None:
        known = anytime.chronicle.segments if act is not None and act.own and act.verb in _ON_THE_WAY else []
        return (known[0].start, known[-1].end) if known else None
    meant = rooms_meant(anytime, event.item)
    if meant is not None and (act is None or act.own):
        return _visit(Rooms(anytime, meant).visits, "" if act is None else act.verb)
    kind = None if act is None else kind_of_change(act)
    past = find(anytime, event.item, When.PAST) if kind is None else find_changed(anytime, event.item, kind)
    if past.best is None:
        return None
    it = Meant(anytime, past)
    last = it.stays[-1]
    if act is None:
        return (last.sightings[-1].memory.start if last.sightings else last.last, last.last)
    if act.own:
        return _visit(it.visits(last.box))
    changes = it.history.of_kind(kind)
    if changes:
        return changes[-1].start, changes[-1].start
    return None if kind is None else it.history.span_of_change(kind)


def _visit(visited: Visited, verb: str = "") -> tuple[float, float] | None:
    """Return the last visit, its begin or its end, by the verb; None where there was none."""
    if not visited.visits:
        return None
    begin, end = visited.visits[-1].span
    return (begin, begin) if verb in _ENTERING else (end, end) if verb in _LEAVING else (begin, end)


def _is_future(begin: TimePoint | None, clock: Clock) -> bool:
    if begin is None or begin.event is not None:
        return False
    starts: dict[TimeBasis, Callable[[TimePoint], float]] = {
        TimeBasis.NOW: lambda p: clock.now - p.seconds,
        TimeBasis.DAY: lambda p: clock.midnight + p.day * _DAY + p.seconds,
        TimeBasis.START: lambda p: clock.start + p.seconds,
        TimeBasis.STAMP: lambda p: p.seconds,
    }
    return starts[begin.basis](begin) > clock.now
