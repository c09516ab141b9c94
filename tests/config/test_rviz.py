"""Tests that RViz's layout subscribes to existing topics with compatible QoS."""

from __future__ import annotations

import ast
import re
from functools import cache

import declared
import pytest
import yaml

LAYOUT = yaml.safe_load((declared.ROOT / "config" / "rviz" / "lodestar.rviz").read_text())
TOOLS = LAYOUT["Visualization Manager"]["Tools"]
DISPLAYS = LAYOUT["Visualization Manager"]["Displays"]
TYPES = {
    "Map": "nav_msgs/msg/OccupancyGrid",
    "OccupancyGrid": "octomap_msgs/msg/Octomap",
    "PointCloud2": "sensor_msgs/msg/PointCloud2",
    "MarkerArray": "visualization_msgs/msg/MarkerArray",
    "Path": "nav_msgs/msg/Path",
    "Image": "sensor_msgs/msg/Image",
}
RELIABLE_PROFILES = {"RELIABLE", "COMMAND", "LATCHED", "EVENT", "TF"}


def table() -> dict[str, tuple[str, str]]:
    """Return topic -> (type, QoS) of the tables of docs/interfaces.md."""
    text = (declared.ROOT / "docs" / "interfaces.md").read_text()
    rows = re.findall(r"^\| (\S+) \| (\S+/msg/\S+) \| [^|]+ \| (\w+) \|$", text, re.MULTILINE)
    return {name: (kind, profile) for name, kind, profile in rows}


def topic_of(display: dict) -> dict | None:
    return display.get("Topic") or display.get("Octomap Topic")


@pytest.mark.parametrize("display", [d for d in DISPLAYS if topic_of(d)], ids=lambda d: d["Name"])
def test_display(display):
    topic = topic_of(display)
    assert topic["Value"] in table(), "nobody publishes it"
    kind, profile = table()[topic["Value"]]
    assert TYPES[display["Class"].split("/")[1]] == kind
    assert topic["Reliability Policy"] == ("Reliable" if profile in RELIABLE_PROFILES else "Best Effort")
    if profile == "LATCHED":
        assert topic["Durability Policy"] == "Transient Local", "who opens RViz later would see nothing"


def test_the_point_tool_says_what_the_operator_hears():
    tool = next(tool for tool in TOOLS if tool["Class"] == "rviz_default_plugins/PublishPoint")
    kind, profile = table()[tool["Topic"]["Value"]]
    assert kind == "geometry_msgs/msg/PointStamped" and profile in RELIABLE_PROFILES
    assert tool["Topic"]["Reliability Policy"] == "Reliable", "a reliable listener hears nothing else"
    assert tool["Topic"]["Value"] in declared.names_in(declared.node_source("lodestar_ros", "operator"))


@cache
def publishers() -> dict[str, set[tuple[str, str]]]:
    """Return topic -> (message class, QoS name) of all publishers in the nodes' sources, by the ends of topic names."""
    found: dict[str, set[tuple[str, str]]] = {}
    for package in ("lodestar_ros", "lodestar_sim"):
        for path in (declared.ROOT / "src" / package).rglob("*.py"):
            for call in ast.walk(ast.parse(path.read_text())):
                if not (isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "create_publisher"):
                    continue
                kind, topic, profile = call.args[:3]
                if isinstance(topic, ast.Constant) and isinstance(profile, ast.Attribute):
                    said = ast.unparse(kind).split(".")[-1], profile.attr
                    found.setdefault(topic.value.removeprefix("~/"), set()).add(said)
    return found


@pytest.mark.parametrize("display", [d for d in DISPLAYS if topic_of(d)], ids=lambda d: d["Name"])
def test_a_display_has_the_type_and_qos_of_the_publisher_in_the_source(display):
    name = topic_of(display)["Value"]
    kind, profile = table()[name]
    known = publishers()
    ends = [known[end] for end in (name, name.split("/", 1)[-1], name.rsplit("/", 1)[-1]) if end in known]
    if not ends:  # composed name: similarity layers, camera
        assert name.startswith(("scene_dictionary/similarity/", "camera/")), name
        return
    assert any((kind.split("/")[-1], profile) in said for said in ends), (name, ends)


def test_namespaces_of_markers_are_those_that_are_drawn():
    drawn: set[str] = set()
    for name in ("markers", "marker_shapes", "decision_display"):
        drawn |= declared.names_in(declared.ROOT / "src/lodestar_ros/lodestar_ros" / f"{name}.py")
    shown = {space for display in DISPLAYS for space in display.get("Namespaces", {})}
    assert shown - drawn == set()
    assert {"regions", "choices", "traces", "decision", "snapshots", "reply"} <= shown


def test_everything_that_is_worth_seeing_is_there():
    shown = {topic_of(display)["Value"] for display in DISPLAYS if topic_of(display)}
    similarity = {f"scene_dictionary/similarity/{layer}" for layer in ("target", "neighbor", "constraint")}
    assert shown >= similarity | {
        "grid",
        "mapping/octomap",
        "semantic_voxels/cloud",
        "scene_dictionary/markers",
        "frontier_expert/markers",
        "goal_selector/markers",
        "scene_dictionary/keep_out_mask",
        "memory/markers",
        "ego_vlm_expert/annotated",
        "perception/annotated",
        "operator/markers",
        "plan",
    }


def test_the_robot_is_shown_by_the_description_that_its_launch_file_publishes():
    (robot,) = [display for display in DISPLAYS if display["Class"].endswith("/RobotModel")]
    topic = robot["Description Topic"]
    assert topic["Value"] == "robot_description" and topic["Durability Policy"] == "Transient Local"
    source = declared.ROOT / "src" / "lodestar_bringup" / "lodestar_bringup" / "launch_entities.py"
    assert "robot_description" in source.read_text()
