"""Resolution of a question's time window to seconds, also if it refers to an event."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from lodestar.language.time_windows import Clock, Event, TimeBasis, TimePoint
from lodestar.memory.answering.config import ANSWERING_SEGMENTS
from lodestar.memory.answering.inquiry import Inquiry, kind_of_change
from lodestar.memory.answering.readings import rooms_meant
from lodestar.memory.answering.selection import When, find, find_changed
from lodestar.memory.answering.subjects import Meant, Rooms, Visited
from lodestar.memory.records import WALL_TIME
from lodestar.memory.requests import Request

_DAY = 86400.0
_ON_THE_WAY = ("drive",)  # verbs for actions of the robot that need no object or room
_ENTERING, _LEAVING = ("enter", "reach", "visit"), ("leave",)


@dataclass(frozen=True)
class Window:
    """Resolved time window of a question. span: (begin, end) in seconds, None = any time.

    problem: why it is unresolved, "" = resolved. is_event: whether the problem is an unknown event.
    """

    span: tuple[float, float] | None = None
    problem: str = ""
    is_event: bool = False


def resolved_window(inquiry: Inquiry) -> Window:
    """Return the time window of the question, or the problem that it has.

    It may lie in the future, refer to an unknown event, or end before it begins.
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
    """Return the present time, the last midnight and the time at which the robot started.

    Days of simulated time begin at multiples of 24 h. The start is that of the oldest memory of the last
    session; it is looked up only if the window refers to it.
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
    """Return the start of the last session's oldest memory among those read; the present if there is none."""
    found = [hit.memory for hit in inquiry.tools.memories.search(Request(limit=ANSWERING_SEGMENTS))]
    return min((m.start for m in found if m.session == found[0].session), default=inquiry.now)


def event_times(inquiry: Inquiry, event: Event) -> tuple[float, float] | None:
    """Return the (begin, end) of an event's last occurrence, seconds; None if it is unknown."""
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
    """Return (begin, end) of the last visit, or one of them twice for verbs such as "enter" or "leave".

    Returns None if there was no visit.
    """
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
