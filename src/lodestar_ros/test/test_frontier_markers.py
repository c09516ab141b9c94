"""Tests of RViz markers and messages of frontiers."""

import math

import numpy as np
from visualization_msgs.msg import Marker

from lodestar.experts.frontier_tracker import FrontierRecord
from lodestar_ros.conversions_agent import frontiers_to_msg
from lodestar_ros.markers import frontier_markers

OPEN = FrontierRecord(
    3, np.array([1.0, 2.0]), 40, np.array([0.5, 1.5, 0.7]), gain=4.0, path_length=2.5, keyframe_id=9
)
SHUT = FrontierRecord(4, np.array([5.0, 2.0]), 12, reason="no way leads to it")


def test_frontiers_go_out_with_viewpoint_image_and_reason():
    message = frontiers_to_msg((OPEN, SHUT), 12.5)
    first, second = message.frontiers
    assert (first.id, first.keyframe_id, first.reachable, first.path_length) == (3, 9, True, 2.5)
    assert (first.viewpoint.position.x, first.viewpoint.position.y) == (0.5, 1.5)
    assert not second.reachable and second.reason == "no way leads to it" and math.isinf(second.path_length)


def test_markers_show_viewpoints_and_why_a_frontier_is_out_of_reach():
    markers = frontier_markers((OPEN, SHUT), 12.5).markers
    assert markers[0].action == Marker.DELETEALL
    (text,) = [m for m in markers if m.type == Marker.TEXT_VIEW_FACING]
    assert text.text == "no way leads to it" and text.pose.position.x == 5.0
    assert sum(m.type == Marker.SPHERE for m in markers) == 2
    (arrow,) = [m for m in markers if m.ns == "viewpoints"]
    assert (arrow.pose.position.x, arrow.pose.position.y) == (0.5, 1.5)
