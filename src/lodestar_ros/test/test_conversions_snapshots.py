"""Tests of conversions of snapshots, in both directions, and of their RViz markers."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from visualization_msgs.msg import Marker

from lodestar.geometry.poses import planar_transform
from lodestar.memory.records import Snapshot, SnapshotDelta
from lodestar.scene.records import Entity
from lodestar_ros import conversions_scene as c
from lodestar_ros.conversions import BadMessage
from lodestar_ros.markers import snapshot_markers

ONE = Snapshot(3, 17, frozenset({5, 2, 9}), 4, "chair, table; chair next to table")
TWO = Snapshot(4, 18, frozenset({7}))


def test_a_delta_comes_back_as_it_was():
    delta = SnapshotDelta(12.5, 7, 5, (ONE, TWO), (1, 2))
    assert c.snapshots_from_msg(c.snapshots_to_msg(delta)) == delta
    assert list(c.snapshot_to_msg(ONE).entity_ids) == [2, 5, 9]


def test_a_snapshot_of_nothing_and_revisions_that_run_backwards_are_refused():
    for field, value in (("keyframe_id", 0), ("entity_ids", [])):
        message = c.snapshots_to_msg(SnapshotDelta(1.0, 1, 0, (ONE,)))
        setattr(message.updated[0], field, value)
        with pytest.raises(BadMessage, match="snapshot 3"):
            c.snapshots_from_msg(message)
    message = c.snapshots_to_msg(SnapshotDelta(1.0, 1, 0))
    message.previous_revision = 2
    with pytest.raises(BadMessage, match="revision 1"):
        c.snapshots_from_msg(message)


def test_markers_join_the_camera_with_what_its_image_stands_for():
    low = np.array([2.0, 0.0, 0.0])
    chair = Entity(5, "chair", "", low + 0.5, np.eye(3), low, low + 1.0)
    pose = planar_transform(1.0, -2.0, 0.5, 0.4)
    markers = snapshot_markers((ONE, TWO), {17: pose}, {5: chair}, 1.0).markers
    assert markers[0].action == Marker.DELETEALL
    assert {m.id for m in markers[1:]} == {3}, "the image of the other one is not known"
    (lines,) = [m for m in markers if m.ns == "shown"]
    assert [(p.x, p.y, p.z) for p in lines.points] == [(1.0, -2.0, 0.4), (2.5, 0.5, 0.5)]
    (text,) = [m for m in markers if m.type == Marker.TEXT_VIEW_FACING]
    assert text.text == "3 chair, table; chair next to table"
    (arrow,) = [m for m in markers if m.ns == "snapshots"]
    assert arrow.points[1].z == pytest.approx(0.4 + 0.4 * pose[2, 2])
