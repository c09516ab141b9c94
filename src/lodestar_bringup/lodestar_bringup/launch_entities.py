"""The building blocks of the launch files; needs the `launch` and `launch_ros` packages of a ROS 2 installation."""

from __future__ import annotations

import atexit
import os
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from launch.actions import (
    DeclareLaunchArgument,
    ExecuteProcess,
    GroupAction,
    IncludeLaunchDescription,
    OpaqueFunction,
    SetLaunchConfiguration,
    Shutdown,
)
from launch.events.process import ProcessExited
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node, SetRemap

from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from lodestar.storage.run_folder import RunFolder
from lodestar_bringup.navigation import behavior_tree, navigation_profile, slam_profile
from lodestar_bringup.options import BRIDGES, DRIVERS, NAVIGATORS, PERCEPTION, ROBOTS, SLAM, StackOptions
from lodestar_bringup.places import config_folder, launch_folder
from lodestar_bringup.preflight import (
    needed_packages,
    rate_of,
    refuse_beside_another,
    refuse_missing,
    seed_of,
    share_of,
)
from lodestar_bringup.process_spec import ProcessSpec
from lodestar_bringup.stack import defaults_of, external, names_elsewhere, of_one_robot, page_link, stack
from lodestar_bringup.supervision import Supervision

ARGUMENTS: dict[str, tuple[str, str]] = {
    "world": (StackOptions.world, "simulator only: apartment, office, warehouse, a world file or a map"),
    "seed": (str(StackOptions.seed), "simulator only: seed of the world and of the sensors' noise"),
    "slam": ("none", "none: something else gives map->odom; slam_toolbox: SLAM Toolbox does"),
    "navigator": ("nav2", "sim: the simulator's navigator; nav2: Nav2; external: another one runs already"),
    "robot": (
        StackOptions.robot,
        "simulator only. sim: it takes velocities; go2_protocol: it speaks a Go2's topics, and go2_base drives it; "
        "isaac_bridge: it publishes as Isaac Sim does with our script",
    ),
    "bridge": (
        StackOptions.bridge,
        "lodestar: our script in isaac/; isaac_go2_ros2: the public project Zhefan-Xu/isaac-go2-ros2",
    ),
    "driver": (
        StackOptions.driver,
        "go2_base: the robot's own topics over Ethernet; webrtc: the community's driver; external: another one runs",
    ),
    "perception": (
        StackOptions.perception,
        "profile: as the profile says; on colour images nanodet: the networks of make detector; network: the packaged "
        "network for the simulator's buildings; measured: the simulator's labels with the errors of make detector's",
    ),
    "robot_topics": (
        StackOptions.robot_topics,
        "namespace of the Go2's own topics, where a bridge gives them under one; empty: as a Go2 has them",
    ),
    "namespace": ("", "namespace of every node and relative topic"),
    "params_file": ("", "a parameter file that wins over the profile"),
    "rviz": ("false", "true: open RViz with Lodestar's layout, and take directives and clicks from it"),
    "console": ("false", "true: a page in the browser, and the door for agents (docs/how-to/console.md)"),
    "signs": ("false", "whether signs are read, with make setup EXTRAS=signs"),
    "record": (
        "false",
        "true: write inputs and conclusions of the stack to a recording (docs/how-to/record.md)",
    ),
    "bag": (
        StackOptions.bag,
        "the recording that is played as soon as the nodes run; empty: another player runs, with its clock",
    ),
    "rate": (str(StackOptions.rate), "times the pace of the recording"),
    "use_sim_time": ("false", "true: run on /clock"),
}
_YES_OR_NO = ("true", "false")
STOP_PATIENCE = 20.0  # s from Ctrl-C until a running node gets SIGTERM; nodes write their maps meanwhile
_CHOICES = {
    "slam": SLAM,
    "navigator": NAVIGATORS,
    "robot": ROBOTS,
    "driver": DRIVERS,
    "bridge": BRIDGES,
    "perception": PERCEPTION,
    "rviz": _YES_OR_NO,
    "console": _YES_OR_NO,
    "record": _YES_OR_NO,
    "signs": _YES_OR_NO,
    "use_sim_time": _YES_OR_NO,
}


