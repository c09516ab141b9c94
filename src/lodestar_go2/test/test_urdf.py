"""Tests of the robot's URDF: joints match `joint_states`, and foot positions match a Go2."""

from __future__ import annotations

import math
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from lodestar.geometry.poses import make_transform
from lodestar_go2.lidar import LidarConfig
from lodestar_go2.states import JOINTS, LEGS

ROBOT = ElementTree.parse(Path(__file__).parents[1] / "urdf" / "go2.urdf").getroot()
BY_CHILD = {joint.find("child").attrib["link"]: joint for joint in ROBOT.findall("joint")}


def _numbers(text: str) -> np.ndarray:
    return np.array([float(part) for part in text.split()])


def base_from(link: str, angles: dict[str, float]) -> np.ndarray:
    """Return the pose (4, 4) of a link in base_link for joint angles."""
    if link == "base_link":
        return np.eye(4)
    joint = BY_CHILD[link]
    origin = joint.find("origin").attrib
    angle, axis = angles.get(joint.attrib["name"], 0.0), joint.find("axis")
    turn = np.eye(4)
    if axis is not None and angle:
        k = int(np.argmax(_numbers(axis.attrib["xyz"])))
        i, j = ((1, 2), (2, 0), (0, 1))[k]
        turn[i, i] = turn[j, j] = math.cos(angle)
        turn[i, j], turn[j, i] = -math.sin(angle), math.sin(angle)
    place = make_transform(np.eye(3), _numbers(origin["xyz"]))
    return base_from(joint.find("parent").attrib["link"], angles) @ place @ turn


def test_the_xacro_adds_a_camera_to_the_same_robot() -> None:
    xacro = "{http://www.ros.org/wiki/xacro}"
    robot = ElementTree.parse(Path(__file__).parents[1] / "urdf" / "go2.urdf.xacro").getroot()
    assert [one.attrib["filename"] for one in robot.findall(f"{xacro}include")] == ["go2.urdf"]
    given = {one.attrib["name"] for one in robot.findall(f"{xacro}arg")}
    asked = set(re.findall(r"\$\(arg (\w+)\)", ElementTree.tostring(robot, "unicode")))
    assert asked == given
    (joint,) = robot.findall("joint")
    assert joint.find("parent").attrib["link"] == "base_link"
    assert joint.find("child").attrib["link"] == robot.find("link").attrib["name"] == "camera_link"


def test_its_joints_are_those_that_are_published() -> None:
    moving = [joint.attrib["name"] for joint in ROBOT.findall("joint") if joint.attrib["type"] == "revolute"]
    assert sorted(moving) == sorted(JOINTS)
    links = {link.attrib["name"] for link in ROBOT.findall("link")}
    assert links == {"base_link", *BY_CHILD}, "every link hangs on the base"


def test_a_standing_robot_is_as_high_as_its_driver_says() -> None:
    angles = {f"{leg}_{name}_joint": q for leg in LEGS for name, q in (("thigh", 0.8), ("calf", -1.5))}
    feet = np.array([base_from(f"{leg}_foot", angles)[:3, 3] for leg in LEGS])
    assert feet[:, 2] - 0.022 == pytest.approx(-0.335, abs=0.02)
    assert feet[0, 0] - feet[2, 0] == pytest.approx(2 * 0.1934)
    assert feet[1, 1] - feet[0, 1] == pytest.approx(2 * (0.0465 + 0.0955))


def test_the_lidar_is_where_the_driver_takes_it_to_be() -> None:
    origin, config = BY_CHILD["radar"].find("origin").attrib, LidarConfig()
    assert _numbers(origin["xyz"]).tolist() == [config.x, config.y, config.z]
    assert _numbers(origin["rpy"]).tolist() == [config.roll, config.pitch, config.yaw]
