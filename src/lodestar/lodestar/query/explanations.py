"""Explanations of an entity's score for a person."""

from __future__ import annotations

from collections.abc import Mapping

from lodestar.language.query_graph import QueryGraph
from lodestar.models.english import the, with_article
from lodestar.query.config import QUERY_UNKNOWN_ATTRIBUTE, QueryConfig
from lodestar.scene.records import Entity, EntityState

_CLEAR, _LIKELY = 0.8, 0.55
_WORDS = {
    "NextTo": "next to", "Near": "near", "On": "on", "Above": "above", "Below": "below", "Inside": "inside",
    "Between": "between", "InRegion": "in", "LeftOf": "left of", "RightOf": "right of",
    "InFrontOf": "in front of", "Behind": "behind", "Opposite": "opposite",
    "Closest": "the closest to", "Farthest": "the farthest from",
}  # fmt: skip


def explain(
    entity: Entity, graph: QueryGraph, category: float, predicates: Mapping[str, float], config: QueryConfig
) -> str:
    """Return one line such as "red office chair: is a chair, red, not next to a desk"."""
    category_name = graph.target.category
    kind = with_article(category_name)
    if category >= config.accept:
        parts = [f"is {kind}"]
    elif category >= 0.3:
        parts = [f"may be {kind}"]
    else:
        parts = [f"is hardly {kind}"]
    for name, score in predicates.items():
        parts.append(_predicate(name, score))
    if entity.state == EntityState.UNCERTAIN:
        parts.append("may be gone")
    return f"{entity.caption or entity.label or 'unnamed thing'}: {', '.join(parts)}"


def reasons(predicates: Mapping[str, float]) -> tuple[list[str], list[str]]:
    """Return the predicates that hold for an object, and those that do not, as words after "it is".

    Examples are "red" and "not next to a sofa". predicates: scores in [0, 1] by name, as in
    `Candidate.predicate_scores`.
    """
    met: list[str] = []
    unmet: list[str] = []
    for name, score in predicates.items():
        (met if score >= _LIKELY else unmet).append(_predicate(name, score))
    return met, unmet


def _predicate(name: str, score: float) -> str:
    relation, _, rest = name.partition(" ")
    if relation == "not":
        relation, _, rest = rest.partition(" ")
        score = 1.0 - score
    words = _WORDS.get(relation.rstrip("^"))
    if words is None:
        text = f"{relation} {rest}".strip()
    elif relation == "InRegion":
        text = f"in {the(rest)}"
    elif not rest:
        text = words.removesuffix(" to").removesuffix(" from")
    elif relation.endswith("^"):
        text = f"with {_things(rest)} {words} it"
    else:
        text = f"{words} {_things(rest)}"
    if score >= _CLEAR:
        return text
    if score >= _LIKELY:
        return f"probably {text}"
    if not words and abs(score - QUERY_UNKNOWN_ATTRIBUTE) < 1e-6:
        return f"not known to be {text}"
    return f"not {text}"


def _things(names: str) -> str:
    """Return names of objects with their articles: "a desk and two chairs" of "desk and two chairs"."""
    return " and ".join(_thing(name) for name in names.split(" and "))


def _thing(name: str) -> str:
    return name if name.split(" ", 1)[0] in ("number", "two") else with_article(name)
