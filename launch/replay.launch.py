"""Mapping from a recording: `bag:=FOLDER` plays it as soon as the nodes run; otherwise start a player with --clock."""

from launch import LaunchDescription
from lodestar_bringup.launch_entities import use_description


def generate_launch_description() -> LaunchDescription:
    return use_description("replay")
