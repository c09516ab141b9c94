"""Predicates whose truth a question asks about a thing, told apart from the thing itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lodestar.language.items import Item
from lodestar.language.phrase_graphs import graphs_of
from lodestar.language.phrase_meanings import relation_of, with_state
from lodestar.language.phrases import Phrase
from lodestar.language.query_graph import Predicate, QueryGraph


def asked_predicates(phrase: Phrase, asked: dict[str, Any]) -> tuple[Item, tuple[Predicate, ...]]:
    """The item with what is asked about its first variable."""
    denied = bool(asked.get("negated"))
    if asked.get("said") is not None:
        relation = relation_of(asked["said"])
        grown = phrase.with_relations([replace(relation, negated=relation.negated or denied)])
    else:
        grown = with_state(phrase, asked["state"], denied)
        grown = replace(grown, states=(*grown.states, *((state, False) for state in grown.either)), either=())
    before, after = graphs_of(phrase)[0], graphs_of(grown)[0]
    known = set(before.predicates)
    own = {
        v
        for p in after.predicates
        if p not in known and p.name != "IsCategory" and p.arguments[0] == 0
        for v in (0,)
    }
    new = tuple(p for p in after.predicates if p not in known and 0 in p.arguments and p.name != "IsCategory")
    if not own or len(grown.rooms) > len(phrase.rooms):
        scope = grown.rooms[len(phrase.rooms) :]
        new = (*new, *(Predicate("InRegion", (0,), graphs_of(room)[0].target.category) for room in scope))
    kept = tuple(p for p in after.predicates if p not in new)
    variables = (before.variables[0], *after.variables[1:])
    return Item(((QueryGraph(variables, kept),),)), new
