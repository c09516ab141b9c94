"""Amendments, closed ways, outcomes of actions and events of the world model: messages there and back."""

from __future__ import annotations

import math
from collections.abc import Iterable

from geometry_msgs.msg import Point

from lodestar.worldmodel.amendments import Amendment, Change, ClosedWay
from lodestar.worldmodel.events import WorldEvent
from lodestar.worldmodel.outcomes import (
    ActionOutcome,
    Cause,
    CauseEstimate,
    ConstraintState,
    Diagnosis,
    Discrepancy,
    Look,
    Result,
)
from lodestar.worldmodel.records import Phase
from lodestar_interfaces import msg
from lodestar_ros.conversions import MAX_COORDINATE, BadMessage, header, stamp_from_msg, stamp_to_msg
from lodestar_ros.conversions_trace import belief_from_msg, belief_to_msg, beliefs_from_msg

Place = tuple[float, float]


def amendment_to_msg(amendment: Amendment) -> msg.Amendment:
    """A belief and a way are lists of at most one."""
    belief, way = amendment.belief, amendment.way
    return msg.Amendment(
        change=amendment.change.value,
        reason=amendment.reason,
        author=amendment.author,
        entity_id=amendment.entity_id,
        label=amendment.label,
        belief=[] if belief is None else [belief_to_msg(belief)],
        way=[] if way is None else [way_to_msg(way)],
        trace_id=amendment.trace_id,
    )


def amendment_from_msg(message: msg.Amendment) -> Amendment:
    """Raises BadMessage for a change that does not exist, or a way that lies nowhere."""
    try:
        change = Change(message.change)
    except ValueError as error:
        raise BadMessage(f"{error}; it is one of {', '.join(c.value for c in Change)}") from error
    return Amendment(
        change,
        message.reason,
        message.author,
        int(message.entity_id),
        message.label,
        belief_from_msg(message.belief[0]) if message.belief else None,
        way_from_msg(message.way[0]) if message.way else None,
        message.trace_id,
    )


def amendments_from_msg(messages: Iterable[msg.Amendment]) -> tuple[Amendment, ...]:
    """Raises BadMessage as `amendment_from_msg` does."""
    return tuple(map(amendment_from_msg, messages))


def way_to_msg(way: ClosedWay) -> msg.ClosedWay:
    """A zero `expires` means until it is opened."""
    return msg.ClosedWay(
        start=_point(way.start),
        end=_point(way.end),
        expires=stamp_to_msg(way.expires if math.isfinite(way.expires) else 0.0),
        cause=way.cause,
        seen_free_opens=way.seen_free_opens,
    )


def way_from_msg(message: msg.ClosedWay) -> ClosedWay:
    """Raises BadMessage for a point that is not finite or out of bounds."""
    expires = stamp_from_msg(message.expires)
    return ClosedWay(
        _place(message.start),
        _place(message.end),
        expires if expires > 0.0 else math.inf,
        message.cause,
        message.seen_free_opens,
    )


def ways_to_msg(ways: Iterable[ClosedWay], stamp: float) -> msg.ClosedWayArray:
    """stamp: of the list, seconds."""
    return msg.ClosedWayArray(header=header(stamp, "map"), ways=[way_to_msg(way) for way in ways])


def ways_from_msg(message: msg.ClosedWayArray) -> tuple[ClosedWay, ...]:
    """Raises BadMessage as `way_from_msg` does."""
    return tuple(map(way_from_msg, message.ways))


def discrepancy_to_msg(discrepancy: Discrepancy, trace_id: str = "", cause: str = "") -> msg.Discrepancy:
    """trace_id: of the action; cause: the most probable one."""
    return msg.Discrepancy(
        trace_id=trace_id,
        expected_state=str(discrepancy.expected),
        actual_state=str(discrepancy.actual),
        missing=[belief_to_msg(belief) for belief in discrepancy.missing],
        unexpected=[belief_to_msg(belief) for belief in discrepancy.unexpected],
        drifts=[msg.WeightedId(id=entity, weight=float(metres)) for entity, metres in discrepancy.drifts],
        likely_cause=cause,
    )


