"""Tests of RViz markers for decisions, traces, questions, regions and replies."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from lodestar.agent.errands.commands import Choice, OpenQuestion
from lodestar.language.grammar import parse_directive
from lodestar.scene.records import Region
from lodestar.scene.regions import RegionMap
from lodestar.selection.decisions import Decision
from lodestar.worldmodel.outcomes import ActionOutcome, Result
from lodestar.worldmodel.records import Action, Expectation, Phase, Skill, Trace
from lodestar_ros.decision_display import question_markers, reason_markers, trace_markers
from lodestar_ros.marker_shapes import reply_markers
from lodestar_ros.markers import entity_markers


def trace(identity: str, goal) -> Trace:
    action = Action(Skill.GO_TO, ("entity:3",), goal)
    return Trace(
        identity, 1, 1.0, "semantic_map", action, Expectation(Phase.AT), 0.8, reason="it fits\x1b[2J"
    )


def test_the_decision_says_who_was_chosen_and_why_over_the_goal():
    decision = Decision(1, 1.0, "d", 0, {}, (), "semantic_map", explanation="the chair is near " + "x" * 300)
    (text,) = reason_markers(np.array([1.0, 2.0, 0.0]), decision, 1.0)
    assert text.text.startswith("semantic_map: the chair is near") and len(text.text) < 200
    assert (text.pose.position.x, text.pose.position.y) == (1.0, 2.0)
    assert reason_markers(None, decision, 1.0) == []


def test_a_trace_has_the_colour_and_the_words_of_its_end():
    goal = np.array([1.0, 2.0, 0.0])
    failed = ActionOutcome("b", 2.0, Result.ROLLED_BACK, text="a door is shut")
    shown = trace_markers(
        [(trace("a", goal), None), (trace("b", goal), failed), (trace("c", None), None)], 1.0
    )
    arrows = [m for m in shown if m.ns == "traces"]
    texts = [m.text for m in shown if m.ns == "trace_texts"]
    assert len(arrows) == len(texts) == 2 and arrows[0].color != arrows[1].color
    assert "GoTo(entity:3): it fits" in texts[0] and "\x1b" not in texts[0]
    assert "ROLLED_BACK: a door is shut" in texts[1]


def test_choices_that_are_things_stand_at_their_places_with_their_numbers():
    directive = parse_directive("find the chair")
    choices = (
        Choice("a reading", directive),
        Choice("the red one", directive, entity_id=4, place=(1.0, 2.0, 0.5)),
    )
    balls = question_markers(OpenQuestion("q-1", "Which?", choices, 0.0), 1.0)
    assert [m.ns for m in balls] == ["choices", "choice_texts"]
    assert balls[0].id == 2 and balls[1].text == "2. the red one?" and balls[0].pose.position.z > 1.0
    assert question_markers(None, 1.0) == []


def test_regions_are_tiles_of_their_floor():
    rooms = RegionMap(1.0)
    mask = np.zeros((20, 40), np.uint16)
    mask[:, :20], mask[:, 20:] = 1, 2
    rooms.set_mask(mask, (0.0, 0.0), 0.1)
    rooms.regions = {i: Region(i, "", 0.0, 4.0, np.zeros(2)) for i in (1, 2, 7)}
    tiles = {m.id: m for m in entity_markers((), 1.0, rooms=rooms).markers if m.ns == "regions"}
    assert set(tiles) == {1, 2} and tiles[1].color != tiles[2].color
    assert len(tiles[1].points) == 64, "8 x 8 tiles of 0.25 m and not 400 cells"
    assert max(p.x for p in tiles[1].points) < 2.0 < min(p.x for p in tiles[2].points)


def test_a_reply_stands_where_the_click_was():
    taken, refused = (reply_markers((1.0, 2.0, 0.3), "so", 1.0, ok=ok).markers for ok in (True, False))
    assert taken[0].action == taken[0].DELETEALL and taken[2].text == "so"
    assert taken[1].pose.position.x == 1.0 and taken[1].color != refused[1].color
