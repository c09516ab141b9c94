"""Tests that all shipped profiles refer to existing nodes and parameters, with values of matching type."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from xml.etree import ElementTree

import declared
import pytest
import yaml

from lodestar.assembly import parts
from lodestar.assembly.profiles import ALL_NODES, read_profiles
from lodestar.models.config import ChatConfig
from lodestar.perception.picture_config import PicturesConfig
from lodestar.selection.policies import state_file
from lodestar_bringup.navigation import navigation_profile, slam_profile
from lodestar_bringup.places import config_folder
from lodestar_bringup.process_spec import MIDDLEWARE, ON_CABLE, SMALL_MIDDLEWARE, UDP_MIDDLEWARE
from lodestar_bringup.stack import USES, StackOptions, stack

CONFIG = declared.ROOT / "config"


def load(path: Path) -> dict[str, dict[str, object]]:
    """Return node name -> flat parameters of a profile; its keys must match in every namespace."""
    loaded = {}
    for key, section in (yaml.safe_load(path.read_text()) or {}).items():
        whole = key == "/**"  # parameters of all nodes
        assert whole or key.startswith("/**/"), (
            f"{path.name}: write {key!r} as '/**/{key}', or a namespace loses it"
        )
        assert set(section) == {"ros__parameters"}, f"{path.name}: {key}"
        loaded[key.removeprefix("/**/")] = dict(flat(section["ros__parameters"] or {}))
    return loaded


def flat(section: dict[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    for name, value in section.items():
        if isinstance(value, dict):
            yield from flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def fits(value: object, default: object) -> bool:
    """Return whether a YAML value is allowed for a parameter with this default."""
    if default is None:
        return True
    if isinstance(default, bool) or isinstance(value, bool):
        return isinstance(default, bool) and isinstance(value, bool)
    if isinstance(default, float):
        return isinstance(value, (int, float))
    if isinstance(default, int):
        return isinstance(value, int)
    if isinstance(default, (tuple, list)):
        return isinstance(value, list) and all(fits(item, default[0]) for item in value if default)
    return isinstance(value, str)  # texts, paths and enumeration names


ADDITIONS = ("language_model", "measured", "nanodet", "network")  # loaded after the profile of any use
OF_GO2 = ("go2_rehearsal", "go2_webrtc")  # loaded after go2.yaml
OF_ISAAC = ("isaac_go2_ros2",)  # loaded after isaac.yaml
PLAYED = StackOptions(robot="go2_protocol")  # loads go2_protocol.yaml after the simulator's profile


@pytest.mark.parametrize(
    ("use", "file"),
    [
        *((use, use) for use in USES),
        *(("sim", name) for name in ADDITIONS),
        ("sim", "go2_protocol"),
        *(("go2", name) for name in OF_GO2),
        *(("isaac", name) for name in OF_ISAAC),
    ],
)
def test_a_profile_overrides_only_what_its_nodes_have(use: str, file: str) -> None:
    specs = {spec.name: spec for spec in stack(use, PLAYED if file == "go2_protocol" else None)}
    profile = load(CONFIG / f"{file}.yaml")
    wrong = []
    every = {
        name: kind
        for spec in specs.values()
        if spec.package.startswith("lodestar")
        for name, kind in declared.parameters(spec.package, spec.executable).items()
    }
    for name, values in profile.items():
        if name not in specs and name != ALL_NODES:
            wrong.append(f"{name} is not started")
            continue
        known = (
            every if name == ALL_NODES else declared.parameters(specs[name].package, specs[name].executable)
        )
        for parameter, value in values.items():
            if parameter not in known:
                wrong.append(f"{name} has no parameter {parameter}")
            elif not fits(value, known[parameter]):
                wrong.append(f"{name}.{parameter} = {value!r} is not like {known[parameter]!r}")
    assert wrong == []


@pytest.mark.parametrize(
    ("use", "options"),
    [
        *((use, StackOptions()) for use in USES),
        *((use, StackOptions(slam="slam_toolbox", navigator="nav2")) for use in USES),
        ("sim", PLAYED),
    ],
)
def test_the_list_gives_only_parameters_that_its_nodes_have(use: str, options: StackOptions) -> None:
    wrong = []
    for spec in stack(use, options):
        known = declared.parameters(spec.package, spec.executable)
        for parameter, value in spec.parameters.items():
            if parameter not in known or not fits(value, known[parameter]):
                wrong.append(f"{spec.name}: {parameter} = {value!r}")
    assert wrong == []


@pytest.mark.parametrize("use", USES)
def test_pictures_of_a_target_are_read_by_the_detector_of_perception(use: str) -> None:
    profile = load(CONFIG / f"{use}.yaml")
    perception, pictures = (
        profile.get("perception", {}),
        read_profiles([CONFIG / f"{use}.yaml"]).shared.pictures,
    )
    sees = perception.get("adapter") == "ultralytics"
    assert pictures.adapter == ("detector" if sees else "none")
    assert pictures.detector.model == (perception["model"] if sees else "")


@pytest.mark.parametrize("use", USES)
def test_every_node_declares_its_configuration(use: str) -> None:
    """A node without any found parameter would mean that the scanner fails on it."""
    bare = [
        spec.name
        for spec in [*stack(use), *(stack("sim", PLAYED) if use == "sim" else [])]
        if set(declared.parameters(spec.package, spec.executable)) == set(declared.ROS_PARAMETERS)
    ]
    assert bare == []


@pytest.mark.parametrize("use", USES)
def test_a_shipped_profile_says_what_parts_share_once(use: str) -> None:
    """Shared parameters are set once, in a profile alone and combined with each addition."""
    for files in ([use], *([use, name] for name in (*ADDITIONS, "go2_protocol"))):
        read_profiles([CONFIG / f"{name}.yaml" for name in files])


def test_what_is_read_after_the_profile_of_a_go2_says_what_parts_share_once() -> None:
    for name in OF_GO2:
        read_profiles([CONFIG / "go2.yaml", CONFIG / f"{name}.yaml"])
    assert (
        read_profiles([CONFIG / "go2.yaml", CONFIG / "go2_rehearsal.yaml"]).perception.adapter
        == "ground_truth"
    )
    assert read_profiles([CONFIG / "go2.yaml", CONFIG / "go2_webrtc.yaml"]).mapping.source == "depth"


def test_no_profile_is_left_over() -> None:
    known = {*USES, *ADDITIONS, *OF_GO2, *OF_ISAAC, "go2_protocol", "nav2", "slam_toolbox", "signs"}
    assert {path.stem for path in CONFIG.glob("*.yaml")} == known
    assert config_folder() == CONFIG


@pytest.mark.parametrize(("name", "segment", "message"), [(MIDDLEWARE, 32, 16), (SMALL_MIDDLEWARE, 8, 4)])
def test_the_middleware_profiles_are_what_images_and_memory_need(
    name: str, segment: int, message: int
) -> None:
    space = "{http://www.eprosima.com/XMLSchemas/fastRTPS_Profiles}"
    tree = ElementTree.parse(CONFIG / name).getroot()
    shared = next(
        element
        for element in tree.iter(f"{space}transport_descriptor")
        if element.findtext(f"{space}type") == "SHM"
    )
    assert int(shared.findtext(f"{space}segment_size", "0")) == segment * 2**20
    assert int(shared.findtext(f"{space}maxMessageSize", "0")) == message * 2**20
    types = {element.text for element in tree.iter(f"{space}type")}
    assert types == {"SHM", "UDPv4"}
    assert [element.text for element in tree.iter(f"{space}kind")] == ["SYNCHRONOUS"]


@pytest.mark.parametrize("name", [UDP_MIDDLEWARE, ON_CABLE["go2_base"]])
def test_the_processes_that_stop_the_robot_or_decide_have_no_shared_memory(name: str) -> None:
    space = "{http://www.eprosima.com/XMLSchemas/fastRTPS_Profiles}"
    tree = ElementTree.parse(CONFIG / name).getroot()
    assert [element.text for element in tree.iter(f"{space}type")] == ["UDPv4"]
    assert [element.text for element in tree.iter(f"{space}useBuiltinTransports")] == ["false"]
    assert [element.text for element in tree.iter(f"{space}kind")] == ["SYNCHRONOUS"]


def test_every_profile_names_its_interfaces_and_only_those_of_the_cable_leave_this_computer() -> None:
    space = "{http://www.eprosima.com/XMLSchemas/fastRTPS_Profiles}"
    profiles = sorted(CONFIG.glob("fastdds*.xml"))
    assert len(profiles) == 5
    for profile in profiles:
        tree = ElementTree.parse(profile).getroot()
        for udp in tree.iter(f"{space}transport_descriptor"):
            if udp.findtext(f"{space}type") != "SHM":
                named = {one.text for one in udp.iter(f"{space}address")}
                cable = {"192.168.123.18", "192.168.123.99"} if profile.name in ON_CABLE.values() else set()
                assert named == {"127.0.0.1"} | cable, profile.name
        assert [one.text for one in tree.iter(f"{space}useBuiltinTransports")] == ["false"]


def test_publishers_of_images_get_the_large_segment_and_a_users_own_profile_stays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    variable = "FASTDDS_DEFAULT_PROFILES_FILE"
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "SUBNET")
    for shipped in ("", str(CONFIG / MIDDLEWARE)):
        monkeypatch.setenv(variable, shipped)
        given = {spec.name: Path(spec.process_environment()[variable]).name for spec in stack("sim")}
        assert {given[name] for name in ("sim", "perception", "semantic_voxels")} == {MIDDLEWARE}
        assert {given[name] for name in ("keyframes", "frontier_expert")} == {SMALL_MIDDLEWARE}
        assert {given[name] for name in ("goal_selector", "sim_navigator", "world_model")} == {UDP_MIDDLEWARE}
        given |= {
            spec.name: Path(spec.process_environment()[variable]).name
            for spec in (*stack("go2"), *stack("go2_stand_in"))
        }
        assert {given[name] for name in ("motion_gate", "go2_stand_in")} == {UDP_MIDDLEWARE}
        assert {name: file for name, file in given.items() if "cable" in file} == dict(ON_CABLE)
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    given = {spec.name: Path(spec.process_environment()[variable]).name for spec in stack("go2")}
    stopping = ("motion_gate", "go2_base", "go2_guard")
    assert {given[name] for name in stopping} == {UDP_MIDDLEWARE}
    assert not set(given.values()) & set(ON_CABLE.values())
    monkeypatch.setenv(variable, "/etc/mine.xml")
    assert {spec.process_environment()[variable] for spec in stack("sim")} == {"/etc/mine.xml"}


@pytest.mark.parametrize("scope", ["LOCALHOST", "localhost", "OFF", "SUBNET", "SYSTEM_DEFAULT", None])
@pytest.mark.parametrize("only", ["1", "0", None])
def test_only_a_stack_that_may_leave_this_computer_uses_the_cable(
    scope: str | None, only: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FASTDDS_DEFAULT_PROFILES_FILE", raising=False)
    monkeypatch.delenv("RMW_IMPLEMENTATION", raising=False)
    for name, value in (("ROS_AUTOMATIC_DISCOVERY_RANGE", scope), ("ROS_LOCALHOST_ONLY", only)):
        monkeypatch.delenv(name, raising=False)
        if value is not None:
            monkeypatch.setenv(name, value)
    given = [spec.process_environment() for spec in stack("go2")]
    local = only == "1" or (scope or "").upper() in ("LOCALHOST", "OFF")
    cabled = [one for one in given if "cable" in one["FASTDDS_DEFAULT_PROFILES_FILE"]]
    assert len(cabled) == (0 if local else len(ON_CABLE))
    for one in given:  # the profile alone names the interfaces
        assert one["ROS_AUTOMATIC_DISCOVERY_RANGE"] == "SYSTEM_DEFAULT"
        assert {**os.environ, **one}.get("ROS_LOCALHOST_ONLY") in ("0", None)


@pytest.mark.parametrize(
    ("rmw", "ranges"),
    [
        ("", {"SYSTEM_DEFAULT"}),
        ("rmw_fastrtps_cpp", {"SYSTEM_DEFAULT"}),
        ("rmw_fastrtps_dynamic_cpp", {"SYSTEM_DEFAULT"}),
        ("rmw_cyclonedds_cpp", set()),  # not confined to loopback: the confining file is for Fast DDS only
        ("rmw_zenoh_cpp", set()),
    ],
)
def test_fast_dds_leaves_the_interfaces_to_the_profile(
    rmw: str, ranges: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    monkeypatch.delenv("FASTDDS_DEFAULT_PROFILES_FILE", raising=False)
    monkeypatch.setenv("RMW_IMPLEMENTATION", rmw)
    given = [spec.process_environment() for spec in (*stack("go2"), *stack("go2_stand_in"))]
    name = "ROS_AUTOMATIC_DISCOVERY_RANGE"
    assert {environment[name] for environment in given if name in environment} == ranges


# --- Nav2 and SLAM Toolbox -----------------------------------------------------------------------------


def test_nav2_drives_the_same_robot_as_the_core_thinks_of() -> None:
    from lodestar.grid.footprint import Footprint

    nav2 = load(CONFIG / "nav2.yaml")
    footprint = Footprint()
    for costmap in ("local_costmap", "global_costmap"):
        corners = yaml.safe_load(str(nav2[costmap]["footprint"]))
        xs, ys = zip(*corners)
        assert max(xs) - min(xs) == pytest.approx(footprint.length)
        assert max(ys) - min(ys) == pytest.approx(footprint.width)
    controller = nav2["controller_server"]
    assert str(nav2["planner_server"]["GridBased.plugin"]).startswith("nav2_smac_planner::")
    smoother = nav2["velocity_smoother"]
    for plugin in controller["controller_plugins"]:
        assert controller[f"{plugin}.motion_model"] == "Omni"
        assert controller[f"{plugin}.CostCritic.consider_footprint"] is True
        assert [controller[f"{plugin}.{name}_max"] for name in ("vx", "vy", "wz")] == smoother["max_velocity"]
        assert controller[f"{plugin}.vx_min"] == smoother["min_velocity"][0]


def test_every_critic_of_a_controller_is_listed_and_has_its_weights() -> None:
    controller = load(CONFIG / "nav2.yaml")["controller_server"]
    for plugin in controller["controller_plugins"]:
        critics = controller[f"{plugin}.critics"]
        weighed = {
            name.split(".")[1] for name in controller if name.startswith(f"{plugin}.") and "Critic." in name
        }
        assert weighed == set(critics) and len(critics) == len(weighed), plugin


def test_nav2_reads_the_grid_that_the_experts_plan_on_and_speaks_unstamped_velocities() -> None:
    nav2 = load(CONFIG / "nav2.yaml")
    assert nav2["global_costmap"]["static_layer.map_topic"] == "/grid"
    assert nav2["global_costmap"]["static_layer.map_subscribe_transient_local"] is True
    for name in ("controller_server", "behavior_server", "velocity_smoother"):
        assert nav2[name]["enable_stamped_cmd_vel"] is False


def test_nav2_and_slam_use_the_frames_of_the_stack() -> None:
    nav2, slam = load(CONFIG / "nav2.yaml"), load(CONFIG / "slam_toolbox.yaml")["slam_toolbox"]
    assert (slam["map_frame"], slam["odom_frame"], slam["base_frame"]) == ("map", "odom", "base_link")
    frames = {
        value
        for values in nav2.values()
        for name, value in values.items()
        if name.endswith(("_frame", "_base_frame"))
    }
    assert frames == {"map", "odom", "base_link"}


def test_a_namespace_and_humble_get_their_own_nav2_profile() -> None:
    text = (CONFIG / "nav2.yaml").read_text()
    assert navigation_profile(text, "jazzy", "") == text
    spaced = yaml.safe_load(navigation_profile(text, "jazzy", "/robot1/"))
    costmap = spaced["/**/global_costmap"]["ros__parameters"]
    assert costmap["static_layer"]["map_topic"] == "/robot1/grid"
    assert costmap["obstacle_layer"]["scan"]["topic"] == "/robot1/scan"
    humble = yaml.safe_load(navigation_profile(text, "humble", ""))
    planner = humble["/**/planner_server"]["ros__parameters"]["GridBased"]["plugin"]
    controller = humble["/**/controller_server"]["ros__parameters"]["FollowPath"]["plugin"]
    assert planner == "nav2_smac_planner/SmacPlanner2D"
    assert controller == "nav2_mppi_controller::MPPIController"


def test_slam_toolbox_follows_into_a_namespace() -> None:
    text = (CONFIG / "slam_toolbox.yaml").read_text()
    assert slam_profile(text, "") == text
    spaced = yaml.safe_load(slam_profile(text, "/robot1/"))["/**/slam_toolbox"]["ros__parameters"]
    assert (spaced["scan_topic"], spaced["map_name"]) == ("/robot1/scan", "/robot1/map")
    absolute = {name for name, value in spaced.items() if isinstance(value, str) and value.startswith("/")}
    assert absolute == {"scan_topic", "map_name"}


@pytest.mark.parametrize("use", USES)
def test_the_map_of_a_3d_sensor_shows_where_the_floor_ends(use: str) -> None:
    mapping = read_profiles([CONFIG / f"{use}.yaml"]).mapping
    assert mapping.source != "scan" and mapping.octomap.floor.enabled


def configurations(config: object, path: str) -> Iterator[tuple[str, object]]:
    """Yield path and record of every nested configuration."""
    yield path, config
    for name, value in vars(config).items():
        for key, inner in value.items() if isinstance(value, dict) else [(name, value)]:
            if is_dataclass(inner):
                yield from configurations(inner, f"{path}.{key}")


SWITCHES = {"language_model": "endpoint", "vision_model": "vision_endpoint", "pictures": "vision_endpoint"}


def switch_of(chat_path: str, records: dict[str, object]) -> str:
    """Return the name of the shared switch in the nearest configuration that encloses a chat, "" = none."""
    path = chat_path
    while "." in path:
        path = path.rpartition(".")[0]
        if isinstance(records[path], PicturesConfig):
            return "pictures"
        marks = {item.metadata.get("shared") for item in fields(records[path])}  # type: ignore[arg-type]
        if found := marks & set(SWITCHES):
            return str(found.pop())
    return ""


@pytest.mark.parametrize(
    "profile", [None, *sorted(CONFIG.glob("*.yaml"))], ids=lambda p: p.name if p else "none"
)
def test_no_capability_is_half_on(profile: Path | None) -> None:
    """All clients of models use the shared switch and endpoint, in every profile, alone and with models enabled."""
    models = CONFIG / "language_model.yaml"
    own = [profile] if profile is not None and is_ours(profile) else []
    for paths in (own, [*own, models]):
        config = read_profiles(paths)
        shared = config.shared
        records = dict(configurations(config, "robot"))
        chats = {path: one for path, one in records.items() if isinstance(one, ChatConfig)}
        assert len(chats) >= 8
        for path, chat in chats.items():
            endpoint = getattr(shared, SWITCHES[switch_of(path, records)])
            assert (chat.model, chat.base_url) == (endpoint.model, endpoint.base_url), path
        for path, one in records.items():
            for item in fields(one):  # type: ignore[arg-type]
                if item.metadata.get("shared") in ("language_model", "vision_model"):
                    assert getattr(one, item.name) == getattr(shared, item.metadata["shared"]), path
        if models in paths:
            assert shared.language_model and shared.vision_model and shared.pictures.adapter != "none"
        assert not shared.vision_model or shared.pictures.adapter != "none"


def is_ours(profile: Path) -> bool:
    """Return whether a YAML file contains parameters of our nodes."""
    return "ros__parameters" in profile.read_text() and profile.stem not in ("nav2", "slam_toolbox")


@pytest.mark.parametrize("node", ["goal_selector", "memory"])
def test_a_go2_reads_pictures_wherever_one_may_come(node: str) -> None:
    """Goal selector and memory use the shared picture reader and have no own setting."""
    known = declared.parameters("lodestar_ros", node)
    assert not [name for name in known if name.startswith("pictures.")]
    assert read_profiles([CONFIG / "go2.yaml"]).shared.pictures.adapter == "detector"


@pytest.mark.parametrize("content", ["", "{"])
def test_a_robot_goes_on_from_its_kept_policy_and_a_benchmark_with_its_profile_reads_none(
    content, tmp_path, monkeypatch
):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    config = read_profiles([CONFIG / "go2.yaml"]).goal_selector
    file = state_file(config.selection, config.experts)
    file.parent.mkdir(parents=True)
    file.write_text(content)
    warnings = []
    parts.policy(config, warn=warnings.append)
    assert not warnings and file.read_text() == content
    parts.policy(config, keeps=True, warn=warnings.append)
    assert "set aside" in warnings[0] and not file.exists()