def discrepancy_from_msg(message: msg.Discrepancy) -> Discrepancy:
    """Raises BadMessage for a phase that does not exist."""
    return Discrepancy(
        _state(message.expected_state),
        _state(message.actual_state),
        beliefs_from_msg(message.missing),
        beliefs_from_msg(message.unexpected),
        tuple((int(drift.id), float(drift.weight)) for drift in message.drifts),
    )


def outcome_to_msg(outcome: ActionOutcome) -> msg.TraceOutcome:
    """Without a diagnosis it has no discrepancy and no causes."""
    message = msg.TraceOutcome(
        trace_id=outcome.trace_id,
        stamp=stamp_to_msg(outcome.stamp),
        result=outcome.result.value,
        recovery=outcome.recovery,
        amendments=[amendment_to_msg(amendment) for amendment in outcome.amendments],
        text=outcome.text,
    )
    diagnosis = outcome.diagnosis
    if diagnosis is not None:
        cause = diagnosis.cause.value
        message.discrepancy = [discrepancy_to_msg(diagnosis.discrepancy, outcome.trace_id, cause)]
        message.causes = causes_to_msg(diagnosis.causes)
        message.look = diagnosis.look.value
        message.look_at = [] if diagnosis.look_at is None else [_point(diagnosis.look_at)]
    return message


def outcome_from_msg(message: msg.TraceOutcome) -> ActionOutcome:
    """The text of a diagnosis is that of the outcome. Raises BadMessage."""
    diagnosis = None
    try:
        if message.discrepancy:
            causes = tuple(CauseEstimate(Cause(c.cause), float(c.probability)) for c in message.causes)
            look_at = _place(message.look_at[0]) if message.look_at else None
            diagnosis = Diagnosis(
                discrepancy_from_msg(message.discrepancy[0]),
                causes,
                Look(message.look),
                look_at,
                message.text,
            )
        result = Result(message.result)
    except BadMessage:
        raise
    except ValueError as error:
        raise BadMessage(str(error)) from error
    return ActionOutcome(
        message.trace_id,
        stamp_from_msg(message.stamp),
        result,
        diagnosis,
        message.recovery,
        amendments_from_msg(message.amendments),
        message.text,
    )


def causes_to_msg(causes: Iterable[CauseEstimate]) -> list[msg.CauseEstimate]:
    """In their order."""
    return [msg.CauseEstimate(cause=c.cause.value, probability=float(c.probability)) for c in causes]


def event_to_msg(event: WorldEvent) -> msg.WorldEvent:
    """The place is a list of at most one."""
    return msg.WorldEvent(
        header=header(event.stamp, "map"),
        kind=event.kind,
        entity_ids=list(event.entity_ids),
        trace_id=event.trace_id,
        entry=event.entry,
        text=event.text,
        place=[] if event.place is None else [_point(event.place)],
    )


def event_from_msg(message: msg.WorldEvent) -> WorldEvent:
    """Raises BadMessage for a place that is not finite or out of bounds."""
    return WorldEvent(
        stamp_from_msg(message.header.stamp),
        message.kind,
        message.text,
        tuple(int(identity) for identity in message.entity_ids),
        message.trace_id,
        int(message.entry),
        _place(message.place[0]) if message.place else None,
    )


def _state(text: str) -> ConstraintState:
    """Return the constraint state of its text: "AT(entity:12)", "IDLE"."""
    name, _, about = text.partition("(")
    try:
        return ConstraintState(Phase(name), about.removesuffix(")"))
    except ValueError as error:
        raise BadMessage(str(error)) from error


def _point(place: Place) -> Point:
    return Point(x=float(place[0]), y=float(place[1]))


def _place(point: Point) -> Place:
    place = float(point.x), float(point.y)
    if not all(math.isfinite(value) and abs(value) <= MAX_COORDINATE for value in place):
        raise BadMessage(f"({place[0]}, {place[1]}) is no place")
    return place
