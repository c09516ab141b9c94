"""A simulated Go2 with its surroundings, for go2.launch.py on another computer."""

from launch import LaunchDescription
from lodestar_bringup.launch_entities import use_description


def generate_launch_description() -> LaunchDescription:
    return use_description("go2_stand_in")
