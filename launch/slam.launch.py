"""SLAM Toolbox with Lodestar's parameters; it publishes map->odom."""

from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from lodestar_bringup.launching import description, given, included, required_share
from lodestar_bringup.stack import config_folder


def _slam(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    share = required_share("slam_toolbox", "slam:=slam_toolbox")
    return [
        included(
            str(share / "launch" / "online_async_launch.py"),
            slam_params_file=str(config_folder() / "slam_toolbox.yaml"),
            use_sim_time=given(context, "use_sim_time"),
        )
    ]


def generate_launch_description() -> LaunchDescription:
    return description(["use_sim_time"], _slam)
