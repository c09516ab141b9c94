"""The processes of each use of the stack, with executables, parameters and remaps, for launch files and
starter.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from lodestar.assembly.profiles import ProfileError, check_names, check_profiles
from lodestar.experts.registry import experts
from lodestar_bringup.options import PERCEPTION, StackOptions
from lodestar_bringup.places import StackError, config_folder
from lodestar_bringup.process_spec import ONE_THREAD, ProcessSpec, middleware_of
from lodestar_bringup.topics import (
    CONSOLE,
    ISAAC_CAMERA,
    ISAAC_GO2_ROS2,
    OF_ONE_ROBOT,
    PLAYED_REALSENSE,
    PLAYED_SLAM,
    REALSENSE_CAMERA,
    SIM_CAMERA,
    STAND_IN,
    WEBRTC_DRIVER,
    Remaps,
    go2_topics,
    wiring,
)

EXTERNAL = ("slam", "nav2")

_BODY = 0.31  # m, base_link of the simulated Go2 above the ground
_BEHIND_STAND_IN: dict[str, object] = {
    "publish_robot_frames": False,
    "simulator.robot.base_height": _BODY,
    "simulator.sensors.lidar.x": 0.28945,  # m, position of the L1 LiDAR in go2_description
    "simulator.sensors.lidar.z": round(_BODY - 0.046825, 6),  # m above the ground, from the same source
}

ISAAC_BODY = 0.32  # m, base_link above the ground, as in isaac/contract.yaml
_AS_ISAAC: dict[str, object] = {"isaac_bridge": True, "simulator.robot.base_height": ISAAC_BODY}

_ONLY_WATCH = ("console",)  # no process waits for these, and their faults do not end a directive

# A restarted gate would not know of a latched stop, a new simulator is another world, and a replay that begins again
# sets the clock back.
_NEVER_RESTARTED = ("motion_gate", "sim", "player")

# Processes that write checkpoints to the run's folder, from which a restarted process continues.
_KEEPERS = ("mapping", "semantic_voxels", "scene_dictionary", "keyframes", "memory", "world_model")

# --- small lists of processes --------------------------------------------------------------------------


def _ros(*names: str, remappings: Remaps) -> list[ProcessSpec]:
    return [ProcessSpec("lodestar_ros", name, name, remappings=wiring() + remappings) for name in names]


def mapping_stack(camera: Remaps, options: StackOptions) -> list[ProcessSpec]:
    """Return the processes of perception, grid, keyframes, semantic map and memory. With SLAM, the grid is
    made from SLAM's map. camera: remaps of the camera's topics.
    """
    parameters: dict[str, object] = {"source": "slam"} if options.slam == "slam_toolbox" else {}
    if camera in (ISAAC_CAMERA, ISAAC_GO2_ROS2) and options.slam == "none":
        parameters = {"source": "lidar"}
    mapping = ProcessSpec(
        "lodestar_ros", "mapping", "mapping", parameters=parameters, remappings=wiring() + camera
    )
    names = ("perception", "keyframes", "semantic_voxels", "scene_dictionary", "text_embedder", "memory")
    reads = ("sign_reader",) if options.signs else ()
    return [mapping, *_ros(*names, *reads, remappings=camera)]


def decision_stack(camera: Remaps) -> list[ProcessSpec]:
    """Return the processes of the experts, which propose goals, of the goal selector and of the world
    model.
    """
    remappings = wiring() + camera
    proposers = [
        ProcessSpec("lodestar_ros", spec.executable, spec.node, remappings=remappings) for spec in experts()
    ]
    return [*proposers, *_ros("goal_selector", "world_model", remappings=camera)]


def motion_stack(names: Remaps = ()) -> list[ProcessSpec]:
    """Return the process of the motion gate, which passes velocities to the base. names: remaps of its
    topics.
    """
    return _ros("motion_gate", remappings=names)


def operator_stack(options: StackOptions, use: str) -> list[ProcessSpec]:
    """Return the process for directives by text and clicks, if it is requested and the use follows directives."""
    if not options.operator or not _USES[use].decides:
        return []
    return _ros("operator", remappings=())


def console_stack(options: StackOptions, use: str, specs: list[ProcessSpec]) -> list[ProcessSpec]:
    """Return the process of the web console, which waits for the nodes in `specs`, if it is requested."""
    if not options.console:
        return []
    if use == "go2_stand_in":
        raise StackError("go2_stand_in is watched by the stack beside it: give console to go2")
    awaited = [spec.name for spec in specs if spec.package.startswith("lodestar_")]
    camera = next((spec.remappings for spec in specs if spec.name == "perception"), ())
    names = dict((*wiring(), *camera, *CONSOLE))
    return [
        ProcessSpec(
            "lodestar_console",
            "console",
            "console",
            parameters={"await_nodes": awaited},
            remappings=tuple(names.items()),
        )
    ]


def page_link() -> list[str]:
    """Return the command that waits for a starting stack's web console and prints a one-time link to it."""
    return [sys.executable, "-m", "lodestar_console.link", "--since", f"{time.time():.2f}"]


