"""Tests of answers about objects whose place people stated, and about phrases and starts that are hard to parse."""

from __future__ import annotations

from dataclasses import replace

import answer_world
import memory_builders as build
import numpy as np
import pytest
from chronicle_world import ListedMemories, Words

from lodestar.language.items import Item
from lodestar.language.query_graph import Predicate, QueryGraph, QueryVariable
from lodestar.language.question_reader import read_question
from lodestar.memory.answering.answerer import Answerer
from lodestar.memory.answering.tools import Tools
from lodestar.memory.answering.windows import resolved_window
from lodestar.models.phrases import PhraseBook
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import Stated


@pytest.fixture(scope="module")
def office(tmp_path_factory):
    """Return an office with a mug that by its box is on a printer, beside a desk."""
    tour = answer_world.OfficeTour(tmp_path_factory.mktemp("office"))
    tour.put(1, "desk", (7.0, 1.0, 0.4), (1.2, 0.8, 0.75))
    tour.put(2, "mug", (8.0, 1.6, 0.3), 0.1)
    tour.put(3, "printer", (8.2, 1.9, 0.3), 0.4)
    tour.stand((7.0, 2.8, -1.57), 20, (1, 2, 3))
    tour.wait(50.0)
    yield tour
    tour.close()


def with_said(tour, *stated, **changes):
    scene = tour.scene.snapshot()
    scene.entities[2] = replace(scene.entities[2], stated=stated, **changes)
    return scene


@pytest.mark.parametrize(
    "text",
    ["where is the mug?", "where did you see the mug?", "when did you see the mug?", "which mug is there?"],
)
def test_a_place_is_told_as_people_stated_it(office, text):
    assert "on the printer" in office.ask(text).sentence
    assert "on the desk" in office.ask(text, scene=with_said(office, Stated("On", 1))).sentence
    assert "on the printer" not in office.ask(text, scene=with_said(office, Stated("On", 3, True))).sentence


def test_a_place_that_a_thing_has_left_is_told_by_the_boxes(office):
    there = office.scene.snapshot().entities[2]
    away = np.array([-1.5, 2.0, 0.0])  # off the printer, still by the desk
    moved = {"mean": there.mean + away, "box_min": there.box_min + away, "box_max": there.box_max + away}
    scene = with_said(office, Stated("On", 1), **moved, last_seen=office.now)
    sentence = office.ask("where is the mug?", scene=scene).sentence
    now, _, before = sentence.partition(" It was ")
    assert "on the desk" in now and "on the printer" in before, sentence


@pytest.mark.parametrize("text", ["how many mugs are there?", "is there a mug?"])
def test_an_item_by_its_kind_alone_is_read(office, text):
    """A message may contain a graph without its original text."""
    graph = QueryGraph((QueryVariable("", "mug"),), (Predicate("IsCategory", (0,), "mug"),))
    question = replace(read_question(text), item=Item(((graph,),)))
    answer = office.answerer().answer(question, office.now, office.pose)
    assert answer.is_known and (answer.value.number == 1.0 or answer.value.yes)


def test_the_robot_started_with_the_last_session_whatever_it_remembers_before():
    old = [build.memory(k + 1, "the hall", 10.0 * k, session="old") for k in range(700)]
    new = [build.memory(701 + k, "the hall", 8000.0 + 10.0 * k, session="new") for k in range(3)]
    answerer = Answerer(Tools(ListedMemories(old + new), PhraseBook(Words()), SceneMirror()))
    question = read_question("what did you do since you started?")
    assert resolved_window(answerer.inquiry(question, 9000.0)).span == (8000.0, 9000.0)
    nothing = Answerer(Tools(ListedMemories([]), PhraseBook(Words()), SceneMirror()))
    assert resolved_window(nothing.inquiry(question, 9000.0)).span == (9000.0, 9000.0)
