"""Things that a question presupposes to have changed: what was moved, what came, what is gone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from lodestar.language.items import Item
from lodestar.language.query_graph import QueryGraph
from lodestar.memory.answering.histories import History, changes_of, history_of
from lodestar.memory.answering.inquiry import Inquiry
from lodestar.memory.answering.item_search import Search
from lodestar.memory.answering.places_before import find_ever
from lodestar.memory.answering.things import Thing
from lodestar.memory.records import EventKind

_NEW = ("new", "newly arrived")  # said of a thing that came; no thing looks new
_CLOSE = 8  # things that fit, of which the changed one is looked for


def find_changed(inquiry: Inquiry, item: Item, kind: EventKind) -> Search:
    """Return the things that an item means, those first that changed in this way: the question says that one did.

    A description may be true of the place before the change only: "the chair by the window" that was carried away.
    Raises MissingPhrases.
    """
    search = find_ever(inquiry, item)
    if not inquiry.tools.use_scene:
        return search
    if kind is EventKind.APPEARED:
        return _first(search, lambda thing: _arrival(inquiry, thing))
    return _first(search, lambda thing: _change(history_of(inquiry, thing), kind))


def without_new(item: Item) -> tuple[Item, bool]:
    """Return the item without the word for a thing that came, and whether it had one."""
    kept = tuple(tuple(_plain(graph) for graph in readings) for readings in item.alternatives)
    plain = replace(item, alternatives=kept)
    return plain, plain != item


def _plain(graph: QueryGraph) -> QueryGraph:
    said = tuple(
        p for p in graph.predicates
        if not (p.name == "HasAttribute" and p.arguments == (0,) and p.value in _NEW)
    )  # fmt: skip
    if said == graph.predicates:
        return graph
    target = graph.target
    words = " ".join(word for word in target.phrase.split() if word not in _NEW)
    plain = replace(target, phrase=words or target.phrase)
    return replace(graph, variables=(plain, *graph.variables[1:]), predicates=said)


def _first(search: Search, worth: Callable[[Thing], float]) -> Search:
    """Return the search with the things of the most worth first; their order stays among equals."""
    front = search.things[:_CLOSE]
    values = [worth(thing) for thing in front]
    order = sorted(range(len(front)), key=lambda k: -values[k])
    return replace(search, things=(*(front[k] for k in order), *search.things[_CLOSE:]))


def _arrival(inquiry: Inquiry, thing: Thing) -> float:
    """Return how surely a thing came while the robot was about: 1 by an event, below it the later it was first seen."""
    events = changes_of(inquiry, inquiry.tools.scene.merged_into(thing.id))
    if any(memory.event is EventKind.APPEARED for memory in events):
        return 1.0
    entity = thing.entity
    first = thing.first if entity is None else entity.first_seen
    return 0.0 if thing.is_gone else 0.5 * float(np.clip(first / max(inquiry.now, 1e-6), 0.0, 1.0))


def _change(history: History, kind: EventKind) -> float:
    """Return how surely a thing changed: 1 by an event, 0.5 by its places, 0.25 in another way of that name, else 0."""
    if any(memory.event is kind for memory in history.changes):
        return 1.0
    if history.span_of_change(kind) is not None:
        return 0.5
    return 0.0 if history.noticed_as(kind) is None else 0.25
