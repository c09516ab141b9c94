"""Conversion of query graphs, items, questions and directives to and from messages.

The context of these codecs is an `ItemReader`, which parses items that have text but no graphs; None = such items
stay without graphs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from sensor_msgs.msg import CompressedImage

from lodestar.language.directive import Constraint, Directive, Manner, Step, StepKind
from lodestar.language.items import Item, Pose, Scope
from lodestar.language.query_graph import Predicate, QueryGraph, QueryVariable
from lodestar.language.question import Question
from lodestar.language.time_windows import Act, Event, TimeBasis, TimePoint, TimeWindow
from lodestar_interfaces import msg
from lodestar_ros.codec import codec, convert_values

#: Function (text, verb) that parses the text of an item without graphs. Raises DirectiveError.
ItemReader = Callable[[str, str], Item]

AVOID, FIND, LIST = "avoid", "find", "list all"  # the verbs of an ItemReader
_LISTS = (StepKind.LIST, StepKind.COUNT)


# --- items -------------------------------------------------------------------------------------------------

codec(QueryVariable, msg.QueryVariable)
codec(Predicate, msg.Predicate)
graph_to_msg, graph_from_msg = codec(QueryGraph, msg.QueryGraph)


def _alternatives_to_msg(item: Item, _: Any) -> list[msg.Alternative]:
    return [msg.Alternative(readings=[graph_to_msg(graph) for graph in one]) for one in item.alternatives]


def _alternatives_from_msg(message: msg.Item, read: ItemReader | None) -> tuple[tuple[QueryGraph, ...], ...]:
    if not message.alternatives and message.text.strip() and read is not None:
        return read(message.text, FIND).alternatives
    return tuple(tuple(graph_from_msg(graph) for graph in one.readings) for one in message.alternatives)


def _after(verb: str, read: ItemReader | None) -> ItemReader | None:
    return None if read is None else lambda text, _: read(text, verb)


convert_values(
    bytes,
    "sensor_msgs/CompressedImage",
    lambda image: CompressedImage(format="jpeg", data=image),
    lambda message: bytes(message.data),
)
item_to_msg, item_from_msg = codec(
    Item,
    msg.Item,
    to={"text": lambda item, _: item.phrase, "alternatives": _alternatives_to_msg},
    of={"alternatives": _alternatives_from_msg},
)
codec(
    Scope,
    msg.Scope,
    to={
        "on_level": lambda scope, _: scope.level is not None,
        "level": lambda scope, _: scope.level or 0,
        "radius": lambda scope, _: float(scope.radius) if math.isfinite(scope.radius) else 0.0,
    },
    of={
        "level": lambda message, _: message.level if message.on_level else None,
        "radius": lambda message, _: message.radius or math.inf,
    },
)
codec(Pose, msg.PlanarPose, of={"frame": lambda message, _: message.frame or "map"})


# --- questions ---------------------------------------------------------------------------------------------


def _act(message: Any, _: Any = None) -> Act | None:
    return Act(message.act, message.own) if message.act else None


def _event_item(point: TimePoint, _: Any) -> list[msg.Item]:
    item = None if point.event is None else point.event.item
    return [] if item is None else [item_to_msg(item)]


def _event(message: msg.TimePoint, read: ItemReader | None) -> Event | None:
    if message.basis != TimeBasis.EVENT:
        return None
    return Event(_act(message), item_from_msg(message.item[0], read) if message.item else None)


def _act_of(record: TimePoint | Question) -> Act | None:
    if isinstance(record, TimePoint):
        return None if record.event is None else record.event.act
    return record.act


_ACT: dict[str, Any] = {
    "act": lambda record, _: "" if (act := _act_of(record)) is None else act.verb,
    "own": lambda record, _: (act := _act_of(record)) is None or act.own,
}
codec(TimePoint, msg.TimePoint, to={**_ACT, "item": _event_item}, of={"event": _event})
codec(TimeWindow, msg.TimeWindow)
question_to_msg, question_from_msg = codec(Question, msg.MemoryQuestion, to=_ACT, of={"act": _act})


# --- directives --------------------------------------------------------------------------------------------


def _step_item(message: msg.Subtask, read: ItemReader | None) -> Item | None:
    lists = message.kind in _LISTS
    if not message.item:
        return None
    item = item_from_msg(message.item[0], _after(LIST if lists else FIND, read))
    everything = lists and not (item.alternatives or item.excluded or item.images)
    return None if everything else item


codec(
    Step,
    msg.Subtask,
    to={"seconds": lambda step, _: -1.0 if step.seconds is None else float(step.seconds)},
    of={
        "item": _step_item,
        "seconds": lambda message, _: message.seconds if message.seconds >= 0.0 else None,
    },
)
constraint_to_msg, constraint_from_msg = codec(
    Constraint,
    msg.Constraint,
    to={
        "distance": lambda constraint, _: float(constraint.distance or 0.0),
        "until": lambda constraint, _: -1 if constraint.until is None else int(constraint.until),
    },
    of={
        "item": lambda message, read: item_from_msg(message.item, _after(AVOID, read)),
        "distance": lambda message, _: message.distance or None,
        "until": lambda message, _: message.until if message.until >= 0 else None,
    },
)
codec(Manner, msg.Manner)
directive_to_msg, directive_from_msg = codec(Directive, msg.Directive, names={"steps": "subtasks"})
