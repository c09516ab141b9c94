"""Explain an entity's score to a person."""

from __future__ import annotations

from collections.abc import Mapping

from lodestar.language.query_graph import QueryGraph
from lodestar.models.english import with_article
from lodestar.query.config import QueryConfig
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
    """Return one line such as "red office chair: a chair, red, not next to the desk"."""
    category_name = graph.target.category
    kind = with_article(category_name)
    if category >= config.accept:
        parts = [f"is {kind}"]
    elif category >= 0.3:
        parts = [f"may be {kind}"]
    else:
        parts = [f"is hardly {kind}"]
    for name, score in predicates.items():
        parts.append(_predicate(name, score, config))
    if entity.state == EntityState.UNCERTAIN:
        parts.append("may be gone")
    return f"{entity.caption or entity.label or 'unnamed thing'}: {', '.join(parts)}"


def _predicate(name: str, score: float, config: QueryConfig) -> str:
    relation, _, rest = name.partition(" ")
    if relation == "not":
        relation, _, rest = rest.partition(" ")
        score = 1.0 - score
    words = _WORDS.get(relation.rstrip("^"))
    if words is None:
        text = f"{relation} {rest}".strip()
    elif relation.endswith("^"):
        text = f"with {rest} {words} it"
    elif not rest:
        text = words.removesuffix(" to").removesuffix(" from")
    else:
        text = f"{words} {rest}"
    if score >= _CLEAR:
        return text
    if score >= _LIKELY:
        return f"probably {text}"
    if not words and abs(score - config.unknown_attribute) < 1e-6:
        return f"not known to be {text}"
    return f"not {text}"
