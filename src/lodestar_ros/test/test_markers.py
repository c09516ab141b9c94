"""Tests of RViz markers of entities and rooms."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from lodestar.mapping.voxels.colors import colors_of
from lodestar.scene.records import Entity, EntityState, Region
from lodestar_ros.markers import entity_markers


def test_colours_stay_with_their_ids():
    colours = colors_of(np.array([3, 9, 3, 12]))
    assert colours.shape == (4, 3)
    assert np.array_equal(colours[0], colours[2])
    assert len({tuple(colour) for colour in colours}) == 3


def test_markers_show_boxes_by_instance_and_captions_by_state():
    low, high = np.array([0.0, 0.0, 0.0]), np.array([0.5, 0.4, 0.9])
    entities = [
        Entity(number, "chair", "red chair", (low + high) / 2, np.eye(3), low, high, state=state)
        for number, state in enumerate(
            (EntityState.ACTIVE, EntityState.UNCERTAIN, EntityState.ARCHIVED), start=1
        )
    ]
    markers = entity_markers(entities, 1.0).markers
    assert markers[0].action == markers[0].DELETEALL
    boxes = {m.id: m for m in markers if m.ns == "boxes"}
    captions = {m.id: m for m in markers if m.ns == "captions"}
    assert boxes.keys() == captions.keys() == {1, 2}
    assert boxes[1].color.a > boxes[2].color.a > 0.0
    assert captions[1].color != captions[2].color and "red chair" in captions[1].text
    assert boxes[1].scale.x == pytest.approx(0.5)


def test_rooms_with_a_name_are_shown():
    rooms = [Region(1, "kitchen", 0.8, 12.0, np.array([2.0, 3.0])), Region(2, "", 0.0, 4.0, np.zeros(2))]
    shown = [m for m in entity_markers((), 1.0, rooms).markers if m.ns == "rooms"]
    assert [(m.id, m.text, m.pose.position.x, m.pose.position.y) for m in shown] == [(1, "kitchen", 2.0, 3.0)]
