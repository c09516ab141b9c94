"""Tests of reading keep-out masks."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from closed_areas import closed_area

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from nav2_msgs.msg import CostmapFilterInfo

from lodestar.floors.records import Building, Floor
from lodestar.grid.occupancy import COMFORT, HELD_BACK, OCCUPIED, OccupancyGrid2D
from lodestar_ros.conversions import grid_to_msg
from lodestar_ros.conversions_world import ways_to_msg
from lodestar_ros.keep_out import KEEP_OUT, KeepOutInput
from lodestar_ros.scene_fields import SceneFields


def test_what_is_held_back_for_nav2_is_forbidden_for_everybody_else():
    heard = {}
    node = SimpleNamespace(listen=lambda kind, topic, callback, profile: heard.update({topic: callback}))
    keep_out = KeepOutInput(node)
    heard["costmap_filter_info"](
        CostmapFilterInfo(type=KEEP_OUT, base=0.0, multiplier=1.0, filter_mask_topic="mask")
    )
    cells = np.array([[OCCUPIED, HELD_BACK, 49, 0, -1]], np.int8)
    heard["mask"](grid_to_msg(OccupancyGrid2D(cells, 0.1, (0.0, 0.0))))
    seen = keep_out.apply(OccupancyGrid2D(np.zeros((1, 5), np.int8), 0.1, (0.0, 0.0)))
    assert seen.keep_out.tolist() == [[True, True, False, False, False]]


def test_people_near_are_costly_and_forbid_nothing():
    heard = {}
    node = SimpleNamespace(listen=lambda kind, topic, callback, profile: heard.update({topic: callback}))
    keep_out = KeepOutInput(node)
    heard["costmap_filter_info"](
        CostmapFilterInfo(type=KEEP_OUT, base=0.0, multiplier=1.0, filter_mask_topic="mask")
    )
    cells = np.array([[OCCUPIED, COMFORT, 1, 0, COMFORT + 1]], np.int8)
    heard["mask"](grid_to_msg(OccupancyGrid2D(cells, 0.1, (0.0, 0.0))))
    seen = keep_out.apply(OccupancyGrid2D(np.zeros((1, 5), np.int8), 0.1, (0.0, 0.0)))
    assert seen.keep_out.tolist() == [[True, False, False, False, False]]
    assert seen.comfort.tolist() == [[0, COMFORT, 1, 0, 0]]


def test_a_zone_of_another_floor_is_laid_when_the_robot_comes_there():
    laid, refreshed = [], []
    fields = object.__new__(SceneFields)
    fields._ways, fields._building = (), Building()
    fields._chain = SimpleNamespace(follow_ways=lambda ways: laid.append(list(ways)) or True)
    fields._worker = SimpleNamespace(submit=refreshed.append)
    zone = closed_area(((0.0, 0.0), (1.0, 0.0), (1.0, 1.0)), "wet floor")
    upstairs, below = replace(zone, floor=2), replace(zone, floor=1)
    fields._on_ways(ways_to_msg((upstairs, below, zone), 1.0))
    floors = Floor(1, 0, 0.0), Floor(2, 1, 3.0)
    for active in (1, 0, 2):
        fields._take_building(Building(floors, active=active))
    assert laid == [[upstairs, below, zone], [below, zone], [upstairs, below, zone], [upstairs, zone]]
    assert len(refreshed) == 4
