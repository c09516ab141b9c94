"""A Unitree Go2 with a RealSense, SLAM Toolbox and Nav2; the camera's driver must run beside it."""

from launch import LaunchDescription
from lodestar_bringup.launch_entities import use_description


def generate_launch_description() -> LaunchDescription:
    return use_description("go2")
