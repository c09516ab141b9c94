"""Items with and without the predicates that a question asks about: "is the red mug empty" asks whether the
red mug is empty.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lodestar.language.items import Item
from lodestar.language.query_graph import Predicate, QueryGraph


def with_asked(item: Item, asked: Sequence[Predicate]) -> Item:
    """Return the item with each asked predicate added to the readings that have its variables."""
    return Item(
        tuple(
            tuple(
                replace(graph, predicates=(*graph.predicates, *_fitting(graph, asked))) for graph in readings
            )
            for readings in item.alternatives
        ),
        item.excluded,
        count=item.count,
    )


def plain_item(item: Item) -> Item:
    """Return the item; from the end of each graph, variables that no predicate mentions are removed."""
    kept = []
    for readings in item.alternatives:
        graphs = []
        for graph in readings:
            used = {0, *(v for p in graph.predicates for v in p.mentioned)}
            last = max(used)
            graphs.append(QueryGraph(graph.variables[: last + 1], graph.predicates, graph.weight))
        kept.append(tuple(graphs))
    return replace(item, alternatives=tuple(kept))


def _fitting(graph: QueryGraph, asked: Sequence[Predicate]) -> tuple[Predicate, ...]:
    count = len(graph.variables)
    return tuple(p for p in asked if all(v < count for v in p.mentioned) and p not in graph.predicates)
