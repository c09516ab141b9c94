"""Objects that serve a need: "where can I sit down" names no object, but is close in meaning to a chair's use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lodestar.language.items import Item, is_open
from lodestar.language.question import QuestionKind
from lodestar.memory.answering.chronicle import sightings_in, thing_of_sightings
from lodestar.memory.answering.config import ANSWERING_MOVED
from lodestar.memory.answering.inquiry import Inquiry
from lodestar.memory.answering.records import Search, Thing
from lodestar.memory.answering.tools import unit_rows
from lodestar.models.lexicon import load_lexicon
from lodestar.scene.captions import clean_text
from lodestar.scene.records import EntityState

# least cosine between a need ("where can I sit") and the name or use of an object that may serve it; chosen
ANSWERING_NEED = 0.3

_SERVING = 2  # most kinds searched for per need


def is_need(inquiry: Inquiry, item: Item | None) -> bool:
    """Return whether a question names a need ("where can I sit down") and no object.

    It then was only partly parsed, or asks where the speaker should go, and names at most "something".
    """
    question = inquiry.question
    if inquiry.shown is not None or not question.text:
        return False
    goes = question.act is not None and question.act.own and not question.past  # "where do I go"
    return (question.is_partial or goes) and (item is None or not item.alternatives or is_open(item))


def names_no_object(item: Item) -> bool:
    """Return whether an item names nothing that the robot can detect as an object: "a coffee", "first aid"."""
    lexicon = load_lexicon()
    kinds = {name for graph in item.best for name in (graph.target.category, graph.target.phrase)}
    return all(lexicon.canonical(kind) is None and lexicon.room(kind) is None for kind in kinds)


def things_for_need(inquiry: Inquiry) -> Search:
    """Return the objects whose name or use is nearest in meaning to the question, best first.

    Their score is `QueryConfig.accept` at the cosine ANSWERING_NEED, and rises with the cosine. Raises
    MissingPhrases.
    """
    things = _every_thing(inquiry)
    if not things:
        return Search()
    asked = unit_rows(inquiry.tools, [clean_text(inquiry.question.text)])[0]
    cosines = _cosines(inquiry, sorted({thing.label for thing in things}), asked)
    best = max(cosines.values())
    if best < ANSWERING_NEED:
        return Search(best_miss=max(0.0, best))
    accept = inquiry.config.query.accept
    chosen = max(cosines, key=lambda label: (cosines[label], label))
    score = min(1.0, accept + (1.0 - accept) * (best - ANSWERING_NEED))
    fitting = [thing for thing in things if thing.label == chosen]
    place = inquiry.place
    fitting.sort(key=lambda t: (-t.last if place is None else t.box.away(place), t.id))
    return Search(tuple(replace(thing, score=score) for thing in fitting))


def serving_kinds(inquiry: Inquiry) -> tuple[str, ...]:
    """Return the kinds of objects that best serve the question's need; () if the question names an object.

    Their use is nearest in meaning to the question. Memories are searched for these kinds, because no caption
    says "something to sit on". Raises MissingPhrases.
    """
    question = inquiry.question
    item = question.item
    if question.kind is not QuestionKind.WHERE or inquiry.shown is not None:
        return ()
    if not is_need(inquiry, item) and (item is None or not item.alternatives or not names_no_object(item)):
        return ()
    asked = unit_rows(inquiry.tools, [clean_text(question.text)])[0]
    cosines = _cosines(inquiry, sorted(load_lexicon().uses), asked)
    ranked = sorted(cosines, key=lambda kind: (-cosines[kind], kind))
    return tuple(kind for kind in ranked[:_SERVING] if cosines[kind] >= ANSWERING_NEED)


def _cosines(inquiry: Inquiry, labels: Sequence[str], asked: np.ndarray) -> dict[str, float]:
    """Return label -> largest cosine of its name or one of its uses with the question's vector `asked`."""
    lexicon = load_lexicon()
    said = {label: (label, *lexicon.uses.get(lexicon.canonical(label) or label, ())) for label in labels}
    phrases = sorted({phrase for own in said.values() for phrase in own})
    values = dict(zip(phrases, (unit_rows(inquiry.tools, phrases) @ asked).tolist()))
    return {label: max(values[phrase] for phrase in own) for label, own in said.items()}


def _every_thing(inquiry: Inquiry) -> list[Thing]:
    structure = load_lexicon().structure
    if inquiry.tools.use_scene:
        entities = inquiry.tools.scene.entities.values()
        present = [e for e in entities if e.state is not EntityState.ARCHIVED]
        found = [Thing.of_entity(e) for e in present if clean_text(e.label)]
    else:
        memories = [piece.hit.memory for piece in inquiry.pieces]
        ids = {inquiry.tools.scene.resolve(i) for memory in memories for i in memory.entity_ids}
        seen = {i: sightings_in(inquiry.tools.scene, memories, {i}) for i in sorted(ids)}
        found = [
            thing_of_sightings(i, sightings, 1.0, ANSWERING_MOVED)
            for i, sightings in seen.items()
            if sightings
        ]
    return [thing for thing in found if thing.label.casefold() not in structure]
