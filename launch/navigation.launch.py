"""Nav2's planner, controller, behaviours and navigator for a holonomic Go2; velocities leave on `cmd_vel`."""

from launch_ros.actions import Node

from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from lodestar_bringup.launch_entities import description, given, navigation_parameters, navigation_tree
from lodestar_bringup.preflight import NAV2_PACKAGES, refuse_missing

TO_SMOOTHER = [("cmd_vel", "cmd_vel_nav")]
SERVERS = {
    # package: (executable, remaps)
    "nav2_planner": ("planner_server", []),
    "nav2_controller": ("controller_server", TO_SMOOTHER),
    "nav2_behaviors": ("behavior_server", TO_SMOOTHER),
    "nav2_bt_navigator": ("bt_navigator", []),
    "nav2_velocity_smoother": ("velocity_smoother", [*TO_SMOOTHER, ("cmd_vel_smoothed", "cmd_vel")]),
}


def _navigation(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    refuse_missing(dict.fromkeys(NAV2_PACKAGES, "navigator:=nav2"))
    namespace = given(context, "namespace")
    clock = {"use_sim_time": given(context, "use_sim_time") == "true"}
    profile = navigation_parameters(namespace)
    own = {"bt_navigator": {"default_nav_to_pose_bt_xml": navigation_tree()}}
    servers = [
        Node(
            package=package,
            executable=executable,
            name=executable,
            namespace=namespace,
            parameters=[profile, {**clock, **own.get(executable, {})}],
            remappings=remaps,
            output="screen",
        )
        for package, (executable, remaps) in SERVERS.items()
    ]
    manager = Node(
        package="nav2_lifecycle_manager",
        executable="lifecycle_manager",
        name="lifecycle_manager_navigation",
        namespace=namespace,
        parameters=[{**clock, "autostart": True, "node_names": [name for name, _ in SERVERS.values()]}],
        output="screen",
    )
    return [*servers, manager]


def generate_launch_description() -> LaunchDescription:
    return description(["use_sim_time", "namespace"], _navigation)
