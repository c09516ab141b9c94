"""Tests of conversions of last-seen places, in both directions, and of invalid messages."""

from __future__ import annotations

import math

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from lodestar.memory.last_seen import LastSeen, RememberedPlaces
from lodestar.memory.records import MapName, Primitive
from lodestar_ros import conversions_memory as c
from lodestar_ros.conversions import BadMessage


def place(identity=3, stamp=12.5, label="mug", caption="red mug"):
    thing = Primitive(8, label, np.array([1.0, -2.0, 0.8]), np.array([0.1, 0.2, 0.3]), caption)
    return LastSeen(identity, thing, stamp, np.array([0.5, -1.0, 0.1]))


def sent(*places):
    return c.last_seen_to_msg(RememberedPlaces(MapName(2, "ab12"), 7, places), 20.0)


def test_places_come_back_as_they_were():
    message = sent(place(), place(4, None, "box", ""))
    assert (message.previous_revision, message.header.frame_id) == (0, "map")
    found = c.last_seen_from_msg(message)
    assert (found.map, found.revision) == (MapName(2, "ab12"), 7)
    first, second = found.places
    assert (first.id, first.stamp, first.thing.label, first.thing.caption) == (3, 12.5, "mug", "red mug")
    assert first.thing.centre == pytest.approx((1.0, -2.0, 0.8))
    assert first.thing.size == pytest.approx((0.1, 0.2, 0.3))
    assert first.eye == pytest.approx((0.5, -1.0, 0.1))
    assert first.thing.entity_id == 0, "ids of entities mean nothing in another session"
    assert (second.id, second.stamp) == (4, None)


def test_a_part_of_the_places_is_refused():
    message = sent(place())
    message.previous_revision = 6
    with pytest.raises(BadMessage, match="all at once"):
        c.last_seen_from_msg(message)


def test_boxes_that_make_no_sense_are_left_out_and_the_others_stay():
    message = sent(place(1), place(2), place(3))
    message.updated[0].box_min.x = math.nan
    message.updated[1].box_max.z = -50.0
    assert [one.id for one in c.last_seen_from_msg(message).places] == [3]


def test_a_place_without_a_view_is_looked_at_from_anywhere():
    message = sent(place())
    message.updated[0].views = []
    assert c.last_seen_from_msg(message).places[0].eye == pytest.approx((1.0, -2.0, 0.8))


def test_hostile_texts_are_cut_and_cleaned_and_a_flood_is_limited():
    message = sent(place(caption="a\x1b[31m\nmug " * 1000))
    (one,) = c.last_seen_from_msg(message).places
    assert one.thing.caption.isprintable() and len(one.thing.caption) <= 200
    message = sent(*[place(i) for i in range(1, c.MOST_PLACES + 10)])
    assert len(c.last_seen_from_msg(message).places) == c.MOST_PLACES
