"""Mapping from a recording: `bag:=FOLDER` plays it, otherwise start the player by hand with --clock."""

from launch.actions import DeclareLaunchArgument, ExecuteProcess, OpaqueFunction

from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from lodestar_bringup.launch_entities import given, use_description


def _player(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    bag = given(context, "bag")
    if not bag:
        return []
    command = ["ros2", "bag", "play", bag, "--clock", "--rate", given(context, "rate")]
    return [ExecuteProcess(cmd=command, output="screen")]


def generate_launch_description() -> LaunchDescription:
    stack = use_description("replay")
    return LaunchDescription(
        [
            DeclareLaunchArgument("bag", default_value="", description="folder of the recording"),
            DeclareLaunchArgument("rate", default_value="1.0", description="speed of the replay"),
            *stack.entities,
            OpaqueFunction(function=_player),
        ]
    )
