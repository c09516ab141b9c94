"""Items of a question as the map's rooms and readings make them: rooms as scopes, one reading at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from lodestar.language.items import Item
from lodestar.language.query_graph import QueryGraph
from lodestar.memory.answering.inquiry import Inquiry
from lodestar.scene.regions import is_called

_HOLDS = ("Inside", "InRegion", "On")  # what the open plan has is in it
_HAS = "NextTo"  # "the desk with the lamp", "does the desk have a lamp"
_ROBOT = frozenset({"you", "robot", "here", "me", "us"})


def seen_from_here(item: Item) -> Item:
    """Return the item with "nearest to you" as the nearest to the robot."""
    return _each(item, _without_robot)


def rooms_apart(inquiry: Inquiry, item: Item) -> tuple[Item, tuple[str, ...]]:
    """Return the item without what only says in which room it is, and the names of these rooms.

    Only the map tells that "the open plan" is a room. One that is said of each alternative counts.
    """
    names: list[str] = []
    for readings in item.alternatives:
        for graph in readings:
            room = _room_of(inquiry, graph)
            if room is None:
                return item, ()
            names.append(graph.variables[room].phrase)

    def plain(graph: QueryGraph) -> QueryGraph:
        room = _room_of(inquiry, graph)
        return graph if room is None else without_variable(graph, room)

    return _each(item, plain), tuple(dict.fromkeys(names))


def held_by_rooms(inquiry: Inquiry, item: Item) -> Item:
    """Return "the open plan with a mug", which asks whether it has one, as the mug inside the open plan."""
    return _each(item, lambda graph: _held_by_room(inquiry, graph))


def readings_apart(item: Item) -> Iterator[Item]:
    """Yield the item with one reading of each alternative, the likeliest first; none where there is only one."""
    most = max((len(readings) for readings in item.alternatives), default=1)
    for k in range(most if most > 1 else 0):
        chosen = (readings[min(k, len(readings) - 1)] for readings in item.alternatives)
        yield replace(item, alternatives=tuple((replace(graph, weight=1.0),) for graph in chosen))


def without_variable(graph: QueryGraph, index: int) -> QueryGraph:
    """Return the graph without a variable and what is said of it."""
    number = {old: new for new, old in enumerate(k for k in range(len(graph.variables)) if k != index)}
    kept = tuple(
        replace(p, arguments=tuple(number[v] for v in p.arguments))
        for p in graph.predicates
        if index not in p.mentioned
    )
    return QueryGraph(tuple(graph.variables[k] for k in number), kept, graph.weight)


def _room_of(inquiry: Inquiry, graph: QueryGraph) -> int | None:
    """Return the variable that names a region of the map and holds the target, and nothing else is said of it."""
    for predicate in graph.predicates:
        if predicate.name not in _HOLDS or predicate.negated or len(predicate.arguments) != 2:
            continue
        index = predicate.arguments[1]
        used = [p for p in graph.predicates if index in p.mentioned and p.mentioned != (index,)]
        if (
            predicate.arguments[0] == 0
            and len(used) == 1
            and _is_room(inquiry, graph.variables[index].phrase)
        ):
            return index
    return None


def _held_by_room(inquiry: Inquiry, graph: QueryGraph) -> QueryGraph:
    if len(graph.variables) < 2 or not _is_room(inquiry, graph.variables[0].phrase):
        return graph
    for k, predicate in enumerate(graph.predicates):
        if predicate.name != _HAS or predicate.negated or len(predicate.arguments) != 2:
            continue
        if predicate.arguments[1] == 0:
            inside = replace(predicate, name=_HOLDS[0])
            said = tuple(inside if n == k else p for n, p in enumerate(graph.predicates))
            return _with_target(replace(graph, predicates=said), predicate.arguments[0])
    return graph


def _with_target(graph: QueryGraph, target: int) -> QueryGraph:
    """Return the graph with this variable first."""
    order = [target, *(k for k in range(len(graph.variables)) if k != target)]
    number = {old: new for new, old in enumerate(order)}
    said = tuple(replace(p, arguments=tuple(number[v] for v in p.arguments)) for p in graph.predicates)
    return QueryGraph(tuple(graph.variables[k] for k in order), said, graph.weight)


def _is_room(inquiry: Inquiry, phrase: str) -> bool:
    return any(is_called(region, (phrase,)) for region in inquiry.tools.scene.regions.values())


def _each(item: Item, change: Callable[[QueryGraph], QueryGraph]) -> Item:
    return replace(
        item, alternatives=tuple(tuple(change(graph) for graph in readings) for readings in item.alternatives)
    )


def _without_robot(graph: QueryGraph) -> QueryGraph:
    last = len(graph.variables) - 1
    if last < 1 or graph.variables[last].phrase not in _ROBOT:
        return graph
    kept = tuple(
        replace(p, arguments=p.arguments[:1])
        if p.name in ("Closest", "Farthest") and last in p.arguments
        else p
        for p in graph.predicates
        if last not in p.mentioned or p.name in ("Closest", "Farthest")
    )
    return QueryGraph(graph.variables[:last], kept, graph.weight)
