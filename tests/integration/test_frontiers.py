"""Tests of the frontier expert as a process: published frontiers."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest
from nav_msgs.msg import OccupancyGrid

from lodestar.experts.protocol import ProposalRequest
from lodestar.geometry.camera import PinholeCamera
from lodestar.geometry.poses import BODY_FROM_OPTICAL, planar_transform
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.keyframes.records import Keyframe
from lodestar.language.grammar import parse_directive
from lodestar_interfaces import msg
from lodestar_interfaces.action import ProposeGoal
from lodestar_ros import qos
from lodestar_ros.conversions import grid_to_msg
from lodestar_ros.conversions_agent import request_to_goal
from lodestar_ros.conversions_scene import keyframe_to_msg

CAMERA = PinholeCamera(320, 240, 190.0, 190.0, 159.5, 119.5)  # field of view of 80 degrees

SAID = "frontier_expert/frontiers"


def hall() -> OccupancyGrid2D:
    """Return the grid of a hall, 12 m x 6 m: free in the middle, walls at the sides, unknown at both ends."""
    cells = np.full((60, 120), -1, np.int8)
    cells[:, 20:100] = 0
    cells[[0, -1], :] = 100
    return OccupancyGrid2D(cells, 0.1, (-6.0, -3.0), time.time())


def looking(number: int, heading: float) -> Keyframe:
    return Keyframe(
        number, time.time(), planar_transform(0.0, 0.0, heading, z=0.4) @ BODY_FROM_OPTICAL, CAMERA
    )


@pytest.fixture(scope="module")
def expert(bed, processes):
    """Return a function that asks the expert from the middle of the hall and returns the published frontiers."""
    grids = bed.on_executor(lambda: bed.node.create_publisher(OccupancyGrid, "grid", qos.LATCHED))
    bed.hear(msg.FrontierArray, SAID, qos.LATCHED)
    grids.publish(grid_to_msg(hall()))
    processes.start("frontier_expert")
    action = bed.action(ProposeGoal, "frontier_expert/propose")

    def ask():
        now = time.time()
        request = ProposalRequest(
            1, now, parse_directive("explore the building"), 0, np.zeros(3), deadline=now + 30.0
        )
        bed.forget(SAID)
        result = action.result(request_to_goal(request))
        told = bed.until(lambda: bed.last(SAID), "the frontiers").frontiers if result.error_code == 0 else []
        return result, told

    bed.until(lambda: ask()[0].error_code == 0, "the grid arrives")
    return ask


def test_a_frontier_is_published_with_where_it_is_looked_into_from_and_what_that_shows(expert):
    result, told = expert()
    assert "Exploring" in result.proposal.rationale or "Turning" in result.proposal.rationale
    reachable = [frontier for frontier in told if frontier.reachable]
    assert {frontier.centroid.x > 0.0 for frontier in reachable} == {True, False}, "both ends"
    assert all(
        frontier.information_gain > 0.5 and math.isfinite(frontier.path_length) for frontier in reachable
    )
    assert len({frontier.id for frontier in told}) == len(told)


def test_keyframes_that_come_at_once_all_reach_the_frontiers(bed, expert):
    images = bed.on_executor(
        lambda: bed.node.create_publisher(msg.Keyframe, "keyframes/keyframes", qos.EVENT)
    )
    bed.until_heard(images)
    for keyframe in (looking(7, 0.0), looking(8, math.pi), looking(8, math.pi), looking(9, math.pi / 2)):
        images.publish(keyframe_to_msg(keyframe))
    bed.until(lambda: {f.keyframe_id for f in expert()[1]} >= {7, 8}, "an image of either end")


def test_a_deleted_keyframe_is_no_image_of_a_frontier_any_more(bed, expert):
    """Must run after the test above: keyframes 7 and 8 show the hall's ends."""
    stored = bed.on_executor(
        lambda: bed.node.create_publisher(msg.StoredKeyframes, "keyframes/stored", qos.LATCHED)
    )
    assert {f.keyframe_id for f in expert()[1]} >= {7, 8}
    stored.publish(msg.StoredKeyframes(next_id=10, ids=[7, 9]))
    bed.until(lambda: 8 not in (ids := {f.keyframe_id for f in expert()[1]}) and 7 in ids, "8 is dropped")
    stored.publish(msg.StoredKeyframes(loads=1, next_id=20, ids=[7]))
    bed.until(lambda: {f.keyframe_id for f in expert()[1]} == {0}, "7 means another image after a load")
