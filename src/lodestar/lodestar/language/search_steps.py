"""Conversion of clauses that find, handle or carry objects, and of clauses without a verb, into steps."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lodestar.language.clauses import Clause
from lodestar.language.directive import Item, Step, StepKind
from lodestar.language.directive_draft import Draft
from lodestar.language.phrase_graphs import SPOT, generic, graphs_of
from lodestar.language.phrase_items import item_of, scope_of
from lodestar.language.phrase_meanings import relation_of
from lodestar.language.phrases import Phrase, Relation, Things
from lodestar.language.travel_steps import each_step, places, spots
from lodestar.language.vocabulary import load_vocabulary
from lodestar.models.wordnet import load_wordnet

# WordNet nouns of objects that serve as landmarks
_LANDMARKS = ("furniture", "structure", "plant", "keyboard instrument", "white goods")


def found_steps(draft: Draft, kind: str, meaning: dict[str, Any], clause: Clause) -> list[Step]:
    """Return the steps of a clause that finds, handles or carries objects; acts the robot cannot do become
    `unable`.
    """
    things = draft.things(meaning["thing"], meaning.get("where"))
    if meaning.get("inside") is not None:
        container = draft.things(meaning["inside"]).phrases[0]
        named = Relation("Inside" if container.is_place else "On", (container,))
        if not container.is_whole:
            things = replace(things, phrases=tuple(p.with_relations([named]) for p in things.phrases))
        draft.named = things.phrases[0]
    if kind != "find" and load_vocabulary().is_in("WAYS", things.phrases[0].head):
        return _by_way(draft, things.phrases[0], meaning, clause)
    if kind == "handle" and clause.words[0] == "pass" and all(map(_is_landmark, things.phrases)):
        draft.route.append(clause.text)
        draft.passed.append(things)
        return []
    if kind == "handle" and all(load_vocabulary().is_in("ABSTRACT", p.head) for p in things.phrases):
        draft.unable.append(meaning["unable"])
        return []
    unable = (meaning["unable"],) if kind in ("handle", "carry") else ()
    steps = each_step(draft, things, unable)
    if kind == "carry":
        carried = draft.named
        place = (
            places(draft, draft.things(meaning["place"]))
            if "place" in meaning
            else _put(draft, meaning["at"])
        )
        draft.named = carried
        steps = [*steps, *place] if not steps or place else steps
    return steps


def _is_landmark(phrase: Phrase) -> bool:
    """Return whether to "pass" this object means to go past it, and not to hand it over.

    "Pass the sofa" names a landmark, "pass the salt" does not.
    """
    wordnet = load_wordnet()
    return phrase.is_place or any(wordnet.is_a(phrase.head, kind) for kind in _LANDMARKS)


def _by_way(draft: Draft, way: Phrase, meaning: dict[str, Any], clause: Clause) -> list[Step]:
    """Return the steps of "take the path between the sofa and the table to the door": the path, then the
    door.
    """
    steps = []
    draft.passed.append(Things((way,)))
    if way.relations:
        steps.append(Step(StepKind.GO, Item((graphs_of(replace(generic(SPOT), relations=way.relations)),))))
    if meaning.get("place") is not None:
        steps += places(draft, draft.things(meaning["place"]))
    if not steps:
        draft.route.append(clause.text)
    return steps


def looked_at(draft: Draft, meaning: dict[str, Any]) -> list[Step]:
    """Return steps to the objects to look at.

    They are stored for the next clause: if it is a question that names no place, it is about them.
    """
    relation = relation_of(meaning["at"])
    relation = replace(relation, anchors=tuple(draft.resolved(a) for a in relation.anchors))
    steps = places(draft, Things(relation.anchors)) if relation.anchors else []
    if steps:
        draft.named = relation.anchors[-1]
        draft.looked = (relation, len(draft.groups))
    return steps


def _put(draft: Draft, at: Any) -> list[Step]:
    """Return steps to the place of the relation `at` where an object is put down: "on the table"."""
    anchors = tuple(draft.resolved(a) for a in relation_of(at).anchors)
    return places(draft, Things(anchors)) if anchors and not any(a.pronoun for a in anchors) else []


def fragment(draft: Draft, kind: str, meaning: dict[str, Any], clause: Clause) -> list[Step]:
    """Return the steps of a clause without a verb: an object, a room, or a further item to count or list."""
    last = draft.steps[-1] if draft.steps else None
    if kind == "place":
        return spots(draft, [meaning["at"]])
    things = draft.things(meaning["thing"], meaning.get("where"))
    if last is not None and last.kind in (StepKind.COUNT, StepKind.LIST):
        return [replace(last, item=item_of(things, every=True), scope=scope_of(things.phrases[0]))]
    return (
        places(draft, things)
        if last is not None or things.phrases[0].is_place
        else each_step(draft, things, ())
    )
