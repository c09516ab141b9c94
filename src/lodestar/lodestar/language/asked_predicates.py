"""Separation of the predicates that a question asks about from those that describe its object."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from lodestar.language.items import Item
from lodestar.language.phrase_graphs import graphs_of
from lodestar.language.phrase_meanings import relation_of, with_state
from lodestar.language.phrases import Phrase
from lodestar.language.query_graph import Predicate, QueryGraph
from lodestar.models.lexicon import load_lexicon

_MADE_OF = (("made", "of"), ("made", "from"), ("made", "out", "of"))


def of_the_subject(
    item: Item, asked: tuple[Predicate, ...], words: Sequence[str]
) -> tuple[Item, tuple[Predicate, ...]]:
    """Return (item, asked predicates) with a closing "made of wood" read as the question.

    "Is the box on the desk made of wood" asks whether the box is made of wood, not whether it is on a wooden
    desk. For other sentences both inputs are returned unchanged.
    """
    material, known_as = _made_of(words), load_lexicon().attribute
    if not material or not all(p.name == "InRegion" or len(p.mentioned) > 1 for p in asked):
        return item, asked

    def subject(graph: QueryGraph) -> QueryGraph:
        looks = [p for p in graph.predicates if p.name == "HasAttribute" and p.arguments != (0,)]
        others = [p for p in looks if known_as(p.value) == known_as(material)]
        kept = tuple(p for p in graph.predicates if p not in others[-1:])
        fits = tuple(p for p in asked if all(v < len(graph.variables) for v in p.mentioned))
        return replace(graph, predicates=(*kept, *fits))

    graphs = tuple((subject(graph),) for graph in item.best)
    return replace(item, alternatives=graphs), (Predicate("HasAttribute", (0,), material),)


def _made_of(words: Sequence[str]) -> str:
    """Return the material at the end of a sentence, such as "wood" of "made of wood"; "" if there is none."""
    lexicon = load_lexicon()
    for k in range(len(words) - 2):
        opening = next((one for one in _MADE_OF if tuple(words[k : k + len(one)]) == one), None)
        said = " ".join(words[k + len(opening) :]) if opening else ""
        if said and lexicon.attribute_group.get(lexicon.attribute(said) or "") == "materials":
            return said
    return ""


def asked_predicates(phrase: Phrase, asked: dict[str, Any]) -> tuple[Item, tuple[Predicate, ...]]:
    """Return the phrase as an item, and the predicates about its first variable whose truth is asked for.

    phrase: the question's object. asked: the meaning of the state or relation that is asked for.
    """
    denied = bool(asked.get("negated"))
    if asked.get("said") is not None:
        relation = relation_of(asked["said"])
        grown = phrase.with_relations([replace(relation, negated=relation.negated or denied)])
    else:
        grown = with_state(phrase, asked["state"], denied)
        grown = replace(grown, states=(*grown.states, *((state, False) for state in grown.either)), either=())
    before, after = graphs_of(phrase)[0], graphs_of(grown)[0]
    known = set(before.predicates)
    new = tuple(p for p in after.predicates if p not in known and 0 in p.arguments and p.name != "IsCategory")
    if not any(p.arguments[0] == 0 for p in new) or len(grown.rooms) > len(phrase.rooms):
        scope = grown.rooms[len(phrase.rooms) :]
        new = (*new, *(Predicate("InRegion", (0,), graphs_of(room)[0].target.category) for room in scope))
    kept = tuple(p for p in after.predicates if p not in new)
    variables = (before.variables[0], *after.variables[1:])
    return Item(((QueryGraph(variables, kept),),)), new
