"""Test of stairs over DDS: the whole stack finds a flight, walks over it through the gate, and changes floor."""

from __future__ import annotations

import json

import pytest
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
from std_msgs.msg import String

from integration.surroundings import LONG, PATIENT
from lodestar_interfaces.action import FollowDirective
from lodestar_interfaces.msg import RegionArray
from lodestar_ros import qos

pytestmark = [pytest.mark.alone, pytest.mark.slow]

ALLOWED = {"shared.floors.stairs": True}


def test_the_robot_takes_the_stairs_and_says_where_it_is(bed, processes):
    processes.start(
        world="apartment?storeys=2", seed=33,
        parameters={
            "sim": {"camera_width": 160, "camera_height": 120}, "mapping": ALLOWED,
            "goal_selector": ALLOWED | PATIENT | {"loop.grid_patience": LONG},
        },
    )  # fmt: skip
    bed.hear(String, "mapping/building", qos.LATCHED)
    bed.hear(Twist, "cmd_vel_out", qos.COMMAND)
    bed.hear(Odometry, "sim/ground_truth", qos.EVENT)
    bed.until(lambda: bed.heard["mapping/building"], "a floor")
    bed.hear(RegionArray, "scene_dictionary/regions", qos.LATCHED)

    def rooms() -> set[int]:
        regions = (
            bed.last("scene_dictionary/regions").regions if bed.heard["scene_dictionary/regions"] else []
        )
        return {int(region.id) for region in regions}

    bed.until(rooms, "rooms")
    downstairs = rooms()
    follow = bed.action(FollowDirective, "follow_directive")
    result = follow.result(FollowDirective.Goal(text="take the stairs up"))
    assert result.error_code == 0, result.report
    assert "I am on the second floor" in result.report
    told = lambda: json.loads(bed.last("mapping/building").data)  # noqa: E731
    bed.until(lambda: told()["active"] == 2, "the word of the second floor")
    building = told()
    assert len(building["floors"]) == 2
    assert [(one["lower"], one["upper"]) for one in building["passages"]] == [(1, 2)]
    bed.until(lambda: rooms() and not rooms() & downstairs, "rooms of the second floor alone")
    assert bed.last("sim/ground_truth").pose.pose.position.z > 2.5
    processes.assert_alive()