def declared(*names: str, **defaults: str) -> list[LaunchDescriptionEntity]:
    """Return launch argument declarations for the names, from the table ARGUMENTS. defaults: name -> other
    default.
    """
    return [
        DeclareLaunchArgument(
            name,
            default_value=defaults.get(name, ARGUMENTS[name][0]),
            description=ARGUMENTS[name][1],
            choices=_CHOICES.get(name),
        )
        for name in names
    ]


def given(context: LaunchContext, name: str, fallback: str = "") -> str:
    """Return the value of an argument, or the fallback if the launch file declares none."""
    return LaunchConfiguration(name, default=fallback).perform(context)


def node(spec: ProcessSpec, supervision: Supervision) -> Node:
    """Return the launch action that starts one process and restarts it if it dies."""

    def on_exit(event: ProcessExited, context: LaunchContext) -> list[LaunchDescriptionEntity]:
        if context.is_shutdown:
            return []
        reason = supervision.end_reason(spec.name, event.returncode, time.monotonic())
        return [Shutdown(reason=reason)] if reason else []

    return Node(
        package=spec.package,
        executable=spec.executable,
        name=spec.name,
        namespace=spec.namespace,
        parameters=[*(str(path) for path in spec.parameter_files), dict(spec.parameters)],
        remappings=list(spec.remappings),
        additional_env=spec.process_environment(),
        output="screen",
        emulate_tty=True,
        respawn=spec.restart,
        respawn_delay=supervision.limits.delay,
        sigterm_timeout=str(STOP_PATIENCE),
        on_exit=on_exit,
    )


def use_description(use: str) -> LaunchDescription:
    """Return the launch description of one use ("sim", "go2" ...): its processes, and SLAM, Nav2, RViz on
    request.
    """
    names = ["slam", "namespace", "params_file", "rviz"]
    names += ["bag", "rate"] if use == "replay" else ["navigator"]  # a replay needs no navigator
    names += [] if use == "go2_stand_in" else ["record", "perception", "signs", "console"]
    names += ["world", "seed"] if use in ("sim", "go2_stand_in") else []
    names += ["robot"] if use == "sim" else []
    names += ["driver"] if use == "go2" else []
    names += ["bridge"] if use == "isaac" else []
    names += ["robot_topics"] if use in ("go2", "go2_stand_in") else []
    return LaunchDescription(
        [
            *declared(*names, **defaults_of(use)),
            # Also for nodes of other packages' launch files: under load they need more than launch's 5 s.
            SetLaunchConfiguration("sigterm_timeout", str(STOP_PATIENCE)),
            OpaqueFunction(function=lambda context: _use_actions(context, use)),
        ]
    )


