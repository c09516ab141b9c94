"""Tests that a loaded entity is archived once if its object was seen elsewhere since; all others stay."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "scene"))
from scene_builders import sighting
from session_builders import loaded, thing, yesterday

from lodestar.assembly.config import SceneDictionaryConfig
from lodestar.assembly.scene_chain import SceneChain
from lodestar.assembly.shared import SharedConfig
from lodestar.models.phrases import PhraseBook
from lodestar.scene.amendments import Edit, EntityEdit
from lodestar.scene.moved_things import MovedThings
from lodestar.scene.records import EntityState

MUG, BOOK, NEW_MUG = 1, 4, 20


@pytest.fixture
def day():
    """Return today's scene and its feed: a mug stands elsewhere under a new id; its old place was not looked at."""
    scene, news = loaded(yesterday())
    news(updated=(thing(BOOK, count=8, stamp=5.0),))
    news(updated=(thing(NEW_MUG, (4.0, 4.0, 0.9), label="mug", stamp=6.0),))
    return scene, news


def states(scene):
    return {identity: entity.state for identity, entity in scene.entities().items()}


def test_yesterdays_place_is_given_up_and_the_delta_says_so(day):
    scene, moved = day[0], MovedThings(day[0])
    before = states(scene)
    deltas = moved.archive(moved.find())
    assert [[e.id for e in delta.updated if e.state is EntityState.ARCHIVED] for delta in deltas] == [[MUG]]
    assert states(scene) == before | {MUG: EntityState.ARCHIVED}


def test_a_scene_that_has_not_changed_is_not_compared_again(day):
    moved = MovedThings(day[0])
    assert moved.find().ids == (MUG,)
    assert moved.find().ids == ()


def test_nothing_is_archived_without_a_loaded_map():
    scene = yesterday()
    assert MovedThings(scene).find().ids == ()


def test_a_thing_that_is_seen_in_both_places_stays(day):
    scene, news = day
    news(updated=(thing(MUG, count=9, stamp=7.0),), observations=(sighting(MUG, 7.0, label="mug"),))
    assert MovedThings(scene).find().ids == ()


def test_one_that_is_seen_between_comparison_and_archiving_stays(day):
    scene, news = day
    moved = MovedThings(scene)
    found = moved.find()
    news(updated=(thing(MUG, count=9, stamp=7.0),), observations=(sighting(MUG, 7.0, label="mug"),))
    assert moved.archive(found) == []
    assert states(scene)[MUG] is EntityState.ACTIVE


def test_an_operators_word_that_it_is_there_is_not_overruled(day):
    scene, news = day
    moved = MovedThings(scene)
    moved.archive(moved.find())
    scene.amend([EntityEdit(Edit.RESTORE, MUG, author="operator")])
    news(updated=(thing(BOOK, count=9, stamp=8.0),))
    assert moved.find().ids == ()
    assert states(scene)[MUG] is EntityState.ACTIVE


def test_it_can_be_switched_off():
    assert SceneChain(SceneDictionaryConfig(archive_moved=False), SharedConfig(), PhraseBook()).moved is None
