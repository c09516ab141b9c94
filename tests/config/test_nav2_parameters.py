"""Tests that all parameters for Nav2 and SLAM Toolbox are declared, with the same type, in each distribution."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import declared
import pytest
import yaml

from lodestar.agent.facts.config import LoopConfig
from lodestar_bringup.navigation import DISTRIBUTIONS, behavior_tree, navigation_profile, slam_profile

CONFIG = declared.ROOT / "config"
TABLE: dict[str, dict[str, Any]] = yaml.safe_load(
    Path(__file__).with_name("nav2_parameters.yaml").read_text()
)
COSTMAPS = ("local_costmap", "global_costmap")
BEHAVIOURS = ("spin", "backup", "drive_on_heading", "wait")  # their parameters belong to the behaviour server
TYPES = {bool: "bool", int: "integer", float: "double", str: "string"}


def _type(value: Any) -> str:
    if isinstance(value, list):
        kinds = {TYPES[type(one)] for one in value}
        assert len(kinds) == 1, value
        return f"{kinds.pop()}_array"
    return TYPES[type(value)]


def _given(component: str, values: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """Yield component, name and value of every parameter below a component."""
    for name, value in values.items():
        if not isinstance(value, dict):
            yield component, name, value
        elif "plugin" in value:
            kind = value["plugin"].replace("/", "::").split("::")[-1]
            inner = {n: v for n, v in value.items() if n != "plugin"}
            yield from _given("behavior_server" if name in BEHAVIOURS else kind, inner)
        elif name.endswith("Critic"):
            yield from _given(name, value)
        elif f"{component}.{name}" in TABLE:
            yield from _given(f"{component}.{name}", value)
        elif (
            name in str(values.get("observation_sources", "")).split()
        ):  # its parameters are listed with the layer's
            yield from _given(component, value)
        else:
            yield component, name, value


def _problems(text: str, distribution: str) -> list[str]:
    found = []
    for section, content in yaml.safe_load(text).items():
        node = section.removeprefix("/**/")
        component = "Costmap2DROS" if node in COSTMAPS else node
        for part, name, value in _given(component, content["ros__parameters"]):
            known = TABLE.get(part, {}).get(name)
            kind = known.get(distribution) if isinstance(known, dict) else known
            if kind is None:
                found.append(f"{node}: {part} has no {name}")
            elif kind != _type(value):
                found.append(f"{node}: {part}.{name} is a {kind}, and {value!r} is none")
    return found


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_nav2_declares_every_parameter_with_this_type(distribution: str) -> None:
    text = (CONFIG / "nav2.yaml").read_text()
    assert _problems(navigation_profile(text, distribution, ""), distribution) == []


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_slam_toolbox_declares_every_parameter_with_this_type(distribution: str) -> None:
    text = (CONFIG / "slam_toolbox.yaml").read_text()
    assert _problems(slam_profile(text, ""), distribution) == []


def test_the_check_finds_wrong_names_types_and_plugins() -> None:
    text = (CONFIG / "nav2.yaml").read_text()
    for right, wrong, said in (
        ("lethal_override_cost: 200\n", "lethal_override_cost: 200.0\n", "lethal_override_cost is a integer"),
        ("failure_tolerance: 0.3", "failure_tolerence: 0.3", "has no failure_tolerence"),
        ("nav2_mppi_controller::MPPIController", "nav2_mppi_controller::Other", "Other has no"),
        ("SmacPlanner2D", "SmacPlanner3D", "SmacPlanner3D has no tolerance"),
        ("min_velocity: [-0.3,", "min_velocity: [0,", None),
    ):
        assert right in text, right
        broken = text.replace(right, wrong)
        if said is None:
            with pytest.raises(AssertionError):
                _problems(broken, "kilted")
        else:
            assert any(said in problem for problem in _problems(broken, "kilted")), said


@pytest.mark.parametrize("costmap", COSTMAPS)
@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_zones_are_inflated(costmap: str, distribution: str) -> None:
    profile = yaml.safe_load(navigation_profile((CONFIG / "nav2.yaml").read_text(), distribution, ""))
    values = profile[f"/**/{costmap}"]["ros__parameters"]
    assert "filters" not in values  # filters would run after the inflation layer
    assert values["plugins"].index("keepout_filter") < values["plugins"].index("inflation_layer")
    assert values["plugins"][-1] == "inflation_layer"
    assert all(values[name]["plugin"] for name in values["plugins"])


# Ports of the nodes of our behaviour tree, from the sources of each distribution on 2026-11-25; one unknown port
# prevents the whole tree from loading.
PORTS = {
    "humble": {
        "ComputePathToPose": {"goal", "start", "planner_id", "path"},
        "FollowPath": {"path", "controller_id", "goal_checker_id"},
    },
    "jazzy": {
        "ComputePathToPose": {"goal", "start", "use_start", "planner_id", "path", "error_code_id"},
        "FollowPath": {"path", "controller_id", "goal_checker_id", "progress_checker_id", "error_code_id"},
    },
    "kilted": {
        "ComputePathToPose": {
            "goal", "start", "use_start", "planner_id", "path", "error_code_id", "error_msg",
        },
        "FollowPath": {
            "path", "controller_id", "goal_checker_id", "progress_checker_id", "error_code_id", "error_msg",
        },
    },
}  # fmt: skip
EVERYWHERE = {
    "root": {"BTCPP_format", "main_tree_to_execute"},
    "BehaviorTree": {"ID"},
    "PipelineSequence": set(),
    "RateController": {"hz"},
    "RecoveryNode": {"number_of_retries"},
    "Fallback": set(),
    "ForceFailure": set(),
    "ClearEntireCostmap": {"service_name"},
}


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_every_node_of_the_behaviour_tree_exists_and_has_its_ports(distribution: str) -> None:
    tree = ElementTree.fromstring(behavior_tree((CONFIG / "navigate_to_pose.xml").read_text(), distribution))
    known = EVERYWHERE | PORTS[distribution]
    for node in tree.iter():
        assert set(node.attrib) <= known[node.tag] | {"name"}, node.tag
    codes = {node.get("error_code_id") for node in tree.iter() if node.get("error_code_id")}
    prefixes = {"{compute_path_error_code}", "{follow_path_error_code}"}  # error codes read by bt_navigator
    assert codes == (set() if distribution == "humble" else prefixes)


def test_the_behaviour_tree_names_the_planner_and_the_controller_of_the_profile() -> None:
    tree = ElementTree.fromstring((CONFIG / "navigate_to_pose.xml").read_text())
    profile = yaml.safe_load((CONFIG / "nav2.yaml").read_text())
    (planner,) = profile["/**/planner_server"]["ros__parameters"]["planner_plugins"]
    controller, *_ = profile["/**/controller_server"]["ros__parameters"]["controller_plugins"]
    assert [node.get("planner_id") for node in tree.iter("ComputePathToPose")] == [planner]
    assert [node.get("controller_id") for node in tree.iter("FollowPath")] == [controller]


def test_nav2_says_that_it_makes_no_progress_before_the_loop_gives_the_goal_up() -> None:
    profile = yaml.safe_load((CONFIG / "nav2.yaml").read_text())
    checker = profile["/**/controller_server"]["ros__parameters"]["progress_checker"]
    assert checker["movement_time_allowance"] < LoopConfig.stuck_time
