"""Tests that the process list contains a recorder or player when requested."""

from __future__ import annotations

from pathlib import Path

from lodestar_bringup.options import StackOptions
from lodestar_bringup.stack import stack
from lodestar_bringup.topics import REALSENSE_CAMERA, SIM_CAMERA, WIRING

BESIDE_ISAAC = StackOptions(record=True, bridge="isaac_go2_ros2", slam="none")


def test_a_recorder_hears_what_the_stack_hears_and_a_player_says_what_it_plays(tmp_path: Path) -> None:
    options = StackOptions(record=True, robot_topics="a", slam="none", navigator="external")
    (recorder,) = [spec for spec in stack("go2", options) if spec.name == "recorder"]
    names = dict(recorder.remappings)
    assert {*REALSENSE_CAMERA, *WIRING} <= set(names.items())
    assert names["sportmodestate"] == "/a/sportmodestate"
    assert [Path(path).name for path in recorder.parameters["profiles"]] == ["go2.yaml"]
    isaac = {spec.name: spec for spec in stack("isaac", BESIDE_ISAAC)}
    assert dict(isaac["recorder"].remappings)["cmd_vel_out"] == "unitree_go2/cmd_vel"
    sim = {spec.name: spec for spec in stack("sim", StackOptions(record=True, robot="go2_protocol"))}
    assert "odom" not in dict(sim["recorder"].remappings), "that of the base, not the one behind the stand-in"
    replay = {spec.name: spec for spec in stack("replay", StackOptions(bag=str(tmp_path), rate=0.5))}
    player = replay.pop("player")
    assert set(player.parameters["await_nodes"]) == set(replay) and player.parameters["rate"] == 0.5
    assert dict(player.remappings) == dict(SIM_CAMERA) and not player.restart
    beside_slam = stack("replay", StackOptions(bag=str(tmp_path), slam="slam_toolbox"))
    assert beside_slam[-1].parameters["localises"] is False
