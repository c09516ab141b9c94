"""RViz's layout shows topics that exist, in a way in which they can be heard."""

from __future__ import annotations

import re

import declared
import pytest
import yaml

LAYOUT = yaml.safe_load((declared.ROOT / "config" / "rviz" / "lodestar.rviz").read_text())
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
    """Topic -> (type, QoS) as ARCHITECTURE.md says."""
    text = (declared.ROOT / "ARCHITECTURE.md").read_text()
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
        "plan",
    }
