"""Tests of the evidence for questions that name a room or a need."""

from __future__ import annotations

import memory_builders as build
import numpy as np
import pytest

from lodestar.language.question_reader import read_question
from lodestar.memory.answering.evidence_scope import EvidenceScope


def _inquiry(office, text, **changes):
    return office.answerer(**changes).inquiry(read_question(text), office.now, office.pose)


def _rooms_of(office, memories):
    return {int(office.scene.region_at(memory.position)) for memory in memories}


@pytest.mark.parametrize("text", ["where is the hallway?", "when were you last in the hallway?"])
def test_a_question_for_a_room_is_answered_from_what_was_remembered_in_it(office, text):
    """No caption in the hallway is nearest in meaning; the answer comes from the plant in it."""
    inquiry = _inquiry(office, text, use_scene=False)
    found = [piece.hit.memory for piece in inquiry.pieces]
    assert found and _rooms_of(office, found) == {int(office.scene.region_at(np.array([4.5, 6.0, 0.0])))}


def test_things_in_another_room_are_no_evidence_for_this_one(office):
    """Chairs stand in both rooms; the question is about those in the office."""
    kitchen = {6}
    for piece in _inquiry(office, "how many chairs are there in the office?", use_scene=False).pieces:
        assert kitchen.isdisjoint(p.entity_id for p in piece.primitives)
    pieces = _inquiry(office, "how many chairs are there?", use_scene=False).pieces
    assert any(kitchen & {p.entity_id for p in piece.primitives} for piece in pieces)


def test_the_memories_of_the_evidence_stay_whole(office):
    """An object beyond the room still counts as a neighbour of one in it."""
    whole = {hit.memory.id: hit.memory for hit in _inquiry(office, "where is the desk?").hits}
    for piece in _inquiry(office, "where is the red mug in the office?").pieces:
        assert piece.hit.memory.entity_ids == whole[piece.hit.memory.id].entity_ids


@pytest.mark.parametrize("text", ["where is the red mug?", "where is the mug in the sauna?"])
def test_without_a_room_that_the_map_knows_everything_counts(office, text):
    assert _inquiry(office, text).scope is None


def test_a_room_of_which_nothing_is_remembered_leaves_the_evidence_as_it_was(office):
    kitchen = int(office.scene.region_at(np.array([2.0, 2.0, 0.0])))
    away = build.memory(
        1, "a chair", things=[build.primitive(4, "chair", (6.0, 2.5, 0.4))], position=np.ones(3) * 6
    )
    hits = build.hits_of([away], "chair")
    for visits in (True, False):
        assert EvidenceScope(frozenset({kitchen}), visits, office.scene).within(hits) == hits


def test_a_primitive_without_a_place_is_in_no_room(office):
    kitchen = int(office.scene.region_at(np.array([2.0, 2.0, 0.0])))
    lost = build.primitive(9, "chair", (np.nan, 0.0, 0.0))
    here = build.primitive(6, "chair", (1.0, 3.0, 0.4))
    (hit,) = EvidenceScope(frozenset({kitchen}), False, office.scene).within(
        build.hits_of([build.memory(1, "two chairs", things=[lost, here])], "chair")
    )
    assert [p.entity_id for p in hit.memory.primitives] == [6]


def test_a_need_is_searched_by_what_serves_it(office):
    """The embedder compares words, and "sit down" is a use of a chair."""
    cues = _inquiry(office, "where can I sit down and rest?").cues
    assert {"chair", "bench", "sofa"} & set(cues)
    assert _inquiry(office, "where is the red mug?").serving == ()
    assert _inquiry(office, "when did you last see the red mug?").serving == ()
