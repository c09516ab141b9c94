"""Tests of sentences of several clauses, with viewpoints and ranks, and of graphs as data."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodestar.language.directive import NotUnderstood
from lodestar.language.grammar import parse_query
from lodestar.language.query_graph import Predicate, QueryGraph, QueryVariable, Side


def said(text):
    """Return target and predicates of the first reading."""
    graph = parse_query(text)[0]
    names = [v.category for v in graph.variables]
    return names[0], {
        f"{'not ' if p.negated else ''}{p.name}({', '.join(names[a] for a in p.arguments)}){p.value and ' ' + p.value}"
        for p in graph.predicates
        if p.name != "IsCategory"
    }


@pytest.mark.parametrize(
    ("text", "target", "predicates"),
    [
        ("Facing the bed, the lamp on the left.", "lamp", {"LeftOf(lamp) towards=1"}),
        ("If you are looking at the windows, it's the one on the right.", "window", {"RightOf(window) towards=1"}),
        ("facing the chairs, choose the second from the left", "chair", {"LeftOf(chair) rank=2 towards=1"}),
        ("The second monitor from the right", "monitor", {"RightOf(monitor) rank=2"}),
        ("As you enter the room, the desk to the left of the window", "desk", {"LeftOf(desk, window) at=2"}),
        ("It is the smaller of the two cabinets", "cabinet", {"HasAttribute(cabinet) smallest"}),
        ("Choose the tallest lamp in the corner", "lamp", {"HasAttribute(lamp) tallest", "Inside(lamp, corner)"}),
        ("The chair by itself", "chair", {"Farthest(chair) peers"}),
        ("The middle window", "window", {"Between(window)"}),
        ("the table in the middle of the room", "table", {"Near(table, center)"}),
        ("The door is next to the shelf. It is the brown one.", "door",
         {"NextTo(door, shelf)", "HasAttribute(door) brown"}),
        ("There is a shelf between two doors. It is the door on the left.", "door", {"LeftOf(door)"}),
        ("Of the three tables, this is closest to the wall", "table", {"Closest(table, wall)"}),
        ("The chair pushed against the wall", "chair", {"NextTo(chair, wall)"}),
        ("the bed without a blanket on it", "bed", {"not On(blanket, bed)"}),
        ("the table with 0 chairs", "table", {"not NextTo(chair, table)"}),
        ("the table that has zero chairs", "table", {"not NextTo(chair, table)"}),
        ("the lamp, not the red one", "lamp", {"not HasAttribute(lamp) red"}),
        ("the sofa across from the fireplace", "sofa", {"Opposite(sofa, fireplace)"}),
        ("the mug on the desk under the window next to the door", "mug",
         {"On(mug, desk)", "Below(desk, window)", "NextTo(window, door)"}),
    ],
)  # fmt: skip
def test_what_people_say(text, target, predicates):
    found, relations = said(text)
    assert (found, relations) == (target, predicates)


def test_nesting_goes_as_deep_as_it_is_said():
    graph = parse_query("the mug on the desk under the window next to the door")[0]
    assert graph.depth == 3
    assert str(graph).startswith("x0 'mug'; x1 'desk'; x2 'window'; x3 'door': ")


def test_a_chain_may_also_be_read_flat_with_less_weight():
    readings = parse_query("It is the mug on the table next to the window")
    assert [r.weight for r in readings] == pytest.approx([0.6, 0.4])
    assert [r.depth for r in readings] == [2, 1]


@pytest.mark.parametrize("text", ["xyzzy blorp", "la chaise rouge est la", "!!", "and or of", "是红色的椅子"])
def test_without_a_noun_that_is_known_it_is_refused_or_taken_as_an_open_word(text):
    try:
        graphs = parse_query(text)
    except ValueError as error:
        assert str(error)
    else:
        assert graphs[0].target.category


def test_more_things_in_one_description_than_a_graph_holds_are_refused():
    text = "the chair " + " ".join(f"near n{i}" for i in range(18))
    with pytest.raises(NotUnderstood, match="say it in parts"):
        parse_query(text)


def test_what_is_said_again_and_again_is_said_once():
    graph = parse_query("It is the chair next to the desk. " * 20)[0]
    assert str(graph) == "x0 'chair'; x1 'desk': NextTo(x0, x1)"


@pytest.mark.parametrize("count", [60, 140])
def test_a_long_text_is_read_in_parts(count):
    text = "the lamp on the desk. " + "There is a desk by the window, " * (count // 7) + "the lamp is red."
    graph = parse_query(text[:990])[0]
    assert graph.target.category == "lamp"


def test_words_that_say_nothing_are_passed_over_and_the_rest_is_read():
    graph = parse_query("the chair blorp zzz next to the desk")[0]
    assert any(p.name == "NextTo" for p in graph.predicates)


def test_a_chair_with_the_speaker_s_viewpoint_is_seen_from_there():
    (graph,) = parse_query(
        "Facing the front of the couch, pick the table that is on the right side of the couch."
    )
    side = next(p for p in graph.predicates if p.name == "RightOf")
    assert graph.variables[side.side.towards].category == "couch"


def test_a_graph_is_read_from_plain_data():
    for graph in parse_query("facing the door, the second red chair from the left, not near the desk"):
        assert QueryGraph.from_dict(json.loads(json.dumps(asdict(graph)))) == graph


@pytest.mark.parametrize(
    "data",
    [
        {}, {"variables": []}, {"variables": [{"phrase": "a"}]}, [], {"variables": 3},
        {"variables": [{"phrase": "a", "category": "a"}], "predicates": [{"name": "Floats", "arguments": [0]}]},
        {"variables": [{"phrase": "a", "category": "a"}], "predicates": [{"name": "On", "arguments": [0, 1]}]},
        {"variables": [{"phrase": "a", "category": "a"}], "predicates": [{"name": "On", "arguments": []}]},
        {"variables": [{"phrase": "a", "category": "a"}],
         "predicates": [{"name": "LeftOf", "arguments": [0], "value": "towards=7"}]},
    ],
)  # fmt: skip
def test_data_that_are_no_graph_say_so(data):
    with pytest.raises(ValueError):
        QueryGraph.from_dict(data)


@given(st.integers(1, 99), st.integers(-1, 15), st.integers(-1, 15))
def test_a_side_is_read_back_from_its_text(rank, towards, at):
    side = Side(rank, towards, at)
    assert Side.of(str(side)) == side


def test_literal_values_are_no_viewpoints():
    predicate = Predicate("HasAttribute", (0,), "towards=9")
    assert predicate.mentioned == (0,)
    QueryGraph((QueryVariable("a", "a"),), (predicate,))


@pytest.mark.parametrize(
    ("text", "graph"),
    [
        ("facing the bed choose the lamp on the left side", "x0 'lamp'; x1 'bed': LeftOf(x0, towards=1)"),
        ("the keyboard 2nd from the left", "x0 'keyboard': LeftOf(x0, rank=2)"),
        ("the picture right above the seat", "x0 'picture'; x1 'seat': Above(x0, x1)"),
        ("the chair diagonally across from the bed", "x0 'chair'; x1 'bed': Opposite(x0, x1)"),
        ("the lamp just behind the sofa", "x0 'lamp'; x1 'sofa': Behind(x0, x1)"),
        ("the chair right of the bed", "x0 'chair'; x1 'bed': RightOf(x0, x1)"),
        (
            "this window is on the opposite side of the room from the whiteboard",
            "x0 'window'; x1 'whiteboard': Farthest(x0, x1)",
        ),
    ],
)
def test_adverbs_imperatives_and_ordinals_after_the_noun(text, graph):
    assert str(parse_query(text)[0]) == graph
