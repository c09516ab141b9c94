"""What the headless robot cannot use of a recording is dropped and counted."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from lodestar.models.phrases import PhraseBook
from lodestar.perception.ground_truth import NoiseConfig
from lodestar_eval.live.parity import topics
from lodestar_eval.live.parity.replay import RecordingPlayer
from lodestar_eval.settings import robot_config
from lodestar_ros.conversions import cloud_to_msg
from lodestar_ros.transforms import TransformBuffer

NO_TURN = (0.0, 0.0, 0.0, 1.0)


def recording(heights: dict[float, float]) -> SimpleNamespace:
    """A robot that stands still, at a height (m) per stamp (s), with a turn of the LiDAR at each of them."""
    transforms = TransformBuffer(history=float("inf"))
    transforms.insert("base_link", "lidar_link", 0.0, (0.0, 0.0, 0.4), NO_TURN, static=True)
    transforms.insert("map", "odom", 0.0, (0.0, 0.0, 0.0), NO_TURN, static=True)
    for stamp, height in heights.items():
        transforms.insert("odom", "base_link", stamp, (0.0, 0.0, height), NO_TURN)
    angles = np.linspace(0.0, 2.0 * np.pi, 200)
    ring = np.column_stack([3.0 * np.cos(angles), 3.0 * np.sin(angles), np.zeros(200)]).astype(np.float32)
    turns = [(topics.POINTS, cloud_to_msg(ring, stamp, "lidar_link")) for stamp in heights]

    def messages(*wanted):
        return iter([turn for turn in turns if turn[0] in wanted])

    return SimpleNamespace(transforms=transforms, messages=messages, decisions=[], directive=None, grid=None)


def play(heights: dict[float, float]):
    return RecordingPlayer(recording(heights), robot_config(NoiseConfig()), PhraseBook()).play()


def test_a_height_that_jumps_by_three_metres_is_dropped_and_counted():
    run = play({1.0: 0.0, 2.0: 0.0, 2.5: 3.0, 3.0: 0.0, 4.0: 0.0})
    assert run.dropped["height jumped"] == 1
    assert run.robot.map.plan.grid.free_area > 10.0, "the other turns were taken in"


def test_a_ramp_is_no_jump():
    assert play({1.0: 0.0, 2.0: 0.09, 3.0: 0.18}).dropped["height jumped"] == 0


def test_a_message_without_its_transform_is_dropped_and_counted():
    broken = recording({1.0: 0.0, 2.0: 0.0})
    late = (topics.POINTS, cloud_to_msg(np.ones((5, 3), np.float32), 9.0, "lidar_link"))
    turns = list(broken.messages(topics.POINTS))
    broken.messages = lambda *wanted: iter([*turns, late] if topics.POINTS in wanted else [])
    run = RecordingPlayer(broken, robot_config(NoiseConfig()), PhraseBook()).play()
    assert run.dropped["no transform"] == 1
