"""Query graphs and directives: messages there and back."""

from __future__ import annotations

import math
from collections.abc import Callable

from sensor_msgs.msg import CompressedImage

from lodestar.language.directive import (
    CannotObey,
    Constraint,
    ConstraintKind,
    Directive,
    EmptyDirective,
    Item,
    Manner,
    Pose,
    Scope,
    Step,
    StepKind,
)
from lodestar.language.query_graph import Predicate, QueryGraph, QueryVariable
from lodestar_interfaces import msg
from lodestar_ros.conversions import BadMessage

#: Reads the words of an item that brings no graphs, after a verb. Raises DirectiveError.
ItemReader = Callable[[str, str], Item]

_LISTS = (StepKind.LIST, StepKind.COUNT)
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


# --- parts of directives ---------------------------------------------------------------------------------


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


def step_to_msg(step: Step) -> msg.Subtask:
    return msg.Subtask(
        kind=int(step.kind),
        item=[] if step.item is None else [item_to_msg(step.item)],
        pose=[] if step.pose is None else [pose_to_msg(step.pose)],
        stops=[item_to_msg(stop) for stop in step.stops],
        scope=scope_to_msg(step.scope),
        seconds=-1.0 if step.seconds is None else float(step.seconds),
        times=int(step.times),
        asked=[predicate_to_msg(predicate) for predicate in step.asked],
        question=step.question,
        unable=list(step.unable),
    )


def step_from_msg(message: msg.Subtask, read: ItemReader = unread) -> Step:
    """Raises BadMessage, ValueError and what `read` raises."""
    kind = StepKind(message.kind)
    verb = LIST if kind in _LISTS else FIND
    items = [item_from_msg(item, read, verb) for item in message.item]
    if kind in _LISTS and items and not items[0].alternatives and not items[0].images:
        items = []  # everything
    return Step(
        kind,
        items[0] if items else None,
        pose_from_msg(message.pose[0]) if message.pose else None,
        tuple(item_from_msg(stop, read) for stop in message.stops),
        scope_from_msg(message.scope),
        message.seconds if message.seconds >= 0.0 else None,
        message.times,
        tuple(predicate_from_msg(predicate) for predicate in message.asked),
        message.question,
        tuple(message.unable),
    )


def constraint_to_msg(constraint: Constraint) -> msg.Constraint:
    return msg.Constraint(
        kind=int(constraint.kind),
        item=item_to_msg(constraint.item),
        distance=float(constraint.distance or 0.0),
        until=-1 if constraint.until is None else int(constraint.until),
    )


def constraint_from_msg(message: msg.Constraint, read: ItemReader = unread) -> Constraint:
    """Raises BadMessage, ValueError and what `read` raises."""
    return Constraint(
        ConstraintKind(message.kind),
        item_from_msg(message.item, read, AVOID),
        message.distance or None,
        message.until if message.until >= 0 else None,
    )


# --- directives ------------------------------------------------------------------------------------------


def directive_to_msg(directive: Directive) -> msg.Directive:
    return msg.Directive(
        text=directive.text,
        subtasks=[step_to_msg(step) for step in directive.steps],
        constraints=[constraint_to_msg(constraint) for constraint in directive.constraints],
        manners=[msg.Manner(kind=manner.kind, said=manner.said) for manner in directive.manners],
        times=int(directive.times),
    )


def directive_from_msg(message: msg.Directive, read: ItemReader = unread) -> Directive:
    """read: reads the words of items that bring no graphs. Raises BadMessage and what `read` raises."""
    try:
        return Directive(
            message.text,
            tuple(step_from_msg(step, read) for step in message.subtasks),
            tuple(constraint_from_msg(constraint, read) for constraint in message.constraints),
            tuple(Manner(manner.kind, manner.said) for manner in message.manners),
            message.times,
        )
    except (BadMessage, EmptyDirective, CannotObey):
        raise
    except (ValueError, OverflowError) as error:
        raise BadMessage(str(error)) from error
