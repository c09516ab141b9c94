"""Tests that the process list refers to existing executables, topics, processes and profiles."""

from __future__ import annotations

import os
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import declared
import pytest

from lodestar.experts.registry import FRONTIER, registered
from lodestar_bringup.places import StackError, executable_path
from lodestar_bringup.preflight import NAV2_PACKAGES, needed_packages, rate_of, refuse_missing, seed_of
from lodestar_bringup.stack import USES, StackOptions, defaults_of, external, stack
from lodestar_bringup.topics import ISAAC_CAMERA, REALSENSE_CAMERA, SIM_CAMERA, wiring

LAUNCH = declared.ROOT / "launch"
ROBOT_ALONE = "go2_stand_in"  # robot side for a separate go2 description
ALL_OPTIONS = [
    StackOptions(),
    StackOptions(world="office", seed=7, navigator="nav2", slam="slam_toolbox", namespace="robot1"),
]


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("options", ALL_OPTIONS)
def test_every_process_is_an_executable_with_a_main(use: str, options: StackOptions) -> None:
    specs = stack(use, options)
    assert [name for name, count in Counter(spec.name for spec in specs).items() if count > 1] == []
    for spec in specs:
        assert spec.executable in declared.executables(spec.package), spec
        path = declared.node_source(spec.package, spec.executable)
        assert path.is_file(), f"{spec.name}: {path} does not exist"
        _, function = declared.executables(spec.package)[spec.executable].split(":")
        assert function in _defined(path), f"{path} defines no {function}"
        assert all(profile.is_file() for profile in spec.parameter_files)


def _defined(path: Path) -> set[str]:
    import ast

    found = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign):
            found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return found


@pytest.mark.skipif("AMENT_PREFIX_PATH" not in os.environ, reason="the workspace is not sourced")
@pytest.mark.parametrize("use", USES)
def test_every_process_is_installed_and_can_be_executed(use: str) -> None:
    for spec in stack(use):
        assert os.access(executable_path(spec.package, spec.executable), os.X_OK)
        assert spec.command()[1] == "--ros-args"


def test_every_installed_node_is_in_the_list() -> None:
    played = StackOptions(robot="go2_protocol", operator=True, signs=True, record=True, console=True)
    lists = [*(stack(use) for use in USES), stack("sim", played), stack("replay", StackOptions(bag="."))]
    fourth = replace(
        FRONTIER, name="fourth", roles=frozenset(), publishes=(), recorded=(), executable="expert"
    )
    with registered(fourth):
        lists.append(stack("sim"))  # with an expert without its own node
    listed = {(spec.package, spec.executable) for one in lists for spec in one}
    installed = {
        (package, name)
        for package in ("lodestar_ros", "lodestar_sim", "lodestar_go2", "lodestar_console")
        for name in declared.executables(package)
    }
    assert listed == installed


@pytest.mark.parametrize("use", USES)
def test_every_remap_leads_from_a_name_that_a_node_uses(use: str) -> None:
    used: set[str] = set()
    for package in ("lodestar_ros", "lodestar_sim", "lodestar_go2", "lodestar_console"):
        for path in (declared.ROOT / "src" / package / package).rglob("*.py"):
            used |= declared.names_in(path)
    sources = {source for spec in stack(use) for source, _ in spec.remappings}
    assert sources - used == set()


def test_the_wiring_ends_at_names_that_the_architecture_documents() -> None:
    documented = declared.documented_names()
    assert len(documented) > 40
    targets = {target for _, target in (*wiring(), *SIM_CAMERA)}
    assert targets - documented == set()


def test_a_name_is_wired_once_and_every_camera_offers_the_same() -> None:
    sources = [source for source, _ in (*wiring(), *SIM_CAMERA)]
    assert len(sources) == len(set(sources))
    simulated = {source for source, _ in SIM_CAMERA}
    assert {source for source, _ in ISAAC_CAMERA} == simulated | {"label_instances"}
    assert {source for source, _ in REALSENSE_CAMERA} == simulated - {"labels", "label_table"}


def test_motion_always_passes_the_gate_and_nothing_moves_in_a_replay() -> None:
    for use in USES:
        names = {spec.name for spec in stack(use)}
        assert ("motion_gate" in names) == ("goal_selector" in names) == (use not in ("replay", ROBOT_ALONE))
        simulates = use in ("sim", ROBOT_ALONE)
        assert {"sim", "sim_navigator"} <= names if simulates else not names & {"sim", "sim_navigator"}


