"""Tests of people's descriptions of one object among similar ones: exact names, ranks, opposite places, colours."""

from __future__ import annotations

import numpy as np
import pytest
from query_builders import thing

from lodestar.language.grammar import parse_query
from lodestar.models.phrases import PhraseBook
from lodestar.query.superlatives import COLORS, color_distance
from lodestar.query.verdict import score_query

NORTH = np.array([0.0, 1.0, 0.0])


def box(identity, label, x, y, z=0.0, size=(0.4, 0.4, 0.4), **changes):
    low = np.array([x - size[0] / 2, y - size[1] / 2, z])
    return thing(identity, label, label, low, low + np.array(size), **changes)


def ranked(text, things):
    return [c.entity_id for c in score_query(parse_query(text), {e.id: e for e in things}, PhraseBook())]


def best(text, things):
    return ranked(text, things)[0]


def test_what_has_the_very_name_comes_before_another_kind():
    things = [box(1, "chair", 3, 0), box(2, "armchair", 1, 0), box(3, "sofa", 0, 0), box(4, "chair", 5, 0)]
    assert best("the chair closest to the sofa", things) == 1
    assert best("the armchair", things) == 2
    assert best("the chair closest to the sofa", things[1:3]) == 2  # no object has exactly this name


@pytest.mark.parametrize(("text", "answer"), [("closest", 1), ("second closest", 2), ("third closest", 3)])
def test_the_second_closest_is_the_second(text, answer):
    things = [box(i, "chair", i, 0) for i in (1, 2, 3, 4)] + [box(9, "door", 0, 0, size=(0.1, 0.9, 2.0))]
    assert best(f"the {text} chair to the door", things) == answer


def test_of_two_that_touch_an_anchor_the_one_whose_middle_is_nearer_is_the_closest():
    wide = box(1, "chair", 1.1, 0, size=(0.6, 0.6, 0.4))
    things = [wide, box(2, "chair", 0.2, 0.5), box(9, "desk", 0, 0, size=(1.6, 0.8, 0.7))]
    assert best("the chair closest to the desk", things) == 2


def test_farthest_from_several_is_far_from_all_of_them():
    windows = [box(8, "window", 0, 0), box(9, "window", 10, 0)]
    things = [box(1, "chair", 5, 0), box(2, "chair", 9, 4), *windows]
    assert best("the chair farthest from the windows", things) == 2


def test_the_middle_row_is_counted_by_height():
    things = [box(1, "picture", 0, 0, 0.2), box(2, "picture", 3, 0, 2.0), box(3, "picture", -3, 0, 1.1)]
    assert best("the picture in the middle row", things) == 3


def test_a_thing_in_front_of_another_is_told_from_the_other_by_its_front():
    desks = [box(1, "desk", 0, 0, front=NORTH), box(2, "desk", 4, 0, front=-NORTH)]
    things = [*desks, box(8, "chair", 0, 1), box(9, "chair", 4, 1)]
    assert best("the desk with a chair in front of it", things) == 1
    assert best("the desk with a chair behind it", things) == 2


def test_opposite_is_across_the_room_and_not_beside():
    edges = [box(20, "rug", -4, -4), box(21, "rug", 4, 4)]
    things = [
        box(1, "sofa", 0, 3.5),
        box(2, "sofa", 3.5, -3.0),
        box(9, "bed", 0, -3.5, size=(2, 2, 0.5)),
        *edges,
    ]
    assert best("the sofa opposite the bed", things) == 1
    assert best("the sofa next to the bed", things) == 2


def test_opposite_follows_a_front_that_is_known():
    bed = box(9, "bed", 0, -3.5, front=np.array([1.0, 0.0, 0.0]))
    things = [box(1, "sofa", 0, 3.5), box(2, "sofa", 3.5, -3.5), bed]
    assert best("the sofa across from the bed", things) == 2


def test_sides_are_those_of_who_faces_the_front():
    couch = box(9, "couch", 0, 0, front=NORTH)
    things = [box(1, "table", -1.5, 0), box(2, "table", 1.5, 0), couch]
    assert best("Facing the front of the couch, pick the table on the right side of the couch.", things) == 1
    assert best("the table to the left of the couch", things) == 2


@pytest.mark.parametrize(
    ("name", "fits", "other"),
    [
        ("red", (0.35, 0.18, 0.17), (0.55, 0.45, 0.42)),  # red in the shade, and a bright grey-brown
        ("blue", (0.15, 0.2, 0.35), (0.4, 0.42, 0.45)),
        ("black", (0.2, 0.2, 0.2), (0.35, 0.25, 0.2)),
        ("white", (0.7, 0.68, 0.62), (0.5, 0.5, 0.5)),
        ("brown", (0.33, 0.24, 0.17), (0.45, 0.44, 0.43)),
    ],
)
def test_a_colour_in_the_shade_is_still_that_colour(name, fits, other):
    near, far = color_distance(np.array([fits, other]), name)
    assert near < far


def test_a_named_colour_is_nearest_to_itself():
    names = [name for name in COLORS if name not in ("silver", "gray", "wooden", "brown", "beige")]
    colors = np.array([COLORS[name] for name in names])
    for i, name in enumerate(names):
        assert int(color_distance(colors, name).argmin()) == i
