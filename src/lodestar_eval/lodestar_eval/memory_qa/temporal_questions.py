"""Questions about a time or a duration."""

from __future__ import annotations

from collections.abc import Iterator

from lodestar_eval.memory_qa.drafts import Draft, Forms, Maker, spans_of
from lodestar_eval.memory_qa.questions import DURATION, TIME, Gold
from lodestar_eval.memory_qa.truth import Interval, Stay, TourTruth
from lodestar_sim.worlds.world import Event

_FEW = 3  # most looks to which "when did you see" may refer
_FORMS = {"move": "when_moved", "remove": "when_gone", "add": "when_came"}
_LONG = 20.0  # least seconds in a room for a question about the duration
_AROUND = 2.0  # seconds of tolerance around a change


def temporal_forms(maker: Maker) -> Forms:
    """Return drafts of questions about a time or a duration, by form of question."""
    return {
        "last_seen": _last_seen(maker),
        "first_seen": _first_seen(maker),
        "seen_when": _seen_when(maker),
        "when_changed": _changed(maker),
        "entered": _entered(maker),
        "last_in": _last_in(maker),
        "time_in": _time_in(maker),
    }


def _looked_at(maker: Maker, stays: list[Stay]) -> Iterator[tuple[Stay, str, list[Interval], list[Interval]]]:
    """Yield (stay, unique phrase, near, far) of objects that the robot must have noticed.

    near: intervals of at least two images within 5 m (`TourTruth.noticed`). far: all intervals in view.
    """
    for stay, words in maker.descriptions.phrased(stays):
        near, far = maker.truth.noticed(stay.thing.id), maker.truth.looks(stay.thing.id, near=False)
        if near:
            yield stay, words, near, far


def _last_seen(maker: Maker) -> Iterator[Draft]:
    for stay, words, near, far in _looked_at(maker, maker.seen_last):
        # any time from the last look within 5 m to a later one from further away is right
        span = (near[-1][1], far[-1][1])
        gold = Gold(TIME, times=(span,), seen=(near[-1],))
        yield Draft("last_seen", {"thing": words}, gold, (stay.thing.id,))


def _first_seen(maker: Maker) -> Iterator[Draft]:
    still = [s for s in maker.unchanged if s.start == 0.0]
    for stay, words, near, far in _looked_at(maker, still):
        gold = Gold(TIME, times=((far[0][0], near[0][0]),), seen=(near[0],))
        yield Draft("first_seen", {"thing": words}, gold, (stay.thing.id,))


def _seen_when(maker: Maker) -> Iterator[Draft]:
    for stay, words, near, far in _looked_at(maker, maker.seen_last):
        if len(near) <= _FEW:
            gold = Gold(TIME, times=tuple(far), seen=tuple(near))
            yield Draft("seen_when", {"thing": words}, gold, (stay.thing.id,))


def _changed(maker: Maker) -> Iterator[Draft]:
    """Yield questions about when an object changed. Any time between its last view before and its first view
    after the change is right, because the robot cannot know more.
    """
    for kind, form in _FORMS.items():
        for event, stays in maker.changes(kind):
            words = maker.attribute_phrase(stays[0]) or maker.descriptions.phrase(stays[0])
            low, high = _knowable(maker.truth, event, stays)
            if words:
                gold = Gold(TIME, times=((low - _AROUND, high + _AROUND),), seen=spans_of(maker, stays))
                yield Draft(form, {"thing": words}, gold, (event.object_id,))


def _knowable(truth: TourTruth, event: Event, stays: list[Stay]) -> Interval:
    """Return the last time when the robot saw the state before a change, and the first time after it."""
    spans = truth.looks(event.object_id, near=False)
    old, new = truth.watched(stays[0].centre), truth.watched(stays[-1].centre)
    before = [float(t) for t in new if t <= event.time] if event.kind == "add" else []
    before += [b for _, b in spans if b <= event.time]
    after = [float(t) for t in old if t >= event.time] if event.kind == "remove" else []
    after += [a for a, _ in spans if a >= event.time]
    return max(before, default=event.time), min(after, default=event.time)


def _stays_in(maker: Maker) -> Iterator[tuple[str, list[Interval]]]:
    for room in maker.own_rooms():
        spans = [(a, b) for r, a, b in maker.truth.visits if r == room.id and b - a >= 2.0]
        if spans:
            yield room.label, spans


def _entered(maker: Maker) -> Iterator[Draft]:
    for label, spans in _stays_in(maker):
        if spans[0][0] > 0.0:  # leaves out a room in which the tour began
            gold = Gold(TIME, times=((spans[0][0],) * 2,), seen=(spans[0],))
            yield Draft("entered", {"room": label}, gold)


def _last_in(maker: Maker) -> Iterator[Draft]:
    for label, spans in _stays_in(maker):
        if spans[-1][1] < maker.truth.end:
            gold = Gold(TIME, times=((spans[-1][1],) * 2,), seen=(spans[-1],))
            yield Draft("last_in", {"room": label}, gold)


def _time_in(maker: Maker) -> Iterator[Draft]:
    for label, spans in _stays_in(maker):
        total = sum(b - a for a, b in spans)
        if total >= _LONG:
            yield Draft("time_in", {"room": label}, Gold(DURATION, number=total, seen=tuple(spans)))
