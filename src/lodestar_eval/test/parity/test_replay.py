"""Tests of the replay: unusable messages are dropped and counted; no scan is used before the live grid contains it."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from lodestar.assembly.config import changed
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.models.phrases import PhraseBook
from lodestar.perception.ground_truth import NoiseConfig
from lodestar_eval.live.parity import topics
from lodestar_eval.live.parity.replay import RecordingPlayer
from lodestar_eval.settings import robot_config
from lodestar_ros.conversions import grid_to_msg
from lodestar_ros.conversions_sensors import cloud_to_msg
from lodestar_ros.transforms import TransformBuffer

NO_TURN = (0.0, 0.0, 0.0, 1.0)


def live_grid(stamp: float):
    return topics.GRID, grid_to_msg(OccupancyGrid2D(np.zeros((2, 2), np.int8), 0.05, (0.0, 0.0), stamp=stamp))


def turn(stamp: float, radius: float = 3.0):
    angles = np.linspace(0.0, 2.0 * np.pi, 200)
    ring = np.column_stack([np.cos(angles), np.sin(angles), np.zeros(200)]).astype(np.float32)
    return topics.POINTS, cloud_to_msg(ring * radius, stamp, "lidar_link")


def recording(heights: dict[float, float], *messages) -> SimpleNamespace:
    """Return a recording of a standing robot at a height (m) per stamp (s).

    messages: (topic, message); by default a scan at each stamp and a live grid at the last.
    """
    transforms = TransformBuffer(history=float("inf"))
    transforms.insert("base_link", "lidar_link", 0.0, (0.0, 0.0, 0.4), NO_TURN, static=True)
    transforms.insert("map", "odom", 0.0, (0.0, 0.0, 0.0), NO_TURN, static=True)
    for stamp, height in heights.items():
        transforms.insert("odom", "base_link", stamp, (0.0, 0.0, height), NO_TURN)
    messages = messages or (*(turn(stamp) for stamp in heights), live_grid(max(heights)))

    def heard(*wanted):
        return iter([message for message in messages if message[0] in wanted])

    return SimpleNamespace(transforms=transforms, messages=heard, decisions={}, directive=None, grid=None)


def play(heights: dict[float, float], *messages):
    flat = changed(
        robot_config(NoiseConfig()), mapping__octomap__floor__enabled=False
    )  # the LiDAR's rings do not show the floor
    return RecordingPlayer(recording(heights, *messages), flat, PhraseBook()).play()


def test_a_height_that_jumps_by_three_metres_is_dropped_and_counted():
    run = play({1.0: 0.0, 2.0: 0.0, 2.5: 3.0, 3.0: 0.0, 4.0: 0.0})
    assert run.dropped["height jumped"] == 1
    assert run.grid.free_area > 10.0, "the other turns were taken in"


def test_a_ramp_is_no_jump():
    assert play({1.0: 0.0, 2.0: 0.09, 3.0: 0.18}).dropped["height jumped"] == 0


def test_a_message_without_its_transform_is_dropped_and_counted():
    run = play({1.0: 0.0, 2.0: 0.0}, turn(1.0), turn(2.0), turn(9.0), live_grid(9.0))
    assert run.dropped["no transform"] == 1


def test_a_turn_waits_for_the_live_grid_that_holds_it():
    stamps = {1.0: 0.0, 2.0: 0.0, 3.0: 0.0}
    near, far = turn(1.0, radius=2.0), turn(3.0, radius=6.0)
    run = play(stamps, near, far, live_grid(2.0))
    assert run.grid.stamp == pytest.approx(1.0) and run.grid.free_area < 15.0
    run = play(stamps, near, far, live_grid(3.0))
    assert run.grid.stamp == pytest.approx(3.0) and run.grid.free_area > 80.0
