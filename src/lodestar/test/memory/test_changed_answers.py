"""Tests of answers about changed objects, about needs, and about rooms that only the map names."""

from __future__ import annotations

from dataclasses import replace

import answer_world
import numpy as np
import pytest
from answer_world import DESK, centre

from lodestar.language.question_reader import read_question
from lodestar.memory.answering.needs import names_no_object
from lodestar.memory.answering.readings import readings_apart, rooms_apart, seen_from_here

HALL = (1.0, 7.0, 0.2)


@pytest.fixture
def crates(tmp_path):
    """Return an office with two red crates; one is carried from the desk to the hall and seen there only later."""
    tour = answer_world.OfficeTour(tmp_path / "crates")
    tour.put(1, "desk", (7.0, 1.0, 0.4), (1.6, 0.8, 0.8))
    tour.put(2, "crate", (7.0, 1.9, 0.2), 0.4, "red crate", attributes=("red",))
    tour.put(3, "crate", (1.0, 3.0, 0.2), 0.4, "red crate", attributes=("red",))
    tour.put(4, "table", (2.0, 3.0, 0.4), (1.2, 0.8, 0.8))
    tour.stand((7.0, 2.8, -1.57), 30, (1, 2))
    tour.stand((2.0, 1.5, 1.57), 30, (3, 4))
    tour.stand((3.0, 6.5, 3.14), 30, ())
    tour.wait(200.0)
    tour.remove(2)
    tour.put(5, "crate", HALL, 0.4, "red crate", attributes=("red",))
    tour.stand((3.0, 6.5, 3.14), 30, (5,))
    tour.wait(60.0)
    yield tour
    tour.close()


@pytest.mark.parametrize(
    "text", ["when was the red mug taken away?", "when did somebody put the red mug there?"]
)
def test_a_change_that_the_map_calls_otherwise_has_its_time(office, text):
    """The map records that the mug moved; seen from the desk, it was taken away."""
    moved, other = office.ask("when was the red mug moved?"), office.ask(text)
    assert other.is_known and other.value.times == moved.value.times
    assert "was moved" in other.sentence and other.confidence < moved.confidence


def test_a_thing_that_came_anew_may_have_been_moved(crates):
    moved = crates.ask("when was the red crate in the hallway carried to another place?")
    assert moved.is_known
    begin, end = moved.value.times[0]
    assert begin <= crates.now - 90.0 <= end + 5.0


@pytest.mark.parametrize("verb", ["moved", "taken away"])
def test_what_never_changed_has_no_time_of_a_change(office, verb):
    answer = office.ask(f"when was the desk {verb}?")
    assert not answer.is_known and answer.value.times == ()


def test_before_it_was_moved_is_the_place_before(office):
    answer = office.ask("where was the red mug before it was moved?")
    assert answer.is_known and centre(answer) == pytest.approx(DESK, abs=0.05)


def test_before_it_was_moved_of_a_thing_that_stayed_is_its_place(office):
    answer = office.ask("where was the desk before it was moved?")
    assert centre(answer)[:2] == pytest.approx(DESK[:2], abs=0.3)


def test_a_thing_is_meant_by_the_place_that_it_has_left(crates):
    """The description holds only for the old place; another crate stands elsewhere."""
    answer = crates.ask("where did the red crate next to the desk stand at first?")
    assert centre(answer)[:2] == pytest.approx((7.0, 1.9), abs=0.1)
    assert crates.ask("is the red crate next to the desk still in its place?").value.yes is False
    assert crates.ask("is the red crate next to the table still in its place?").value.yes is True


def test_the_new_one_is_the_one_that_came(crates):
    for question in (
        "where did the new red crate turn up?",
        "where is the red crate that was not there before?",
    ):
        assert centre(crates.ask(question))[:2] == pytest.approx(HALL[:2], abs=0.1)


def test_a_window_of_the_whole_way(office):
    answer = office.ask("was the red mug moved while you were driving around?")
    assert answer.value.yes is True
    assert office.ask("was the desk moved while you were driving around?").value.yes is False


def test_a_room_that_only_the_map_knows_is_a_scope(office):
    """The grammar has no room "open plan"; the operator gave the office this name."""
    scene = office.scene.snapshot()
    named = [
        replace(r, label="open plan", named=True) if r.id == answer_world.OFFICE else r
        for r in scene.regions.values()
    ]
    scene.set_regions(named, scene.rooms)
    answer = office.ask("how many chairs are there in the open plan?", scene=scene)
    assert answer.value.number == 2.0
    had = office.ask("how many chairs does the open plan have?", scene=scene)
    assert had.value.number == answer.value.number
    assert office.ask("is there a mug in the open plan?", scene=scene).value.yes is False
    assert office.ask("does the open plan have a mug?", scene=scene).value.yes is False
    there = office.ask("does the open plan have a chair?", scene=scene)
    assert there.value.yes is True and "chair" in there.sentence


def test_a_plan_that_is_no_room_stays_a_thing(office):
    inquiry = office.answerer().inquiry(read_question("is there a mug in the open plan?"), office.now)
    item, rooms = rooms_apart(inquiry, inquiry.question.item)
    assert rooms == () and item == inquiry.question.item


def test_readings_are_tried_one_at_a_time():
    two = read_question("how many mugs are on the table next to the window?").item
    kept = list(readings_apart(two))
    assert [len(one.best) for one in kept] == [1, 1] and all(one.best[0].weight == 1.0 for one in kept)
    assert list(readings_apart(read_question("how many mugs are there?").item)) == []


def test_nearest_to_you_needs_no_thing_called_you():
    graph = seen_from_here(read_question("which chair is closest to where you are now?").item).best[0]
    assert "you" not in {variable.phrase for variable in graph.variables}


@pytest.mark.parametrize(
    ("text", "none"), [("where can I get a coffee?", True), ("where is the forklift?", False)]
)
def test_what_no_robot_sees_as_a_thing(text, none):
    assert names_no_object(read_question(text).item) is none


def test_a_need_is_met_by_what_things_are_used_for(tmp_path):
    """The embedder compares words: "wash hands" shares none with "sink", and two with its use."""
    tour = answer_world.OfficeTour(tmp_path / "needs")
    tour.put(1, "sink", (1.0, 1.0, 0.8), 0.5)
    tour.put(2, "plant", (3.0, 3.0, 0.5), 0.5)
    tour.stand((2.0, 2.0, 0.0), 12, (1, 2))
    answer = tour.ask("where could somebody wash hands?")
    assert answer.is_known and centre(answer)[:2] == pytest.approx((1.0, 1.0), abs=0.1)
    nothing = tour.ask("where can I repair a bicycle?")
    assert not nothing.is_known
    tour.close()


def test_pose_is_not_needed_for_what_changed(office):
    answer = office.answerer().answer(
        read_question("where was the red mug before it was moved?"), office.now, None
    )
    assert np.allclose(answer.value.places[0].centre, DESK, atol=0.05)
