"""What a directive says to keep away from is kept away from: all of it, and nothing else."""

from __future__ import annotations

import pytest
from task_builders import barred, distance_of

from lodestar.language.directive import NotUnderstood
from lodestar.language.grammar import parse_directive
from lodestar.language.words import tokenise


def targets_and_constraints(text):
    directive = parse_directive(text)
    return [step.target for step in directive.steps], barred(directive)


@pytest.mark.parametrize(
    ("text", "constraints"),
    [
        ("avoid the wet floor, the cables, and the stairs; find the mug", ("wet floor", "cable", "stairs")),
        ("do not enter the bathroom, and the bedroom; find the mug", ("bathroom", "bedroom")),
        ("avoid the dog, and the cat, and find the mug", ("dog", "cat")),
        ("avoid the dog as well as the cat; find the mug", ("dog", "cat")),
        ("avoid the dog & the cat; find the mug", ("dog", "cat")),
        ("avoid the dog and two cats; find the mug", ("dog", "cat")),
        ("avoid the dog, also the cat; find the mug", ("dog", "cat")),
        ("avoid the dog at all costs and the cat, then the mug", ("dog", "cat")),
        ("find the mug; avoid the chair next to the desk and the dog", ("chair", "dog")),
        (
            "find the mug; avoid the chairs in the kitchen and the bathroom",
            ("chair", "bathroom"),
        ),
        ("find the mug; avoid red and blue chairs", ("red chair", "blue chair")),
        ("find the mug; avoid the red and the blue chairs", ("red chair", "blue chair")),
        ("find the mug; avoid wooden and metal chairs", ("wooden chair", "metal chair")),
        ("find the mug; avoid the red or blue chairs", ("red chair", "blue chair")),
        ("find the mug; avoid red, blue and green chairs", ("red chair", "blue chair", "green chair")),
        ("find the mug; avoid red chairs and blue tables", ("red chair", "blue table")),
        ("find the mug; avoid the big, red chair", ("large red chair",)),
    ],
)
def test_a_list_is_kept_away_from_to_its_end(text, constraints):
    assert targets_and_constraints(text) == (["mug"], constraints)


def test_what_may_be_a_goal_or_a_thing_to_avoid_is_refused():
    with pytest.raises(
        NotUnderstood, match='"a mug" follows what is to be avoided; say "find" or "avoid" before it'
    ):
        parse_directive("find the lamp; avoid the dog, please. A mug")


@pytest.mark.parametrize(
    ("text", "constraints", "distance"),
    [
        ("find the mug; avoid the dog at all costs", ("dog",), 1.0),
        ("find the mug; avoid the dog at any time", ("dog",), 1.0),
        ("find the mug; avoid the dog by a wide margin", ("dog",), 1.0),
        ("find the mug; avoid the dog by 1.5m", ("dog",), 1.5),
        ("find the mug, then avoid the dog on the way back", ("dog",), 1.0),
        ("find the mug; on the way back avoid the dog", ("dog",), 1.0),
        ("find the mug; keep away from the dog (2 m)", ("dog",), 2.0),
        ("find the mug; avoid the dog, by 2 m", ("dog",), 2.0),
        ("find the mug; keep away from the dog (1.5m)", ("dog",), 1.5),
        ("find the mug; avoid the dog (keep 3 m away)", ("dog",), 3.0),
        ("find the mug; avoid the dog, keep 3 m away from it", ("dog",), 3.0),
        ("find the mug; avoid the area near the window", ("window",), 1.0),
        ("find the mug; avoid the area in front of the sofa and the dog", ("sofa", "dog"), 1.0),
        ("find the mug; avoid the end of the table", ("table",), 1.0),
        ("find the mug; avoid the edge of the stairs", ("stairs",), 1.0),
        ("find the mug; avoid the front of the stove", ("stove",), 1.0),
        ("find the mug; avoid the area in the kitchen", ("kitchen",), 1.0),
        ("find the mug; avoid the kitchen area", ("kitchen area",), 1.0),
        ("keep 2 m away from the dog, keep 0.5 m away from the cat, find the mug", ("dog", "cat"), 2.0),
        ("keep 0.5 m away from the dog, avoid the cat, find the mug", ("dog", "cat"), 1.0),
        ("keep 0.5 m away from the dog, never enter the hall, find the mug", ("dog", "hall"), 0.5),
        ("find the mug keeping 2 m away from the dog", ("dog",), 2.0),
        ("find the mug while staying 2 m away from the dog", ("dog",), 2.0),
        ("find the mug; keep 2m away from the dog", ("dog",), 2.0),
        ("find the mug; keep 50cm away from the dog", ("dog",), 0.5),
        ("find the mug; keep two metres away from the dog", ("dog",), 2.0),
        ("find the mug; stay at least 3ft from the dog", ("dog",), 3 * 0.3048),
    ],
)
def test_what_is_said_around_a_thing_does_not_lift_its_zone(text, constraints, distance):
    assert targets_and_constraints(text) == (["mug"], constraints)
    assert parse_directive(text).steps[0].neighbors == ()
    assert distance_of(parse_directive(text)) == pytest.approx(distance)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("find the mug; avoid the chair next to the wibble", 'what "wibble" is in .* say only "chair"'),
        ("find the mug; avoid the dog with 2 m clearance", "a distance is said as"),
        ("find the mug; avoid the dog at a distance of 2 m", "a distance is said as"),
        ("find the mug; avoid the area", '"the area" is no thing; say what is there'),
        ("find the mug; avoid the room with the dog", "name the room, or the thing in it"),
        ("find the mug; avoid the corner of the room", "leaves nowhere to go"),
        ("find the mug; keep 2 m away", '"keep 2 m" from what'),
        ("keep -2 m away from the dog, keep 3 m away from the cat, find the mug", "-2 m is no distance"),
        ("keep 20m away from the dog, keep 3 m away from the cat, find the mug", "20 m is no distance"),
    ],
)
def test_a_zone_that_would_bar_nothing_is_refused(text, why):
    with pytest.raises(NotUnderstood, match=why):
        parse_directive(text)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("2m", ["2", "m"]),
        ("(1.5m)", ["1.5", "m"]),
        ("-50cm", ["-50", "cm"]),
        ("(1.5 m)", ["1.5", "m"]),
        ("2x 3rd a4", ["2x", "3rd", "a4"]),
        ("a & b", ["a", "and", "b"]),
    ],
)
def test_a_measure_is_a_number_and_a_unit(text, tokens):
    assert tokenise(text) == tokens
