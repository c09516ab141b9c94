"""SLAM Toolbox with Lodestar's parameters; it publishes map->odom."""

from launch.actions import GroupAction
from launch_ros.actions import PushRosNamespace

from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from lodestar_bringup.launch_entities import description, given, included, required_share, slam_parameters


def _slam(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    share = required_share("slam_toolbox", "slam:=slam_toolbox")
    namespace = given(context, "namespace").strip("/")
    toolbox = included(
        str(share / "launch" / "online_async_launch.py"),
        slam_params_file=slam_parameters(namespace),
        use_sim_time=given(context, "use_sim_time"),
    )
    return [GroupAction([PushRosNamespace(namespace), toolbox])] if namespace else [toolbox]


def generate_launch_description() -> LaunchDescription:
    return description(["use_sim_time", "namespace"], _slam)