def recording_stack(options: StackOptions, use: str, specs: list[ProcessSpec]) -> list[ProcessSpec]:
    """Return the process that records inputs and outputs of the processes `specs`, if it is requested."""
    if not options.record:
        return []
    if use == "go2_stand_in":
        raise StackError("go2_stand_in is recorded by the stack beside it: give record to go2")
    ours = [spec for spec in specs if spec.package == "lodestar_ros"]
    names = dict(pair for spec in ours for pair in spec.remappings)
    if any(spec.name == "go2_base" for spec in specs):
        names |= dict(go2_topics(options.robot_topics))
    return [ProcessSpec("lodestar_ros", "recorder", "recorder", remappings=tuple(names.items()))]


def driver_stack(options: StackOptions) -> list[ProcessSpec]:
    """Return the processes that drive a Go2: base, its watchdog and LiDAR, or the community's WebRTC
    driver.
    """
    if options.driver == "external":
        return []
    if options.driver == "webrtc":
        return [
            ProcessSpec(
                "go2_robot_sdk",
                "go2_driver_node",
                "go2_driver_node",
                parameters={"conn_type": "webrtc"},
                remappings=WEBRTC_DRIVER,
            )
        ]
    names = ("go2_base", "go2_guard", "go2_lidar")
    topics = go2_topics(options.robot_topics)
    return [ProcessSpec("lodestar_go2", name, name, remappings=topics) for name in names]


def stand_in(options: StackOptions) -> ProcessSpec:
    """Return the process that imitates a Go2 by connecting the Go2's topics with the simulator."""
    return ProcessSpec(
        "lodestar_sim",
        "go2_stand_in",
        "go2_stand_in",
        parameters={"seed": options.seed},
        remappings=go2_topics(options.robot_topics),
    )


def simulator_stack(options: StackOptions) -> list[ProcessSpec]:
    """Return the simulator of building and robot, and its navigator unless Nav2 drives."""
    if options.robot == "go2_protocol":
        body = [_simulator(options, _BEHIND_STAND_IN, STAND_IN), stand_in(options)]
    elif options.robot == "isaac_bridge":
        body = [_simulator(options, _AS_ISAAC), cloud_scan()]
    else:
        body = [_simulator(options)]
    return [*body, *_simulated_navigator(options)]


def cloud_scan(names: Remaps = ()) -> ProcessSpec:
    """Return the process that converts Isaac Sim's clouds to a scan. names: remaps of its topics."""
    return ProcessSpec("lodestar_go2", "cloud_scan", "cloud_scan", remappings=names)


def _simulator(
    options: StackOptions, parameters: Mapping[str, object] | None = None, remappings: Remaps = ()
) -> ProcessSpec:
    own = {"world": options.world, "seed": options.seed, "publish_map_to_odom": options.slam == "none"}
    return ProcessSpec(
        "lodestar_sim", "sim", "sim", parameters={**own, **(parameters or {})}, remappings=remappings
    )


def _simulated_navigator(options: StackOptions) -> list[ProcessSpec]:
    if options.navigator != "sim":
        return []
    return [ProcessSpec("lodestar_sim", "sim_navigator", "sim_navigator", remappings=wiring())]


# --- the uses ------------------------------------------------------------------------------------------


def _sim(options: StackOptions) -> list[ProcessSpec]:
    camera = ISAAC_CAMERA if options.robot == "isaac_bridge" else SIM_CAMERA
    return (
        simulator_stack(options)
        + (driver_stack(options) if options.robot == "go2_protocol" else [])
        + mapping_stack(camera, options)
        + decision_stack(camera)
        + motion_stack()
    )