def _use_actions(context: LaunchContext, use: str) -> list[LaunchDescriptionEntity]:
    """Return the launch actions of a use ("sim", "go2" ...). Raises StackError, before any start, if a
    package or node is missing.
    """
    options = StackOptions(
        world=given(context, "world", StackOptions.world),
        seed=seed_of(given(context, "seed", str(StackOptions.seed))),
        slam=given(context, "slam"),
        navigator=given(context, "navigator", defaults_of(use)["navigator"]),
        robot=given(context, "robot", StackOptions.robot),
        driver=given(context, "driver", StackOptions.driver),
        bridge=given(context, "bridge", StackOptions.bridge),
        perception=given(context, "perception", StackOptions.perception),
        robot_topics=given(context, "robot_topics", StackOptions.robot_topics),
        namespace=given(context, "namespace"),
        operator=given(context, "rviz") == "true",
        console=given(context, "console") == "true",
        signs=given(context, "signs") == "true",
        record=given(context, "record") == "true",
        bag=given(context, "bag"),
        rate=rate_of(given(context, "rate", str(StackOptions.rate))),
        profiles=tuple(Path(path) for path in [given(context, "params_file")] if path),
    )
    specs = stack(use, options)
    shows = given(context, "rviz") == "true"
    peers = external(use, options)
    slam = options.slam if "slam" in peers else "none"
    navigator = options.navigator if "nav2" in peers else "external"
    refuse_missing(needed_packages(slam, navigator, shows), specs)
    refuse_beside_another(specs)
    clock = str(specs[0].parameters["use_sim_time"]).lower()
    supervision = Supervision(specs)
    run = RunFolder()
    actions: list[LaunchDescriptionEntity] = [
        node(spec.in_run(run.path, run.name), supervision) for spec in specs
    ]
    actions += [ExecuteProcess(cmd=page_link(), output="screen")] if options.console else []
    atexit.register(run.close)  # runs after the last node has ended, because nodes may write until then
    if any(spec.name == "go2_base" for spec in specs):
        actions += described(options.namespace, clock == "true")
    files = {
        "slam.launch.py": slam != "none",
        "navigation.launch.py": navigator == "nav2",
        "rviz.launch.py": shows,
    }
    others = [
        included(file, use_sim_time=clock, namespace=options.namespace)
        for file, wanted in files.items()
        if wanted
    ]
    moved = of_one_robot(use, options.namespace) + names_elsewhere(use, options)
    remaps = [SetRemap(source, target) for source, target in moved]
    return [*actions, GroupAction([*remaps, *others])] if others else actions


def described(namespace: str, simulated_time: bool) -> list[LaunchDescriptionEntity]:
    """Return the launch action of robot_state_publisher with the URDF of a Go2; empty if a package is
    missing.
    """
    share = share_of("lodestar_go2")
    if share is None or share_of("robot_state_publisher") is None:
        return []
    text = (share / "urdf" / "go2.urdf").read_text()
    parameters = {"robot_description": text, "use_sim_time": simulated_time}
    return [
        Node(
            package="robot_state_publisher",
            executable="robot_state_publisher",
            name="robot_state_publisher",
            namespace=namespace,
            parameters=[parameters],
            remappings=list(of_one_robot("go2", namespace)),
        )
    ]


def included(file: str, **arguments: str) -> IncludeLaunchDescription:
    """Return the inclusion of another launch file of Lodestar, or of an absolute path."""
    path = file if os.path.isabs(file) else str(launch_folder() / file)
    return IncludeLaunchDescription(PythonLaunchDescriptionSource(path), launch_arguments=arguments.items())


def description(
    names: Iterable[str], function: Callable[[LaunchContext], list[LaunchDescriptionEntity]]
) -> LaunchDescription:
    """Return a launch description with the arguments and the actions that the function builds from them."""
    return LaunchDescription([*declared(*names), OpaqueFunction(function=function)])


def navigation_parameters(namespace: str) -> str:
    """Return the path of nav2.yaml, adapted to the running distribution and the namespace."""
    distribution = os.environ.get("ROS_DISTRO", "")
    return _fitted("nav2.yaml", lambda text: navigation_profile(text, distribution, namespace))


def navigation_tree() -> str:
    """Return the path of navigate_to_pose.xml, adapted to the running distribution."""
    distribution = os.environ.get("ROS_DISTRO", "")
    return _fitted("navigate_to_pose.xml", lambda text: behavior_tree(text, distribution))


def slam_parameters(namespace: str) -> str:
    """Return the path of slam_toolbox.yaml, adapted to the namespace."""
    return _fitted("slam_toolbox.yaml", lambda text: slam_profile(text, namespace))


def _fitted(name: str, fit: Callable[[str], str]) -> str:
    source = config_folder() / name
    text = source.read_text()
    fitted = fit(text)
    if fitted == text:
        return str(source)
    with tempfile.NamedTemporaryFile("w", prefix="lodestar_", suffix=f"_{name}", delete=False) as file:
        file.write(fitted)
    atexit.register(Path(file.name).unlink, missing_ok=True)
    return file.name


def required_share(package: str, what_for: str) -> Path:
    """Return the share folder of an optional package. Raises StackError if it is not installed."""
    refuse_missing({package: what_for})
    share = share_of(package)
    assert share is not None
    return share
