"""Observations for tests of the doctor: a healthy stack on a robot, and modifications."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from lodestar_ros.doctor.findings import Endpoint, FrameEdge, LocalProcess, Machine, Observation, Stream
from lodestar_ros.doctor.graph_checks import CORE, deciding

INPUTS = {
    "image": "/camera/color",
    "depth": "/camera/depth",
    "camera_info": "/camera/info",
    "points": "/points",
    "scan": "/scan",
    "odom": "/odom",
}
IMAGE, SCAN, TWIST = "sensor_msgs/msg/Image", "sensor_msgs/msg/LaserScan", "geometry_msgs/msg/Twist"
SPORT = "unitree_go/msg/SportModeState"


def sound() -> Observation:
    """Return the observation of a healthy stack on a robot."""
    stream = Stream(10.0, 0.05, "lidar_link")
    picture = Stream(15.0, 0.05, "camera_optical_frame", (640, 480))
    writers = {topic: (Endpoint("/driver", IMAGE, reliable=False),) for topic in INPUTS.values()}
    readers = {topic: (Endpoint("/mapping", IMAGE, reliable=False),) for topic in INPUTS.values()}
    processes = tuple(LocalProcess(i, name, "7", "rmw_fastrtps_cpp") for i, name in enumerate(CORE))
    return Observation(
        seconds=8.0,
        nodes=Counter({f"/{name}": 1 for name in (*CORE, *deciding(), "go2_base")}),
        publishers={
            **writers,
            "/cmd_vel": (Endpoint("/controller_server", TWIST),),
            "/cmd_vel_out": (Endpoint("/motion_gate", TWIST),),
            "/sportmodestate": (Endpoint("/robot", SPORT, False, False, "RIHS01_1"),),
            "/lowstate": (Endpoint("/robot", "unitree_go/msg/LowState"),),
            "/battery": (Endpoint("/go2_base", "sensor_msgs/msg/BatteryState"),),
        },
        subscriptions={
            **readers,
            "/cmd_vel": (Endpoint("/motion_gate", TWIST), Endpoint("/recorder", TWIST)),
            "/cmd_vel_out": (Endpoint("/go2_base", TWIST), Endpoint("/goal_selector", TWIST)),
            "/sportmodestate": (Endpoint("/go2_base", SPORT, False, False, "RIHS01_1"),),
            "/lowstate": (Endpoint("/go2_base", "unitree_go/msg/LowState"),),
        },
        streams={
            "/camera/color": picture,
            "/camera/depth": picture,
            "/camera/info": picture,
            "/points": stream,
            "/scan": stream,
            "/odom": Stream(50.0, 0.02, "odom"),
        },
        frames=(
            FrameEdge("map", "odom", lag=0.05, rate=50.0),
            FrameEdge("odom", "base_link", lag=0.02, rate=50.0),
            FrameEdge("base_link", "lidar_link", static=True),
            FrameEdge("base_link", "camera_link", static=True),
            FrameEdge("camera_link", "camera_optical_frame", static=True),
        ),
        diagnostics={
            "motion_gate": (0, "passing", {"blocked": "motion not allowed"}),
            "mapping": (
                0,
                "running",
                {"drop_offs": "seen: edges", "points.received": "80", "points.dropped": "2"},
            ),
            "go2_base": (0, "walks as told", {"battery": "80%"}),
        },
        parameters={
            **{f"/{name}": {"use_sim_time": False} for name in (*CORE, *deciding())},
            "/goal_selector": {"use_sim_time": False, "battery.full_range": 2000.0},
            "/frontier_expert": {"use_sim_time": False, "battery.full_range": 2000.0},
        },
        lifecycle=dict.fromkeys(("controller_server", "planner_server"), "active"),
        weights={"perception": ("/opt/yoloe.pt", b"PK\x03\x04")},
        navigators=1,
        machine=Machine(
            2000.0,
            50_000.0,
            "~",
            domain="7",
            rmw="rmw_fastrtps_cpp",
            interfaces=("eth0", "lo"),
            wanted_interfaces=("eth0",),
            processes=processes,
        ),
    )


def without(seen: Observation, **lists: str) -> Observation:
    """Return the observation without one key in each of some tables."""
    return replace(
        seen,
        **{
            table: {k: v for k, v in getattr(seen, table).items() if k != key} for table, key in lists.items()
        },
    )


def put(seen: Observation, table: str, key: str, value: object) -> Observation:
    """Return the observation with one value of a table replaced."""
    return replace(seen, **{table: {**getattr(seen, table), key: value}})


def machine(**changes: object) -> Callable[[Observation], Observation]:
    """Return a function that changes fields of the computer in an observation."""
    return lambda seen: replace(seen, machine=replace(seen.machine, **changes))


def edges(*given: FrameEdge, drop: str = "") -> Callable[[Observation], Observation]:
    """Return a function that adds transforms to an observation and removes those to the frame `drop`."""
    return lambda seen: replace(seen, frames=(*(edge for edge in seen.frames if edge.child != drop), *given))


def stream(topic: str, **changes: object) -> Callable[[Observation], Observation]:
    """Return a function that changes fields of one stream in an observation."""
    return lambda seen: put(seen, "streams", topic, replace(seen.streams[topic], **changes))


def walked_by(*names: str) -> Callable[[Observation], Observation]:
    """Return a function that sets the subscribers of the gate's velocities in an observation."""
    return lambda seen: put(
        seen, "subscriptions", "/cmd_vel_out", tuple(Endpoint(name, TWIST) for name in names)
    )
