"""A Go2 and its surroundings as another computer would have them, for go2.launch.py beside it."""

from launch import LaunchDescription
from lodestar_bringup.launch_entities import use_description


def generate_launch_description() -> LaunchDescription:
    return use_description("go2_stand_in")
