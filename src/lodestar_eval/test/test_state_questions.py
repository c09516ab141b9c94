"""Tests of spatial questions about a changed building: answers are current, and a yes shows the object."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from small_building import BIN, CART, small_world

from lodestar.scene.records import Entity
from lodestar_eval import state_tracking
from lodestar_eval.phrase_book import phrase_book
from lodestar_eval.state_questions import COUNTS, SpatialQuestion, answer, questions_of
from lodestar_sim.worlds import world_from_spec


def belief(world, thing):
    low, high = world.box(thing)
    return Entity(
        100 + thing.id, thing.category, thing.caption, (low + high) / 2.0, np.eye(3) * 0.01, low, high
    )


@pytest.fixture(scope="module")
def worlds():
    """Return the worlds before and after: the bin is removed and the suitcase stands elsewhere."""
    before = small_world()
    there = replace(before.object(CART), pose=(6.2, 0.6, 0.0, 0.0))
    others = (t for t in before.objects if t.id not in (BIN, CART))
    return before, replace(before, objects=(*others, there))


@pytest.fixture(scope="module")
def questions(worlds):
    return questions_of(*worlds, seed=1)


def kind(world, identity):
    return world.object(identity).category


def test_what_is_gone_is_asked_about_and_the_answer_is_no(worlds, questions):
    asked = next(q for q in questions if q.text == f"the {kind(worlds[0], BIN)}")
    assert asked.targets == () and asked.changed


def test_what_stands_elsewhere_counts_as_changed_and_what_stays_does_not(worlds, questions):
    moved = next(q for q in questions if q.text == f"the {kind(worlds[1], CART)}")
    assert moved.targets == (CART,) and moved.changed
    assert any(q.targets and not q.changed for q in questions)


def test_kinds_that_were_never_there_are_asked_about(worlds, questions):
    known = {t.category for world in worlds for t in world.objects}
    absent = [q for q in questions if not q.targets and not q.changed]
    assert absent and all(q.text.removeprefix("the ") not in known for q in absent)


def test_no_difficulty_has_more_questions_than_it_may(questions):
    for name, most in COUNTS.items():
        assert sum(q.difficulty == name for q in questions) <= most
    assert len({q.text for q in questions}) == len(questions)


def test_the_same_seed_gives_the_same_questions(worlds, questions):
    assert questions_of(*worlds, seed=1) == questions


def test_one_who_believes_the_truth_answers_what_is_there_and_what_is_not(worlds, questions):
    now, book = worlds[1], phrase_book()
    held = [belief(now, thing) for thing in now.objects]
    plain = [q for q in questions if q.difficulty == "recognition"]
    right = [state_tracking._is_answered(q, held, now, book) for q in plain]
    assert np.mean(right) >= 0.9
    assert answer(SpatialQuestion("the forklift", "recognition", (), False), held, book) is None


def test_one_who_believes_the_past_is_wrong_about_what_changed(worlds, questions):
    (before, now), book = worlds, phrase_book()
    held = [belief(before, thing) for thing in before.objects]
    changed = [q for q in questions if q.changed and q.difficulty == "recognition"]
    assert changed and not any(state_tracking._is_answered(q, held, now, book) for q in changed)


def test_every_difficulty_is_asked_about_a_furnished_building():
    world = world_from_spec("apartment", 711)
    asked = questions_of(world, world, seed=1)
    assert {q.difficulty for q in asked} == set(COUNTS) and not any(q.changed for q in asked)
    false = [q for q in asked if not q.targets and q.difficulty != "recognition"]
    assert not false, "in a building that did not change, every sentence is still true"
