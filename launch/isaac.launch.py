"""A Go2 in Isaac Sim with its ROS 2 bridge, SLAM Toolbox and Nav2."""

from launch import LaunchDescription
from lodestar_bringup.launch_entities import use_description


def generate_launch_description() -> LaunchDescription:
    return use_description("isaac")
