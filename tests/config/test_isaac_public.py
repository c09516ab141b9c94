"""Tests of the profile for the public project Zhefan-Xu/isaac-go2-ros2: names, types and frames."""

from __future__ import annotations

import declared
import isaac_files
import pytest
import yaml

from lodestar.assembly.profiles import read_profiles
from lodestar_bringup.places import StackError
from lodestar_bringup.stack import StackOptions, names_elsewhere, stack
from lodestar_bringup.topics import ISAAC_GO2_ROS2

CONFIG = declared.ROOT / "config"

# Topics of that project with one robot, from ros2/go2_ros2_bridge.py (be8e4cc).
PUBLIC = {
    "unitree_go2/odom": "Odometry",
    "unitree_go2/lidar/point_cloud": "PointCloud2",
    "unitree_go2/cmd_vel": "Twist",
    "unitree_go2/front_cam/color_image": "Image",
    "unitree_go2/front_cam/depth_image": "Image",
    "unitree_go2/front_cam/semantic_segmentation_image": "Image",
    "unitree_go2/front_cam/semantic_segmentation_label": "String",
    "unitree_go2/front_cam/info": "CameraInfo",
}
UNUSED = {"unitree_go2/pose", "unitree_go2/front_cam/semantic_segmentation_image_vis"}
PUBLIC_OPTIONS = StackOptions(bridge="isaac_go2_ros2", navigator="nav2")


def test_every_topic_of_the_public_project_reaches_the_node_that_reads_its_type() -> None:
    assert {target for _, target in ISAAC_GO2_ROS2} == set(PUBLIC)
    assert not UNUSED & {target for _, target in ISAAC_GO2_ROS2}
    types = isaac_files.declared_types() | {"labels": {"Image"}}
    for source, target in ISAAC_GO2_ROS2:
        assert PUBLIC[target] in types.get(source, {"Image"}), source
    specs = {spec.name: dict(spec.remappings) for spec in stack("isaac", PUBLIC_OPTIONS)}
    assert specs["motion_gate"]["cmd_vel_out"] == "unitree_go2/cmd_vel"
    assert specs["mapping"]["points"] == specs["cloud_scan"]["points"] == "unitree_go2/lidar/point_cloud"
    assert specs["goal_selector"]["odom"] == "unitree_go2/odom"
    assert names_elsewhere("isaac", PUBLIC_OPTIONS) == ISAAC_GO2_ROS2
    assert names_elsewhere("isaac", StackOptions()) == ()


def test_its_profile_splits_by_depth_and_names_the_frames_that_it_lacks() -> None:
    specs = stack("isaac", PUBLIC_OPTIONS)
    assert [path.name for path in specs[0].parameter_files] == ["isaac.yaml", "isaac_go2_ros2.yaml"]
    robot = read_profiles(specs[0].parameter_files)
    assert robot.perception.components.by == "depth"
    profile = yaml.safe_load((CONFIG / "isaac_go2_ros2.yaml").read_text())
    equal = profile["/**/cloud_scan"]["ros__parameters"]["equal_frames"]
    assert equal == ["map=odom", "unitree_go2/base_link=base_link"]
    assert {spec.name: spec for spec in specs}["mapping"].parameters["source"] == "lidar"


def test_what_does_not_go_together_says_what_to_do() -> None:
    with pytest.raises(StackError, match="slam:=none"):
        stack("isaac", StackOptions(bridge="isaac_go2_ros2", slam="slam_toolbox"))
    with pytest.raises(StackError, match="take the use isaac"):
        stack("sim", StackOptions(bridge="isaac_go2_ros2"))
    with pytest.raises(StackError, match="lodestar, isaac_go2_ros2"):
        StackOptions(bridge="other")
