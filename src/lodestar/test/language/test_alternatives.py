"""What "or" joins, and whose noun an adjective takes."""

from __future__ import annotations

import pytest

from lodestar.language.directive import NotUnderstood
from lodestar.language.grammar import parse_directive


def readings(subtask):
    """Per alternative its kind and what is said of it."""
    found = []
    for graph in subtask.graphs:
        names = [variable.category for variable in graph.variables]
        said = []
        for p in graph.predicates:
            if p.name != "IsCategory" and p.arguments[0] == 0:
                to = " ".join(names[i] for i in p.arguments[1:]) or p.value
                said.append(
                    ("not " if p.negated else "") + (to if p.name == "HasAttribute" else f"{p.name} {to}")
                )
        found.append(" ".join([names[0], *sorted(said)]))
    return found


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("find the red or blue chair", [["chair red", "chair blue"]]),
        ("find a wooden or metal chair", [["chair wooden", "chair metal"]]),
        ("find the small or large table", [["table small", "table large"]]),
        ("find the red, green or blue chair", [["chair red", "chair green", "chair blue"]]),
        ("find a glass or metal table", [["table glass", "table metal"]]),
        ("find an orange or a red mug", [["orange", "mug red"]]),
        ("find the chair that is red or blue", [["chair red", "chair blue"]]),
        ("find the small chair that is red or blue", [["chair red small", "chair blue small"]]),
        ("find the chair that is not red or blue", [["chair not blue not red"]]),
        ("find two red chairs and a blue one", [["chair red"], ["chair blue"]]),
        ("find the red chair, then find the blue one", [["chair red"], ["chair blue"]]),
        ("find the red chair or a blue one", [["chair red", "chair blue"]]),
        ("find the red and the blue chair", [["chair red"], ["chair blue"]]),
        ("count the red and the blue chairs", [["chair red"], ["chair blue"]]),
        ("find the mug on the red or the blue table", [["mug On table", "mug On table"]]),
        ("how many red or blue chairs are on the rug", [["chair On rug red", "chair On rug blue"]]),
        ("find the red and blue chair", [["chair blue red"]]),
        (
            "find the red or blue chair next to the desk",
            [["chair NextTo desk red", "chair NextTo desk blue"]],
        ),
    ],
)
def test_an_adjective_takes_the_noun_it_shares(text, steps):
    assert [readings(subtask) for subtask in parse_directive(text).steps] == steps


def test_one_of_what_is_avoided_is_of_the_kind_that_was_named():
    (constraint,) = parse_directive("find the red chair, avoid the blue one next to the desk").constraints
    (graph,) = constraint.item.graphs
    assert str(graph) == "x0 'blue chair'; x1 'desk': HasAttribute(x0, blue) & NextTo(x0, x1)"


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("find a mug, or a plate", [["mug", "plate"]]),
        ("find a chair, a stool, or a bench", [["chair", "stool", "bench"]]),
        ("find a chair, a stool or a bench, then a mug", [["chair", "stool", "bench"], ["mug"]]),
        ("find a mug, a plate and a cup", [["mug"], ["plate"], ["cup"]]),
        ("find a mug, a plate, then a cup or a glass", [["mug"], ["plate"], ["cup", "glass"]]),
    ],
)
def test_a_list_that_ends_with_or_is_one_step(text, steps):
    assert [readings(subtask) for subtask in parse_directive(text).steps] == steps


@pytest.mark.parametrize(
    ("text", "target", "found"),
    [
        (
            "find a chair in the kitchen or the bedroom",
            "chair",
            ["chair InRegion kitchen", "chair InRegion bedroom"],
        ),
        (
            "find a chair in the kitchen or bedroom",
            "chair",
            ["chair InRegion kitchen", "chair InRegion bedroom"],
        ),
        (
            "find a chair not in the kitchen or the hall",
            "chair",
            ["chair not InRegion hallway not InRegion kitchen"],
        ),
        (
            "go to the kitchen or the hall",
            "kitchen or hall",
            ["object InRegion kitchen", "object InRegion hallway"],
        ),
        ("find a chair next to the table or the sofa", "chair", ["chair NextTo table", "chair NextTo sofa"]),
        ("find the chair next to the table or sofa", "chair", ["chair NextTo table", "chair NextTo sofa"]),
        ("find the chair not next to the desk or sofa", "chair", ["chair not NextTo desk not NextTo sofa"]),
        ("find a chair next to the table or a sofa", "chair or sofa", ["chair NextTo table", "sofa"]),
        (
            "find a chair or a table in the kitchen or the bedroom",
            "chair or table",
            [
                "chair InRegion kitchen",
                "table InRegion kitchen",
                "chair InRegion bedroom",
                "table InRegion bedroom",
            ],
        ),
        ("find a mug or a glass on the table", "mug or glass", ["mug On table", "glass On table"]),
        (
            "find mugs or plates in the kitchen",
            "mug or plate",
            ["mug InRegion kitchen", "plate InRegion kitchen"],
        ),
        ("find a mug or the glass on the table", "mug or glass", ["mug", "glass On table"]),
    ],
)
def test_or_joins_places_of_one_thing(text, target, found):
    (subtask,) = parse_directive(text).steps
    assert (subtask.target, readings(subtask)) == (target, found)


def test_what_may_be_a_thing_or_its_place_is_to_be_said_in_full():
    with pytest.raises(NotUnderstood, match='"or the sofa" may be said of the chair or of where it is'):
        parse_directive("find the chair next to the table or the sofa")
