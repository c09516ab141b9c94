"""Query graphs, items, scopes and places: messages there and back."""

from __future__ import annotations

import math
from collections.abc import Callable

from sensor_msgs.msg import CompressedImage

from lodestar.language.items import Item, Pose, Scope
from lodestar.language.query_graph import Predicate, QueryGraph, QueryVariable
from lodestar_interfaces import msg
from lodestar_ros.conversions import BadMessage

#: Reads the words of an item that brings no graphs, after a verb. Raises DirectiveError.
ItemReader = Callable[[str, str], Item]

AVOID, FIND, LIST = "avoid", "find", "list all"  # the verbs of an ItemReader


def unread(text: str, verb: str) -> Item:
    """An item whose words nobody reads."""
    return Item()


# --- query graphs ----------------------------------------------------------------------------------------


def predicate_to_msg(predicate: Predicate) -> msg.Predicate:
    return msg.Predicate(
        name=predicate.name,
        arguments=list(predicate.arguments),
        value=predicate.value,
        negated=predicate.negated,
        weight=float(predicate.weight),
    )


def predicate_from_msg(message: msg.Predicate) -> Predicate:
    """Raises ValueError for an unknown one."""
    return Predicate(message.name, tuple(message.arguments), message.value, message.negated, message.weight)


def graph_to_msg(graph: QueryGraph) -> msg.QueryGraph:
    return msg.QueryGraph(
        variables=[msg.QueryVariable(phrase=v.phrase, category=v.category) for v in graph.variables],
        predicates=[predicate_to_msg(predicate) for predicate in graph.predicates],
        weight=float(graph.weight),
    )


def graph_from_msg(message: msg.QueryGraph) -> QueryGraph:
    """Raises BadMessage for an unknown predicate or one that names no variable."""
    try:
        return QueryGraph(
            tuple(QueryVariable(v.phrase, v.category) for v in message.variables),
            tuple(predicate_from_msg(predicate) for predicate in message.predicates),
            message.weight,
        )
    except ValueError as error:
        raise BadMessage(str(error)) from error


# --- what is talked about ---------------------------------------------------------------------------------


def item_to_msg(item: Item) -> msg.Item:
    return msg.Item(
        text=item.phrase,
        alternatives=[
            msg.Alternative(readings=[graph_to_msg(graph) for graph in readings])
            for readings in item.alternatives
        ],
        excluded=[graph_to_msg(graph) for graph in item.excluded],
        images=[CompressedImage(format="jpeg", data=image) for image in item.images],
        count=int(item.count),
    )


def item_from_msg(message: msg.Item, read: ItemReader = unread, verb: str = FIND) -> Item:
    """read: of its words, where it brings no graphs. Raises BadMessage, ValueError and what `read` raises."""
    alternatives = tuple(
        tuple(graph_from_msg(graph) for graph in alternative.readings) for alternative in message.alternatives
    )
    if not alternatives and message.text.strip():
        alternatives = read(message.text, verb).alternatives
    return Item(
        alternatives,
        tuple(graph_from_msg(graph) for graph in message.excluded),
        tuple(bytes(image.data) for image in message.images),
        message.count,
    )


def scope_to_msg(scope: Scope) -> msg.Scope:
    return msg.Scope(
        rooms=[graph_to_msg(room) for room in scope.rooms],
        on_level=scope.level is not None,
        level=scope.level or 0,
        around=[] if scope.around is None else [graph_to_msg(scope.around)],
        radius=float(scope.radius) if math.isfinite(scope.radius) else 0.0,
    )


def scope_from_msg(message: msg.Scope) -> Scope:
    """Raises BadMessage."""
    return Scope(
        tuple(graph_from_msg(room) for room in message.rooms),
        message.level if message.on_level else None,
        graph_from_msg(message.around[0]) if message.around else None,
        message.radius or math.inf,
    )


def pose_to_msg(pose: Pose) -> msg.PlanarPose:
    heading = math.nan if pose.heading is None else float(pose.heading)
    return msg.PlanarPose(x=float(pose.x), y=float(pose.y), heading=heading, frame=pose.frame)


def pose_from_msg(message: msg.PlanarPose) -> Pose:
    """Raises ValueError for a place that is none."""
    heading = None if math.isnan(message.heading) else message.heading
    return Pose(message.x, message.y, heading, message.frame or "map")