def _go2(options: StackOptions) -> list[ProcessSpec]:
    camera = REALSENSE_CAMERA
    return driver_stack(options) + mapping_stack(camera, options) + decision_stack(camera) + motion_stack()


def _go2_stand_in(options: StackOptions) -> list[ProcessSpec]:
    """Return the processes that simulate a Go2 and its building, for a stack of the use "go2" on another
    computer.

    If SLAM or Nav2 runs on that computer, they are not simulated here.
    """
    sim = _simulator(options, {"real_time": True, **_BEHIND_STAND_IN}, STAND_IN + PLAYED_REALSENSE)
    slam = ProcessSpec(
        "lodestar_ros", "mapping", "slam_stand_in", parameters={"source": "scan"}, remappings=PLAYED_SLAM
    )
    return [
        sim,
        stand_in(options),
        *([slam] if options.slam == "none" else []),
        *_simulated_navigator(options),
    ]


def _isaac(options: StackOptions) -> list[ProcessSpec]:
    names = ISAAC_CAMERA if options.bridge == "lodestar" else ISAAC_GO2_ROS2
    own = mapping_stack(names, options) + decision_stack(names) + motion_stack(names)
    return [cloud_scan(names), *own]


def _replay(options: StackOptions) -> list[ProcessSpec]:
    """Return the mapping processes and the player of a recording; without decisions or motion."""
    mapping = mapping_stack(SIM_CAMERA, options)
    if not options.bag:
        return mapping
    parameters: dict[str, object] = {
        "bag": str(Path(options.bag).expanduser().resolve()),
        "rate": options.rate,
        "localises": options.slam == "none",
        "await_nodes": [spec.name for spec in mapping],
    }
    return [
        *mapping,
        ProcessSpec("lodestar_ros", "player", "player", parameters=parameters, remappings=SIM_CAMERA),
    ]


@dataclass(frozen=True)
class Use:
    """One use of the stack, such as "sim" or "go2": its processes, clock, and default SLAM and navigator.

    alone: other software publishes on the global /tf, so transforms are not remapped into a namespace.
    decides: the stack follows directives.
    """

    compose: Callable[[StackOptions], list[ProcessSpec]]
    simulated_time: bool
    slam: str
    navigator: str
    alone: bool = False
    decides: bool = True


_USES: dict[str, Use] = {
    "sim": Use(_sim, True, "none", "sim"),
    "go2": Use(_go2, False, "slam_toolbox", "nav2"),
    "go2_stand_in": Use(_go2_stand_in, False, "none", "sim", decides=False),
    "isaac": Use(_isaac, True, "slam_toolbox", "nav2", alone=True),
    "replay": Use(_replay, True, "none", "external", alone=True, decides=False),
}
USES = tuple(_USES)


def defaults_of(use: str) -> dict[str, str]:
    """Return the default options `slam` and `navigator` of a use ("sim", "go2" ...)."""
    return {"slam": _USES[use].slam, "navigator": _USES[use].navigator}


def of_one_robot(use: str, namespace: str) -> Remaps:
    """Return the remaps that separate the transforms of a robot in a namespace from those of other robots."""
    return OF_ONE_ROBOT if namespace.strip("/") and not _USES[use].alone else ()


def names_elsewhere(use: str, options: StackOptions) -> Remaps:
    """Return the remaps that SLAM and Nav2 need for a simulator with other topic names."""
    return ISAAC_GO2_ROS2 if use == "isaac" and options.bridge == "isaac_go2_ros2" else ()


def _of_use(use: str, options: StackOptions) -> StackOptions:
    """Return the options with the use's navigator if none is chosen. Raises StackError for options that the
    use lacks.
    """
    chosen = replace(options, navigator=options.navigator or _USES[use].navigator)
    if chosen.navigator == "sim" and use not in ("sim", "go2_stand_in"):
        raise StackError(
            f"navigator is sim, which drives in the simulator alone: for {use} take nav2, or external where another "
            "server of navigate_to_pose runs"
        )
    if chosen.driver == "webrtc" and use != "go2":
        raise StackError("driver is webrtc, which drives a real Go2 alone")
    if chosen.bridge != "lodestar" and use != "isaac":
        raise StackError(
            f"bridge is {chosen.bridge}, which names the topics of Isaac Sim alone: take the use isaac"
        )
    if chosen.bridge == "isaac_go2_ros2" and chosen.slam != "none":
        raise StackError(
            "isaac_go2_ros2 publishes the robot's place in map itself: take slam:=none (--slam none) beside it"
        )
    if chosen.perception == "measured" and use not in ("sim", "go2_stand_in"):
        raise StackError("perception is measured, which adds errors to the simulator's labels alone")
    if chosen.robot != "sim" and use != "sim":
        raise StackError(f"robot is {chosen.robot}, which plays in the simulator alone")
    if chosen.bag and use != "replay":
        raise StackError("bag is played by the use replay alone")
    return chosen