def test_the_robot_alone_gives_what_the_stack_beside_it_takes_and_no_process_twice() -> None:
    played = {spec.name: spec for spec in stack(ROBOT_ALONE)}
    assert set(played) == {"sim", "go2_stand_in", "slam_stand_in", "sim_navigator"}
    beside = {spec.name: spec for spec in stack("go2", StackOptions(slam="none", navigator="external"))}
    assert not set(played) & set(beside)
    assert not any(spec.parameters["use_sim_time"] for spec in (*played.values(), *beside.values()))
    given = {target for _, target in played["sim"].remappings}
    assert {target for _, target in REALSENSE_CAMERA} <= given and {"labels", "label_table"} <= given
    assert dict(played["slam_stand_in"].remappings) == {"grid": "map"}
    assert dict(played["go2_stand_in"].remappings) == dict(beside["go2_base"].remappings)
    assert dict(played["sim"].remappings)["odom"] != "odom", "go2_base alone says where the robot is"
    both = StackOptions(slam="slam_toolbox", navigator="nav2")
    assert {spec.name for spec in stack(ROBOT_ALONE, both)} == {"sim", "go2_stand_in"}
    assert external(ROBOT_ALONE, both) == (), "they run beside it"


def test_the_topics_of_a_robot_may_lie_in_a_namespace() -> None:
    options = StackOptions(robot_topics="/a/", namespace="a", slam="none", navigator="external")
    base = next(spec for spec in stack("go2", options) if spec.name == "go2_base")
    assert dict(base.remappings)["api/sport/request"] == "/a/api/sport/request"


@pytest.mark.parametrize(
    ("use", "apart"), [("go2", True), ("sim", True), ("isaac", False), ("replay", False)]
)
def test_a_robot_in_a_namespace_has_transforms_of_its_own(use: str, apart: bool) -> None:
    for spec in stack(use, StackOptions(namespace="robot1")):
        assert ({"/tf": "tf", "/tf_static": "tf_static"}.items() <= dict(spec.remappings).items()) == apart
    assert not any(source.startswith("/") for spec in stack(use) for source, _ in spec.remappings)


def test_an_operator_is_heard_where_something_decides_and_sees_annotated_views() -> None:
    for use in USES:
        specs = {spec.name: spec for spec in stack(use, StackOptions(operator=True, namespace="robot1"))}
        assert ("operator" in specs) == ("goal_selector" in specs)
        assert "operator" not in {spec.name for spec in stack(use)}
        if "operator" in specs:
            assert "__ns:=/robot1" in specs["operator"].command()
            assert specs["ego_vlm_expert"].parameters["annotate"] is True


def test_options_reach_the_processes() -> None:
    options = StackOptions(
        world="warehouse", seed=9, slam="slam_toolbox", navigator="nav2", namespace="/robot1/"
    )
    specs = {spec.name: spec for spec in stack("sim", options)}
    assert "sim_navigator" not in specs
    assert dict(specs["sim"].parameters) == {
        "use_sim_time": True,
        "world": "warehouse",
        "seed": 9,
        "publish_map_to_odom": False,
    }
    assert specs["mapping"].parameters["source"] == "slam"
    assert "source" not in stack("sim")[2].parameters
    isaac = {spec.name: spec for spec in stack("sim", StackOptions(robot="isaac_bridge"))}
    assert isaac["sim"].parameters["isaac_bridge"] is True and "cloud_scan" in isaac
    assert [path.name for path in isaac["sim"].parameter_files] == ["sim.yaml", "isaac.yaml"]
    assert all("__ns:=/robot1" in spec.command() for spec in specs.values())
    assert stack("go2")[0].parameters["use_sim_time"] is False
    driver = {"go2_base", "go2_guard", "go2_lidar"}
    assert driver <= {spec.name for spec in stack("go2")}
    assert not driver & {spec.name for spec in stack("go2", StackOptions(driver="external"))}
    played = {spec.name: spec for spec in stack("sim", StackOptions(robot="go2_protocol"))}
    assert {*driver, "go2_stand_in"} <= set(played)
    assert dict(played["sim"].remappings)["cmd_vel_out"] == "stand_in/cmd_vel"
    assert dict(played["go2_base"].remappings)["api/sport/request"] == "/api/sport/request"
    assert "cmd_vel_out" not in dict(played["motion_gate"].remappings)
    given = StackOptions(parameters={"sim": {"seed": 4}})
    assert next(spec for spec in stack("sim", given) if spec.name == "sim").parameters["seed"] == 4


def test_what_the_list_does_not_hold_is_known() -> None:
    needed = {use: external(use, StackOptions(**defaults_of(use))) for use in USES}
    assert needed == {
        "sim": (), "go2": ("slam", "nav2"), ROBOT_ALONE: (), "isaac": ("slam", "nav2"), "replay": ()
    }  # fmt: skip
    assert external("sim", StackOptions(slam="slam_toolbox")) == ("slam",)
    assert external("sim", StackOptions(navigator="nav2")) == ("nav2",)
    assert external("go2", StackOptions(slam="none")) == ("nav2",)
    assert external("go2", StackOptions(slam="none", navigator="external")) == ()


