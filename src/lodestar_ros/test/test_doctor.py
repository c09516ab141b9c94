"""Tests of the doctor's checks: a healthy stack has no finding, and each single fault is found by its check."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from diagnostic_msgs.msg import DiagnosticStatus
from sound_stack import IMAGE, INPUTS, SPORT, TWIST, edges, machine, put, sound, stream, walked_by, without

from lodestar.perception.lookout import VocabularyReport, WordSight
from lodestar_ros.doctor.__main__ import in_words, told
from lodestar_ros.doctor.checkup import checkup, worst
from lodestar_ros.doctor.findings import (
    Endpoint,
    FrameEdge,
    Level,
    LocalProcess,
    Machine,
    NodeChange,
    Observation,
    Picture,
)
from lodestar_ros.doctor.graph_checks import CORE, deciding
from lodestar_ros.doctor.machine import confined_by, wanted_interfaces
from lodestar_ros.doctor.machine_checks import battery


def test_a_sound_stack_has_no_finding() -> None:
    assert checkup(sound(), INPUTS) == []
    assert worst([]) is Level.NOTE
    assert in_words([])[-1] == "Nothing is wrong."


def told_words(**answer: object) -> Callable[[Observation], Observation]:
    return lambda s: replace(s, vocabulary=VocabularyReport("1", "eyes", **answer))


DEAF = ("motion_gate", (0, "", {"blocked": "no heartbeat"}))
ONE = LocalProcess(9, "memory", "7", "rmw_fastrtps_cpp")
FAULTS: dict[str, tuple[Callable[[Observation], Observation], str]] = {
    "missing_node": (
        lambda s: replace(s, nodes=s.nodes - Counter({"/perception": 1})),
        "perception does not run",
    ),
    "node_silent": (
        lambda s: put(s, "changes", "memory", NodeChange(silent=7.2)),
        "memory has said nothing for 7 s: it ended, or hangs",
    ),
    "node_restarted": (
        lambda s: put(s, "changes", "memory", NodeChange(restarted=2.9)),
        "memory was started again 3 s ago",
    ),
    "node_twice": (lambda s: replace(s, nodes=s.nodes + Counter({"/mapping": 1})), "/mapping runs 2 times"),
    "qos_mismatch": (
        lambda s: put(s, "subscriptions", "/scan", (Endpoint("/slam_toolbox", IMAGE, True),)),
        "/slam_toolbox never hears /driver",
    ),
    "past_the_gate": (
        lambda s: put(
            s, "publishers", "/cmd_vel_out", (Endpoint("/motion_gate", TWIST), Endpoint("/twist_mux", TWIST))
        ),
        "/twist_mux publishes on cmd_vel_out",
    ),
    "base_on_cmd_vel": (
        lambda s: put(
            s, "subscriptions", "/cmd_vel", (Endpoint("/motion_gate", TWIST), Endpoint("/go2_driver", TWIST))
        ),
        "/go2_driver listens to cmd_vel",
    ),
    "no_base": (walked_by("/goal_selector", "/recorder"), "the robot cannot move"),
    "two_bases": (
        lambda s: put(
            s, "publishers", "/odom", (Endpoint("/go2_base", IMAGE), Endpoint("/go2_driver", IMAGE))
        ),
        "/go2_base, /go2_driver publish odom",
    ),
    "other_firmware": (
        lambda s: put(
            s, "subscriptions", "/sportmodestate", (Endpoint("/go2_base", SPORT, False, False, "RIHS01_2"),)
        ),
        "/go2_base does not understand /robot on /sportmodestate: its unitree_go/msg/SportModeState has other fields",
    ),
    "transform_twice": (lambda s: replace(s, doubled=(("map", "odom"),)), "Two publishers send map -> odom"),
    "wrong_interface": (
        machine(wanted_interfaces=("eth1",)),
        "names the interface eth1, which this computer does not have; the nearest is eth0",
    ),
    "no_navigator": (lambda s: replace(s, navigators=0), "No server of navigate_to_pose"),
    "two_navigators": (lambda s: replace(s, navigators=2), "2 servers of navigate_to_pose"),
    "nav2_inactive": (
        lambda s: put(s, "lifecycle", "planner_server", "inactive"),
        "planner_server is inactive",
    ),
    "no_publisher": (lambda s: without(s, publishers="/points"), "Nobody publishes /points"),
    "silent": (stream("/points", rate=0.0), "/points is silent"),
    "slow": (stream("/camera/color", rate=1.0), "/camera/color comes 1.0 times a second"),
    "scan_contradicts_itself": (
        stream("/scan", scan_problem="scan in 'laser' at 3.000000000: angle_min, ... clockwise"),
        "/scan cannot be used: scan in 'laser' at 3.0",
    ),
    "clocks_apart": (stream("/scan", age=-37.0), "37.0 s ahead of our clock"),
    "no_camera_info": (lambda s: without(s, publishers="/camera/info"), "has no /camera/info"),
    "depth_not_aligned": (stream("/camera/depth", size=(848, 480)), "848x480"),
    "unreadable_image": (
        stream("/camera/color", picture=Picture("nv24", unreadable="encoding 'nv24' is not known")),
        "/camera/color (image, nv24) cannot be read: encoding 'nv24'",
    ),
    "encoding_assumed": (
        stream("/camera/color", picture=Picture("8UC3", assumed="8UC3 is read as bgr8")),
        "/camera/color: 8UC3 is read as bgr8",
    ),
    "camera_of_other_size": (
        stream("/camera/depth", picture=Picture("16UC1", unfit="the image is 640x480")),
        "/camera/depth does not fit its camera_info: the image is 640x480",
    ),
    "no_calibration": (
        stream("/camera/info", picture=Picture(unreadable="camera_info has no calibration")),
        "/camera/info cannot be used: camera_info has no calibration",
    ),
    "distortion_not_removed": (
        stream("/camera/info", picture=Picture(undistorted="'fov' with 1 coefficients is not known")),
        "Nobody removes the distortion of /camera/info: 'fov'",
    ),
    "frame_not_optical": (
        edges(
            FrameEdge("base_link", "camera_link", static=True, rotation=(0.0, 0.0, 0.0, 1.0)),
            FrameEdge("camera_link", "camera_optical_frame", static=True, rotation=(0.0, 0.0, 0.0, 1.0)),
            drop="camera_optical_frame",
        ),
        "/camera/depth (depth) is stamped in camera_optical_frame, which has z up and x forward",
    ),
    "no_transform": (edges(drop="odom"), "Nobody publishes map -> odom"),
    "two_parents": (
        edges(FrameEdge("world", "base_link", lag=0.0)),
        "base_link has two parents: odom and world",
    ),
    "transform_lag": (
        edges(FrameEdge("odom", "base_link", lag=2.4), drop="base_link"),
        "odom -> base_link is 2.4 s behind",
    ),
    "loop": (edges(FrameEdge("lidar_link", "map", static=True)), "form a loop"),
    "frame_hangs_on_nothing": (edges(drop="lidar_link"), "lidar_link, which no transform joins"),
    "node_warns": (
        lambda s: put(s, "diagnostics", "memory", (1, "the store is read-only", {})),
        "memory says: the store is read-only",
    ),
    "drop_offs": (
        lambda s: put(s, "diagnostics", "mapping", (0, "", {"drop_offs": "WRONG HEIGHT: 0.32"})),
        "WRONG HEIGHT",
    ),
    "drops": (
        lambda s: put(
            s,
            "diagnostics",
            "mapping",
            (0, "", {"scan.received": "100", "scan.dropped": "60", "scan.dropped.late": "60"}),
        ),
        "drops 60 of 100 messages on scan (late)",
    ),
    "no_heartbeat": (
        lambda s: put(put(s, "diagnostics", *DEAF), "before", DEAF[0], DEAF[1][2]),
        "no heartbeat",
    ),
    "shared_memory": (machine(shm_free=60.0), "/dev/shm has 60 MiB"),
    "disk": (machine(disk_free=300.0), "has 300 MiB left"),
    "domains": (
        lambda s: replace(
            s,
            nodes=s.nodes - Counter({"/memory": 1}),
            machine=replace(s.machine, processes=(*s.machine.processes, replace(ONE, domain="0"))),
        ),
        "memory runs here in ROS domain 0",
    ),
    "middlewares": (
        lambda s: replace(
            s,
            machine=replace(
                s.machine, processes=(*s.machine.processes, replace(ONE, rmw="rmw_cyclonedds_cpp"))
            ),
        ),
        "Several middlewares are in use",
    ),
    "no_robot": (
        lambda s: without(without(s, publishers="/sportmodestate"), publishers="/lowstate"),
        "No topic of the robot",
    ),
    "multicast": (machine(multicast=False), "no multicast"),
    "mixed_clocks": (
        lambda s: put(
            put(s, "parameters", "/memory", {"use_sim_time": True}),
            "publishers",
            "/clock",
            (Endpoint("/sim", "x"),),
        ),
        "/memory has use_sim_time true",
    ),
    "no_weights": (
        lambda s: put(s, "weights", "perception", ("/opt/yoloe.pt", None)),
        "/opt/yoloe.pt are not there",
    ),
    "bad_weights": (
        lambda s: put(s, "weights", "perception", ("/opt/yoloe.pt", b"\n<!DOCTYPE html>")),
        "is a web page",
    ),
    "no_cuda": (machine(jetson=True, cuda=False), "torch finds no CUDA"),
    "no_energy_limit": (
        lambda s: put(s, "parameters", "/goal_selector", {"use_sim_time": False, "battery.full_range": 0.0}),
        "walks until its battery is empty",
    ),
    "no_battery": (lambda s: without(s, publishers="/battery"), "nobody publishes battery"),
    "low_battery": (
        lambda s: put(s, "diagnostics", "go2_base", (0, "", {"battery": "12%"})),
        "The battery has 12%",
    ),
    "no_vocabulary": (
        lambda s: put(s, "publishers", "/perception/vocabulary", (Endpoint("/perception", "x"),)),
        "has not said yet",
    ),
    "blind_detector": (told_words(problem="there is no text model"), "there is no text model"),
    "nameless": (told_words(), "gives no names"),
    "unseen_words": (
        told_words(names=("chair",), words=(WordSight("mug", nearest="cup"),)),
        'no "mug"; nearest: "cup"',
    ),
    "no_sign_reader": (
        lambda s: machine(reads_text=False)(put(s, "nodes", "/sign_reader", 1)),
        "rapidocr is not installed",
    ),
    "closed_vocabulary": (told_words(names=tuple("abcdefghij")), "a, b, c, d, e, f, g, h and 2 more"),
}


def test_one_status_without_a_heartbeat_is_no_fault() -> None:
    assert checkup(put(sound(), "diagnostics", *DEAF), INPUTS) == []


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_alone_is_named(name: str) -> None:
    break_it, said = FAULTS[name]
    found = checkup(break_it(sound()), INPUTS)
    assert name in {finding.check for finding in found}
    assert any(said in finding.what for finding in found if finding.check == name), [f.what for f in found]
    assert all(finding.do and finding.what.endswith((".", "!")) for finding in found)
    related = {
        "no_transform": {"frame_hangs_on_nothing"},
        "domains": {"missing_node"},
        "loop": {"frame_hangs_on_nothing"},
    }
    assert {finding.check for finding in found} <= {name} | related.get(name, set()), found


@pytest.mark.parametrize("name", ["goal_selector", "frontier_expert"])
@pytest.mark.parametrize("simulated", [True, False])
def test_any_robot_without_a_range_is_named_whatever_drives_it(name: str, simulated: bool) -> None:
    seen = without(sound(), diagnostics="go2_base")
    for one in ("goal_selector", "frontier_expert"):
        metres = 0.0 if one == name else 2000.0
        seen = put(seen, "parameters", f"/{one}", {"use_sim_time": simulated, "battery.full_range": metres})
    found = [(finding.check, finding.what.split(" is 0")[0]) for finding in battery(seen)]
    assert found == ([] if simulated else [("no_energy_limit", f"battery.full_range of {name}")])


@pytest.mark.parametrize(
    ("environment", "setting", "advice"),
    [
        (
            {"ROS_DISTRO": "humble", "ROS_LOCALHOST_ONLY": "1"},
            "ROS_LOCALHOST_ONLY=1",
            " and ROS_LOCALHOST_ONLY=0",
        ),
        ({"ROS_DISTRO": "humble", "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}, "", "=SUBNET before"),
        (
            {"ROS_DISTRO": "jazzy", "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"},
            "ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST",
            "=SUBNET before",
        ),
        ({"ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET", "ROS_LOCALHOST_ONLY": "0"}, "", "=SUBNET before"),
    ],
)
def test_a_stack_that_does_not_hear_the_robot_is_told_which_setting_keeps_it_here(
    environment: dict[str, str], setting: str, advice: str
) -> None:
    assert confined_by(environment) == setting
    seen = without(without(sound(), publishers="/sportmodestate"), publishers="/lowstate")
    (finding,) = checkup(machine(processes=(replace(ONE, confined=setting),))(seen), INPUTS)
    assert finding.check == "no_robot" and advice in finding.do
    assert (f"{setting} keeps the stack on this computer" in finding.what) == bool(setting)


def test_what_another_firmware_sends_under_another_type_is_named() -> None:
    seen = put(sound(), "publishers", "/lowstate", (Endpoint("/robot", "unitree_hg/msg/LowState"),))
    seen = put(seen, "subscriptions", "/lowstate", (Endpoint("/go2_base", "unitree_go/msg/LowState"),))
    (finding,) = checkup(seen, INPUTS)
    assert finding.check == "other_firmware" and "unitree_hg/msg/LowState" in finding.what


def test_a_robot_is_looked_for_where_its_base_listens() -> None:
    """With robot_topics:=robot1, topics of a Go2 without that prefix belong to another robot."""
    seen = sound()
    for name in ("sportmodestate", "lowstate"):
        seen = put(seen, "subscriptions", f"/robot1/{name}", seen.subscriptions[f"/{name}"])
        seen = put(seen, "publishers", f"/robot1/{name}", seen.publishers[f"/{name}"])
        seen = without(seen, subscriptions=f"/{name}")
    assert checkup(seen, INPUTS) == []
    assert checkup(without(without(seen, publishers="/sportmodestate"), publishers="/lowstate"), INPUTS) == []
    deaf = without(without(seen, publishers="/robot1/sportmodestate"), publishers="/robot1/lowstate")
    (finding,) = checkup(deaf, INPUTS)
    assert finding.check == "no_robot" and "/robot1/sportmodestate, /robot1/lowstate" in finding.what


def test_a_driver_under_another_name_is_offered() -> None:
    seen = put(
        without(sound(), publishers="/points"), "publishers", "/livox/lidar", (Endpoint("/livox", IMAGE),)
    )
    (finding,) = checkup(seen, INPUTS)
    assert finding.check == "no_publisher" and "There is /livox/lidar of its type" in finding.what


def test_whoever_only_listens_to_the_gate_is_no_second_base() -> None:
    assert checkup(walked_by("/go2_base", "/goal_selector", "/my_plot")(sound()), INPUTS) == []


def test_a_base_that_hears_no_battery_gives_none() -> None:
    seen = put(sound(), "diagnostics", "go2_base", (0, "walks as told", {"battery": "unknown"}))
    (finding,) = checkup(seen, INPUTS)
    assert finding.check == "no_battery" and "hears no /lowstate" in finding.what


@pytest.mark.parametrize(
    ("uri", "names"),
    [
        ("", ()),
        ('<CycloneDDS><Domain><General><Interfaces><NetworkInterface name="eth0"/></Interfaces>', ("eth0",)),
        ("<NetworkInterface autodetermine='true' priority='1' name = 'en0' />", ("en0",)),
        ("<NetworkInterfaceAddress>wlan0</NetworkInterfaceAddress>", ("wlan0",)),
        ("<NetworkInterfaceAddress>192.168.123.99</NetworkInterfaceAddress>", ()),
        ("file:///nowhere/cyclone.xml", ()),
    ],
)
def test_the_interfaces_that_cyclonedds_is_told_are_read(uri: str, names: tuple[str, ...]) -> None:
    assert wanted_interfaces(uri) == names


def test_the_findings_are_one_status_for_diagnostics() -> None:
    fine = told([])
    assert (fine.name, fine.message, fine.values) == ("doctor", "nothing is wrong", [])
    status = told(checkup(machine(disk_free=300.0)(replace(sound(), navigators=0)), INPUTS))
    assert status.level == DiagnosticStatus.ERROR
    assert [value.key for value in status.values] == ["no_navigator", "disk"]
    seen = put(sound(), "diagnostics", "doctor", (2, status.message, {}))
    assert checkup(seen, INPUTS) == [], "what an earlier look said is no finding"


def test_a_clock_that_nobody_publishes_is_named() -> None:
    seen = replace(sound(), parameters={f"/{name}": {"use_sim_time": True} for name in CORE})
    assert [finding.check for finding in checkup(seen, INPUTS)] == ["no_clock"]


def test_static_transforms_that_are_not_kept_are_told_once_with_their_node() -> None:
    tf = "tf2_msgs/msg/TFMessage"
    readers = tuple(Endpoint(f"/{name}", tf, True, True) for name in (*CORE, *deciding()))
    seen = put(sound(), "subscriptions", "/tf_static", readers)
    fine = Endpoint("/robot_state_publisher", tf, True, True)
    assert checkup(put(seen, "publishers", "/tf_static", (fine,)), INPUTS) == []
    volatile = Endpoint("/lidar_driver", tf, True, False)
    (finding,) = checkup(put(seen, "publishers", "/tf_static", (fine, volatile)), INPUTS)
    assert finding.check == "qos_mismatch" and "cannot hear /lidar_driver on /tf_static" in finding.what
    assert "does not keep its last message" in finding.what and "transient_local" in finding.do
    assert f"and {len(readers) - 3} more" in finding.what
    weak = put(seen, "subscriptions", "/tf", tuple(replace(one, latched=False) for one in readers))
    (finding,) = checkup(put(weak, "publishers", "/tf", (Endpoint("/odometry", tf, False),)), INPUTS)
    assert "cannot hear /odometry on /tf: it sends best effort" in finding.what


def test_an_empty_graph_says_where_it_looked_and_nothing_else() -> None:
    seen = Observation(8.0, machine=Machine(2000.0, 5000.0, "~", domain="3"))
    (finding,) = checkup(seen, {})
    assert finding.check == "no_stack" and "domain 3" in finding.what


def test_a_hold_is_a_note_and_no_fault() -> None:
    seen = put(sound(), "diagnostics", "motion_gate", (0, "", {"blocked": "held"}))
    found = checkup(seen, INPUTS)
    assert [finding.level for finding in found] == [Level.NOTE]
    assert "hold off" in "\n".join(in_words(found))


def test_the_worst_comes_first() -> None:
    seen = machine(disk_free=300.0)(replace(sound(), navigators=0))
    assert [finding.level for finding in checkup(seen, INPUTS)] == [Level.FAULT, Level.WARNING]


def test_a_detector_that_takes_any_text_and_sees_every_word_is_no_finding() -> None:
    seen = told_words(is_open=True, words=(WordSight("mug", "mug"),))(sound())
    assert checkup(seen, INPUTS) == []