def external(use: str, options: StackOptions) -> tuple[str, ...]:
    """Return which of "slam" and "nav2", ROS packages with their own launch files, a use needs."""
    options = _of_use(use, options)
    names = {spec.name for spec in _USES[use].compose(options)}
    maps = "mapping" in names and options.slam == "slam_toolbox"
    drives = "motion_gate" in names and "sim_navigator" not in names and options.navigator != "external"
    return tuple(name for name, needed in zip(EXTERNAL, (maps, drives), strict=True) if needed)


def _every_node() -> set[str]:
    """Return the names of all Lodestar nodes, for any use."""
    whole = StackOptions(operator=True, signs=True, record=True, console=True, robot="go2_protocol")
    specs = [spec for use in _USES.values() for spec in use.compose(replace(whole, navigator="sim"))]
    return {spec.name for spec in specs} | {"operator", "recorder", "player", "cloud_scan", "console"}


def stack(use: str, options: StackOptions | None = None) -> list[ProcessSpec]:
    """Return all processes of a use ("sim", "go2" ...), with its parameter profile, clock and the options
    applied.

    Raises StackError for an unknown use, a missing profile, one that sets a parameter twice, or parameters
    for a node that is not started.
    """
    options = options or StackOptions()
    if use not in _USES:
        raise StackError(f"unknown use {use!r}; it is one of {', '.join(USES)}")
    options = _of_use(use, options)
    added = {
        "go2_protocol": options.robot == "go2_protocol",
        "isaac": options.robot == "isaac_bridge",
        "isaac_go2_ros2": options.bridge == "isaac_go2_ros2",
        "go2_webrtc": options.driver == "webrtc",
        options.perception: options.perception != PERCEPTION[0],
        "signs": options.signs,
    }
    files = (
        config_folder() / f"{use}.yaml",
        *(config_folder() / f"{name}.yaml" for name, wanted in added.items() if wanted),
        *(path.expanduser().resolve() for path in options.profiles),
    )
    for path in files:
        if not path.is_file():
            raise StackError(f"the parameter profile {path} does not exist")
    try:
        check_profiles(files)
        check_names(files, _every_node())
    except ProfileError as error:
        raise StackError(str(error)) from error
    specs = [*_USES[use].compose(options), *operator_stack(options, use)]
    # annotated images for people only on request, because they need a subscription to the camera
    shown = {spec.node: spec.shown for spec in experts()} if options.operator else {}
    console = console_stack(options, use, specs)
    specs += recording_stack(options, use, specs)
    specs = [*console, *specs]  # started first, because its page shows which nodes are still missing
    unknown = set(options.parameters) - {spec.name for spec in specs}
    if unknown:
        raise StackError(
            f"the parameter file has parameters for {', '.join(sorted(unknown))}, which the use {use} does not start"
        )
    return [
        ProcessSpec(
            spec.package,
            spec.executable,
            spec.name,
            parameter_files=files,
            parameters={
                "use_sim_time": _USES[use].simulated_time,
                **spec.parameters,
                **shown.get(spec.name, {}),
                **({"profiles": [str(path) for path in files]} if spec.name == "recorder" else {}),
                **options.parameters.get(spec.name, {}),
            },
            remappings=spec.remappings + of_one_robot(use, options.namespace),
            namespace=options.namespace.strip("/"),
            middleware=middleware_of(spec.name),
            environment=ONE_THREAD,
            restart=spec.name not in _NEVER_RESTARTED,
            needed=spec.name not in _ONLY_WATCH,
            keeps=spec.name in _KEEPERS,
        )
        for spec in specs
    ]
