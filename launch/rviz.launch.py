"""RViz with Lodestar's layout."""

from launch_ros.actions import Node

from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from lodestar_bringup.launch_entities import description, given, required_share
from lodestar_bringup.places import config_folder


def _rviz(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    required_share("rviz2", "rviz:=true")
    return [
        Node(
            package="rviz2",
            executable="rviz2",
            name="rviz",
            namespace=given(context, "namespace"),
            arguments=["-d", str(config_folder() / "rviz" / "lodestar.rviz")],
            parameters=[{"use_sim_time": given(context, "use_sim_time") == "true"}],
        )
    ]


def generate_launch_description() -> LaunchDescription:
    return description(["use_sim_time", "namespace"], _rviz)