def test_what_holds_a_latched_stop_is_never_started_again() -> None:
    for use in USES:
        final = {spec.name for spec in stack(use) if not spec.restart}
        assert final == {spec.name for spec in stack(use)} & {"motion_gate", "sim"}


def test_what_keeps_a_part_of_the_map_gets_the_folder_of_the_run() -> None:
    for use in USES:
        expected = {"mapping", "semantic_voxels", "scene_dictionary", "keyframes", "memory"}
        expected = set() if use == ROBOT_ALONE else expected
        expected |= {spec.name for spec in stack(use)} & {"world_model"}
        keepers = {spec.name: spec.in_run(Path("/runs/run-1"), "run-1") for spec in stack(use) if spec.keeps}
        assert set(keepers) == expected
        for spec in keepers.values():
            known = declared.parameters(spec.package, spec.executable)
            given = {name: value for name, value in spec.parameters.items() if name.startswith("checkpoint.")}
            assert given == {"checkpoint.folder": "/runs/run-1", "checkpoint.run": "run-1"}
            assert set(given) <= set(known)


def test_what_cannot_be_composed_says_why(tmp_path: Path) -> None:
    with pytest.raises(StackError, match="sim, go2, go2_stand_in, isaac, replay"):
        stack("moon")
    with pytest.raises(StackError, match="none, slam_toolbox"):
        StackOptions(slam="cartographer")
    for use in ("go2", "isaac"):
        with pytest.raises(StackError, match=f"for {use} take nav2, or external"):
            stack(use, StackOptions(navigator="sim"))
    with pytest.raises(StackError, match="a real Go2 alone"):
        stack("sim", StackOptions(driver="webrtc"))
    with pytest.raises(StackError, match="build abizovnuralem/go2_ros2_sdk"):
        executable_path("go2_robot_sdk", "go2_driver_node")
    with pytest.raises(StackError, match="in the simulator alone"):
        stack("go2", StackOptions(robot="go2_protocol"))
    with pytest.raises(StackError, match="seed:=abc is no whole number"):
        seed_of("abc")
    with pytest.raises(StackError, match="rate:=fast is no number"):
        rate_of("fast")
    with pytest.raises(StackError, match="above 0"):
        StackOptions(rate=0.0)
    with pytest.raises(StackError, match="the recording /nowhere does not exist"):
        StackOptions(bag="/nowhere")
    with pytest.raises(StackError, match="by the use replay alone"):
        stack("sim", StackOptions(bag=str(tmp_path)))
    with pytest.raises(StackError, match="give record to go2"):
        stack(ROBOT_ALONE, StackOptions(record=True))
    with pytest.raises(StackError, match="does not exist"):
        stack("sim", StackOptions(profiles=(tmp_path / "mine.yaml",)))
    with pytest.raises(StackError, match="nobody"):
        stack("sim", StackOptions(parameters={"nobody": {"a": 1}}))


def test_what_is_missing_is_named_at_once_before_anything_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROS_DISTRO", "kilted")
    needed = needed_packages("slam_toolbox", "nav2", rviz=True)
    assert set(needed.values()) == {"slam:=slam_toolbox", "navigator:=nav2", "rviz:=true"}
    assert needed_packages("none", "external", rviz=False) == {}
    refuse_missing(needed, share=lambda package: Path("/opt"))
    with pytest.raises(StackError) as told:
        refuse_missing(
            needed, share=lambda package: None if package in ("slam_toolbox", "rviz2") else Path("/opt")
        )
    said = str(told.value)
    assert "ros-kilted-slam-toolbox ros-kilted-rviz2" in said and "nav2" not in said
    assert "slam:=slam_toolbox and rviz:=true" in said


def test_what_nav2_loads_is_checked_before_anything_starts() -> None:
    """The check covers each package started by navigation.launch.py, and plugins of nav2.yaml from other packages."""
    text = (declared.ROOT / "config" / "nav2.yaml").read_text()
    plugins = set(re.findall(r"\"(nav2_\w+)::", text)) | set(re.findall(r": (nav2_\w+)::", text))
    brought = {"nav2_costmap_2d", "nav2_controller", "nav2_behaviors"}  # come with the servers
    started = set(re.findall(r"\"(nav2_\w+)\"", (LAUNCH / "navigation.launch.py").read_text()))
    assert started >= {"nav2_planner", "nav2_controller", "nav2_bt_navigator", "nav2_lifecycle_manager"}
    assert (plugins - brought) | started <= set(NAV2_PACKAGES), plugins
