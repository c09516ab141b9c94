"""Tests of the profile for the community's WebRTC driver: shared topic names have the same meaning in our nodes."""

from __future__ import annotations

import declared
import pytest

from lodestar_bringup.stack import StackOptions, stack
from lodestar_bringup.topics import WEBRTC_RIVALS, WEBRTC_SAME_NAMES

# Topics of go2_driver_node for one robot, from abizovnuralem/go2_ros2_sdk (go2_driver_node.py, 0533e76).
PUBLISHED = {
    "joint_states": "sensor_msgs/JointState",
    "go2_states": "go2_interfaces/Go2State",
    "point_cloud2": "sensor_msgs/PointCloud2",
    "odom": "nav_msgs/Odometry",
    "imu": "go2_interfaces/IMU",
    "camera/image_raw": "sensor_msgs/Image",
    "camera/camera_info": "sensor_msgs/CameraInfo",
    "/utlidar/voxel_map_compressed": "go2_interfaces/VoxelMapCompressed",
}
HEARD = {
    "cmd_vel_out": "geometry_msgs/Twist",
    "webrtc_req": "go2_interfaces/WebRtcReq",
    "joy": "sensor_msgs/Joy",
}


@pytest.fixture(scope="module")
def specs():
    return {spec.name: spec for spec in stack("go2", StackOptions(driver="webrtc"))}


@pytest.fixture(scope="module")
def driver(specs):
    return specs["go2_driver_node"]


def names_of(specs) -> set[str]:
    """Return all topic names in our nodes' sources, and the names they are remapped to."""
    used: set[str] = set()
    for package in ("lodestar_ros", "lodestar_go2"):
        for path in (declared.ROOT / "src" / package / package).rglob("*.py"):
            used |= declared.names_in(path)
    return used | {
        target for spec in specs if spec.package == "lodestar_ros" for _, target in spec.remappings
    }


def test_it_replaces_our_driver_and_brings_its_profile(specs, driver) -> None:
    assert not {"go2_base", "go2_guard", "go2_lidar"} & set(specs)
    assert (driver.package, driver.executable) == ("go2_robot_sdk", "go2_driver_node")
    assert driver.parameters["conn_type"] == "webrtc"
    assert [path.name for path in driver.parameter_files] == ["go2.yaml", "go2_webrtc.yaml"]
    assert "go2_webrtc.yaml" not in [path.name for path in stack("go2")[0].parameter_files]


def test_every_name_of_the_driver_is_shared_on_purpose_or_moved_away(specs, driver) -> None:
    moved = dict(driver.remappings)
    assert set(moved) | set(WEBRTC_SAME_NAMES) == {*PUBLISHED, *HEARD}
    assert not set(moved) & set(WEBRTC_SAME_NAMES)
    assert not set(moved.values()) & names_of(specs.values()), "a moved name means nothing to our nodes"


def test_what_it_shares_has_the_type_that_our_nodes_expect(specs, driver) -> None:
    types = PUBLISHED | HEARD
    shared = {name: types[name] for name in WEBRTC_SAME_NAMES}
    assert shared == {
        "cmd_vel_out": "geometry_msgs/Twist", "odom": "nav_msgs/Odometry", "joint_states": "sensor_msgs/JointState"
    }  # fmt: skip
    gate = declared.ROOT / "src/lodestar_ros/lodestar_ros/nodes/motion_gate_node.py"
    assert "cmd_vel_out" in declared.names_in(gate)
    assert declared.parameters("lodestar_ros", "motion_gate")["cmd_vel_out_stamped"] is False, (
        "it wants Twist"
    )


def test_the_page_lists_every_remap_and_what_must_not_run() -> None:
    page = (declared.ROOT / "docs/how-to/go2.md").read_text()
    for source, target in stack("go2", StackOptions(driver="webrtc"))[0].remappings:
        assert f"| `{source}` | `{target}` |" in page
    for name in (*WEBRTC_SAME_NAMES, *WEBRTC_RIVALS):
        assert f"`{name}`" in page
