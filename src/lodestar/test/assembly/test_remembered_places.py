"""Tests of remembered places over sessions: recalled, looked at, found empty, and belonging to this map only."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from chain_robot import CONFIG, Robot, Shelf, floor, thing

from lodestar.assembly.memory_chain import MemoryChain
from lodestar.geometry.poses import planar_transform
from lodestar.language.question_reader import read_question
from lodestar.memory.answering.answerer import Answerer
from lodestar.memory.answering.config import AnsweringConfig
from lodestar.memory.answering.tools import Tools
from lodestar.memory.errors import StoreFull
from lodestar.memory.records import EventKind, MapName
from lodestar.models.phrases import PhraseBook
from lodestar.scene.mirror import SceneMirror

MUG = (2.0, 0.0, 0.4)


def captions(chain):
    return [place.thing.caption for place in chain.remembered().places]


def session(shelf):
    """Return a robot that was just started, with the store of earlier sessions."""
    robot = Robot(MemoryChain(CONFIG, SceneMirror(), shelf))
    robot.chain.take_grid(floor())
    return robot


@pytest.fixture
def shelf():
    return Shelf()


@pytest.fixture
def former(shelf):
    """Return a session that saw the mug for a while."""
    robot = session(shelf)
    robot.delta(thing(place=MUG))
    robot.stand(8.0, {1: 500})
    robot.chain.close()
    return robot


def test_a_thing_of_a_former_session_is_remembered_until_the_scene_has_it(shelf, former):
    assert captions(former.chain) == [], "the scene has it"
    robot = session(shelf)
    assert captions(robot.chain) == ["red mug"]
    assert robot.chain.remembered().places[0].stamp is None, "simulated clocks say nothing of other sessions"
    robot.delta(thing(31, place=MUG))
    assert captions(robot.chain) == []


def test_the_revision_tells_whether_anything_is_new(shelf, former):
    robot = session(shelf)
    first = robot.chain.remembered()
    robot.delta(thing(5, "plate", (-2.0, 0.0, 0.4)))
    assert robot.chain.remembered() is first, "a thing elsewhere changes no place"
    robot.delta(thing(31, place=MUG))
    assert robot.chain.remembered().revision > first.revision


def test_an_empty_place_is_remembered_over_sessions_and_changes_no_other_thing(shelf, former):
    robot = session(shelf)
    robot.delta(thing(1, "plate", (-2.0, 0.0, 0.4)))  # with the former id of the mug
    robot.stand(6.0)
    assert captions(robot.chain) == []
    (gone,) = [memory for memory in shelf.kept if memory.event is EventKind.VANISHED]
    assert gone.text == "The red mug is gone; it was here before."
    assert gone.entity_ids == (0,)
    robot.chain.close()
    assert "red mug" not in captions(session(shelf).chain)


def test_a_lost_robot_empties_no_place(shelf, former):
    robot = session(shelf)
    robot.stand(6.0, lost=True)
    assert captions(robot.chain) == ["red mug"]


def test_places_of_another_map_are_not_mixed_in_and_come_back_with_their_map(shelf, former):
    robot = session(shelf)
    robot.delta(session="other.a")
    assert robot.chain.remembered().map == MapName(1, "other")
    assert captions(robot.chain) == []
    robot.stand(6.0)
    robot.delta(session="")
    assert captions(robot.chain) == ["red mug"]


def test_a_store_that_opens_late_adds_the_past_and_keeps_what_was_seen_meanwhile(shelf, former):
    robot = Robot(MemoryChain(CONFIG, SceneMirror()))
    robot.delta(thing(2, "plate", (-2.0, 0.0, 0.4)))
    robot.stand(8.0, {2: 500})
    robot.delta(removed=(2,))
    assert captions(robot.chain) == ["red plate"]
    robot.chain.use_store(shelf)
    assert set(captions(robot.chain)) == {"red plate", "red mug"}
    stamps = {place.thing.label: place.stamp for place in robot.chain.remembered().places}
    assert stamps["mug"] is None and stamps["plate"] is not None


def test_a_store_that_cannot_be_searched_leaves_the_places_of_this_session(former):
    class Broken(Shelf):
        def search(self, request):
            raise StoreFull("the disk is full: free some space")

    former.delta(removed=(1,))
    former.chain.use_store(Broken())
    assert captions(former.chain) == ["red mug"]


def test_what_is_forgotten_is_no_place_any_more_and_what_is_imported_is_one_of_the_past(shelf, former):
    former.delta(removed=(1,))
    assert former.chain.remembered().places[0].stamp is not None
    former.chain.recall_places()
    assert former.chain.remembered().places[0].stamp is not None, "it is of this session still"
    kept, shelf.kept = shelf.kept, []
    former.chain.recall_places()
    assert captions(former.chain) == []
    # the same memories with other ids
    shelf.kept = [replace(memory, text="filler", primitives=()) for memory in kept] + kept
    former.chain.recall_places()
    assert former.chain.remembered().places[0].stamp is None


def test_a_loop_closure_moves_the_places_and_is_no_motion_of_things(shelf, former):
    robot = session(shelf)
    robot.delta(thing(2, "plate", (-2.0, 0.0, 0.4)))
    robot.stand(1.0)
    here = planar_transform(0.0, 0.0, 0.0)
    jump = planar_transform(0.0, 1.0, 0.0)
    robot.chain.take_correction(np.eye(4), here)
    robot.chain.take_correction(jump, here)
    robot.chain.take_correction(np.full((4, 4), np.nan), here)
    assert robot.chain.counts["corrections"] == 1
    for _ in range(2):
        (place,) = robot.chain.remembered().places
        assert place.thing.centre == pytest.approx((2.0, 1.0, 0.4))
        robot.chain.recall_places()  # recalled anew, as after an import
    for _ in range(3):  # publishes the scene as moved with the map
        robot.delta(thing(2, "plate", (-2.0, 1.0, 0.4)))
        robot.stand(4.0)
    assert [memory.text for memory in shelf.kept if memory.event is EventKind.MOVED] == []


def test_a_clock_that_is_set_back_leaves_the_places(shelf, former):
    former.delta(removed=(1,))
    before = captions(former.chain)
    former.now = 0.0
    former.stand(0.8)
    assert captions(former.chain) == before == ["red mug"]


def test_answers_get_along_with_a_place_that_was_found_empty(shelf, former):
    robot = session(shelf)
    robot.stand(6.0)
    assert any(memory.event is EventKind.VANISHED for memory in shelf.kept)
    robot.chain.close()

    class Vectors(PhraseBook):
        def vectors(self, phrases):
            return np.eye(384)[[sum(map(ord, phrase)) % 384 for phrase in phrases]]

    tools = Tools(shelf, Vectors(), robot.chain.scene)
    answer = Answerer(tools, AnsweringConfig()).answer(
        read_question("what happened?"), robot.now, np.zeros(3), None
    )
    assert "mug" in answer.sentence
