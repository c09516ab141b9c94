"""Tests that script, profile and wiring match the contract with Isaac Sim."""

from __future__ import annotations

import ast
import json
import os
import re
from pathlib import Path

import declared
import isaac_files
import numpy as np
import pytest
import yaml

from lodestar.assembly.profiles import read_profiles
from lodestar.geometry.poses import BODY_FROM_OPTICAL
from lodestar.models.lexicon import load_lexicon
from lodestar_bringup.stack import ISAAC_BODY, StackOptions, stack
from lodestar_bringup.topics import ISAAC_CAMERA
from lodestar_sim.sensors import SensorConfig

CONFIG = declared.ROOT / "config"
CONTRACT = isaac_files.module("contract").load()
graphs, semantics = isaac_files.module("graphs"), isaac_files.module("semantics")
SPECS = (
    graphs.state_graph(CONTRACT, "/World/Go2/base"),
    graphs.sensor_graph(CONTRACT, "/World/Go2/base/camera", "/Render/Lidar"),
)
IMAGE, STRING = "sensor_msgs/msg/Image", "std_msgs/msg/String"
TYPES = {  # message type of each bridge node, from its sources
    "ROS2PublishClock": "rosgraph_msgs/msg/Clock",
    "ROS2PublishOdometry": "nav_msgs/msg/Odometry",
    "ROS2PublishRawTransformTree": "tf2_msgs/msg/TFMessage",
    "ROS2CameraInfoHelper": "sensor_msgs/msg/CameraInfo",
    "ROS2CameraHelper": IMAGE,
    "ROS2RtxLidarHelper": "sensor_msgs/msg/PointCloud2",
}
ENCODINGS = {
    "rgb": "rgb8",
    "depth": "32FC1",
    "semantic_segmentation": "32SC1",
    "instance_segmentation": "32SC1",
}
DEFAULT_FRAME = "sim_"  # prefix of a bridge node's default frame: sim_camera, sim_lidar


def inputs(spec, node: str) -> dict[str, object]:
    """Return the inputs of a node that are set in a graph."""
    start = f"{node}.inputs:"
    return {name.removeprefix(start): value for name, value in spec.values if name.startswith(start)}


def published() -> dict[str, tuple]:
    """Return topic -> (type, frame, QoS text, encoding) of all publishers in the graphs."""
    found: dict[str, tuple] = {}
    for spec in SPECS:
        for node, kind in spec.nodes:
            kind, given = kind.rsplit(".", 1)[1], inputs(spec, node)
            if kind not in TYPES:
                assert "topicName" not in given, f"{kind} publishes: add its type"
                continue
            frame = given.get("frameId", given.get("odomFrameId", given.get("parentFrameId", "")))
            if given.get("staticPublisher"):
                frame = "base_link"  # separate tree with root base_link
            row = (TYPES[kind], frame, given["qosProfile"], ENCODINGS.get(str(given.get("type")), ""))
            assert found.setdefault(given["topicName"], row) == row, given["topicName"]
            if given.get("enableSemanticLabels"):
                found[given["semanticLabelsTopicName"]] = (STRING, "", given["qosProfile"], "")
    return found


def test_the_graphs_publish_what_the_contract_says_and_nothing_else() -> None:
    expected = {
        name: (topic.type, topic.frame, topic.qos.bridge_text(), topic.encoding)
        for name, topic in CONTRACT.of("isaac").items()
    }
    assert published() == expected


def test_a_wrong_contract_is_noticed(tmp_path: Path) -> None:
    content = yaml.safe_load((isaac_files.FOLDER / "contract.yaml").read_text())
    content["topics"]["points"]["frame"] = "elsewhere"
    (tmp_path / "contract.yaml").write_text(yaml.safe_dump(content))
    other = isaac_files.module("contract").load(tmp_path / "contract.yaml")
    assert other.topics["points"].frame != published()["points"][1]
    content["topics"]["points"]["colour"] = "red"
    (tmp_path / "contract.yaml").write_text(yaml.safe_dump(content))
    with pytest.raises(TypeError, match="colour"):
        isaac_files.module("contract").load(tmp_path / "contract.yaml")


def test_the_transforms_of_the_graph_are_those_of_the_contract() -> None:
    state = SPECS[0]
    static = [
        (given["parentFrameId"], given["childFrameId"], given["translation"], given["rotation"])
        for given in (inputs(state, node) for node, _ in state.nodes)
        if given.get("staticPublisher")
    ]
    assert static == [(p.parent, p.child, p.translation, p.rotation) for p in CONTRACT.static]
    assert (inputs(state, "tf")["parentFrameId"], inputs(state, "tf")["childFrameId"]) == CONTRACT.moving
    chain = {p.child: p.parent for p in CONTRACT.static} | {CONTRACT.moving[1]: CONTRACT.moving[0]}
    frames = {topic.frame for topic in CONTRACT.of("isaac").values() if topic.frame}
    assert frames <= {*chain, *chain.values()}, "a frame of a topic is nowhere in TF"
    for place in CONTRACT.static:
        assert np.linalg.norm(place.rotation) == pytest.approx(1.0)


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.path)
def test_a_graph_is_sound(spec) -> None:
    names = [name for name, _ in spec.nodes]
    assert len(names) == len(set(names))
    places = [*(name for name, _ in spec.values), *(end for pair in spec.connections for end in pair)]
    assert {place.split(".")[0] for place in places} <= set(names)
    fed = [target for _, target in spec.connections] + [name for name, _ in spec.values]
    assert len(fed) == len(set(fed)), "an input has two sources"
    ticked = {target.split(".")[0] for _, target in spec.connections if target.endswith(".inputs:execIn")}
    assert set(names) - ticked == {"tick", "time"} & set(names), "a node is never executed"


def test_the_qos_text_is_what_the_bridge_accepts() -> None:
    """The bridge refuses integers for durations (Ros2QoS.h)."""
    for topic in CONTRACT.topics.values():
        text = json.loads(topic.qos.bridge_text())
        assert all(isinstance(text[name], float) for name in ("deadline", "lifespan", "leaseDuration"))
        assert text["reliability"] in ("reliable", "bestEffort")
        assert text["durability"] in ("volatile", "transientLocal")
        assert isinstance(text["depth"], int)


def test_the_qos_profiles_are_those_of_our_nodes() -> None:
    qos = pytest.importorskip("lodestar_ros.qos", reason="ROS 2 is not installed")
    for name, profile in CONTRACT.profiles.items():
        ours = qos.PROFILES[name]
        told = (ours.reliability.name.lower(), ours.durability.name.lower(), ours.depth)
        assert (profile.reliability, profile.durability, profile.depth) == told, name


def test_our_nodes_read_the_encodings_of_the_contract() -> None:
    conversions = pytest.importorskip("lodestar_ros.conversions_sensors", reason="ROS 2 is not installed")
    used = {topic.encoding for topic in CONTRACT.topics.values() if topic.encoding}
    assert len(used) == 3 and used <= set(conversions.DTYPES)


# --- our side ------------------------------------------------------------------------------------------


def test_the_wiring_of_the_launch_file_leads_to_topics_of_the_contract() -> None:
    specs = {spec.name: spec for spec in stack("isaac", StackOptions(slam="slam_toolbox", navigator="nav2"))}
    given = CONTRACT.of("isaac")
    assert {target for _, target in ISAAC_CAMERA} <= set(given)
    for name in ("perception", "mapping", "keyframes", "semantic_voxels"):
        assert set(ISAAC_CAMERA) <= set(specs[name].remappings)
    cameras = {name for name in given if name.startswith("camera/")}
    assert cameras == {target for _, target in ISAAC_CAMERA}, "what is rendered is heard"
    for process, topics in {"cloud_scan": {"points", "scan"}, "motion_gate": {"cmd_vel_out"}}.items():
        assert not topics & {source for source, _ in specs[process].remappings}
    assert set(CONTRACT.of("lodestar")) == {"scan", "cmd_vel_out"}


def test_the_types_of_our_inputs_are_those_of_the_contract() -> None:
    """Types are read from the calls of `listen` and `create_publisher` in our nodes' sources."""
    ours = {"depth": "image", "labels": "image", "label_instances": "image"}
    found = isaac_files.declared_types()
    for source, target in (*ISAAC_CAMERA, ("points", "points"), ("scan", "scan"), ("odom", "odom")):
        expected = CONTRACT.topics[target].type.rsplit("/", 1)[1]
        assert found[ours.get(source, source)] == {expected}, source
    assert "Twist" in found["cmd_vel_out"]


def test_the_profile_is_that_of_the_contract() -> None:
    robot = read_profiles([CONFIG / "isaac.yaml"])
    assert robot.mapping.octomap.floor.base_height == CONTRACT.base_height == ISAAC_BODY
    assert (robot.perception.adapter, robot.perception.components.by) == ("ground_truth", "instances")
    assert robot.mapping.source == "slam"
    without = {spec.name: spec for spec in stack("isaac", StackOptions(slam="none", navigator="external"))}
    assert without["mapping"].parameters["source"] == "lidar", "without SLAM there is no map to take"


def test_the_sensors_of_our_simulator_are_where_the_contract_has_them() -> None:
    sensors, places = SensorConfig(), {place.child: place for place in CONTRACT.static}
    down = np.array([0.0, 0.0, CONTRACT.base_height])
    camera, lidar = sensors.camera, sensors.lidar
    np.testing.assert_allclose(
        places["camera_link"].translation, camera.base_from_camera_link[:3, 3] - down, atol=1e-9
    )
    np.testing.assert_allclose(
        rotation(places["camera_link"].rotation), camera.base_from_camera_link[:3, :3], atol=1e-9
    )
    np.testing.assert_allclose(
        rotation(places["camera_optical_frame"].rotation), BODY_FROM_OPTICAL[:3, :3], atol=1e-9
    )
    np.testing.assert_allclose(places["lidar_link"].translation, np.array([lidar.x, 0.0, lidar.z]) - down)
    assert CONTRACT.camera == {
        "width": camera.width, "height": camera.height, "fx": camera.fx, "fy": camera.fy
    }  # fmt: skip


def rotation(quaternion) -> np.ndarray:
    """Return the matrix (3, 3) of a quaternion x, y, z, w."""
    x, y, z, w = quaternion
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


# --- the script ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", sorted(isaac_files.FOLDER.glob("*.py")), ids=lambda path: path.name)
def test_every_file_compiles_for_the_pythons_of_isaac_sim(path: Path) -> None:
    """Isaac Sim 5 has Python 3.11 and Isaac Sim 6 has 3.12."""
    ast.parse(path.read_text(), str(path), feature_version=(3, 11))
    assert len(path.read_text().splitlines()) <= 400


def test_the_script_names_no_topic_but_by_the_contract_and_starts_both_graphs() -> None:
    path = isaac_files.FOLDER / "run_go2.py"
    tree = ast.parse(path.read_text())
    indexed = {
        node.slice.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Attribute)
        and node.value.attr == "topics"
        and isinstance(node.slice, ast.Constant)
    }
    assert indexed and indexed <= set(CONTRACT.topics)
    slashed = {text for text in declared.names_in(path) if re.fullmatch(r"[a-z_]+(/[a-z_]+)+", text)}
    assert slashed <= set(CONTRACT.topics)
    called = {getattr(node.func, "id", "") for node in ast.walk(tree) if isinstance(node, ast.Call)}
    assert {"state_graph", "sensor_graph", "VelocityInput"} <= called


def test_the_camera_looks_as_camera_link_does() -> None:
    script = isaac_files.module("run_go2")
    expected = BODY_FROM_OPTICAL[:3, :3] @ np.diag([1.0, -1.0, -1.0])  # USD: y up, looks along -z
    np.testing.assert_allclose(script.LINK_FROM_USD_CAMERA, expected, atol=1e-9)
    assert CONTRACT.topics["points"].rate == 10, f"{script.LIDAR_CONFIG} turns at 10 Hz"
    assert script.PHYSICS_DT * CONTRACT.topics["/clock"].rate == pytest.approx(0.25), "four steps per image"


@pytest.mark.parametrize(
    ("prim", "name"),
    [
        ("SM_PaletteA_01", "pallet"),
        ("SM_CardBoxD_04_1847", "cardboard box"),
        ("SM_RackShelf_01", "pallet rack"),
        ("S_TrafficCone", "traffic cone"),
        ("S_WetFloorSign", "wet floor sign"),
        ("SM_BarelPlastic_A_01", "barrel"),
        ("SM_CratePlasticNote_A_01", "crate"),
        ("SM_FireExtinguisher_02", "fire extinguisher"),
        ("Forklift", "forklift"),
        ("DistantLight", None),
        ("Looks", None),
    ],
)
def test_prims_of_nvidias_warehouse_have_a_class(prim: str, name: str | None) -> None:
    assert semantics.ClassRules().class_of(prim) == name


class Prim:
    """Fake USD prim with the methods used by the search for objects."""

    def __init__(self, name: str, *children: Prim, kind: str = "Xform", label: str | None = None) -> None:
        self.name, self.children, self.kind, self.label = name, children, kind, label

    def GetName(self) -> str:
        return self.name

    def GetChildren(self) -> tuple[Prim, ...]:
        return self.children

    def GetTypeName(self) -> str:
        return self.kind


def test_an_object_is_the_outermost_prim_with_a_class_and_a_group_is_none() -> None:
    mesh = Prim("SM_PaletteA", kind="Mesh")
    scene = Prim(
        "Root",
        Prim("SM_PaletteA_01", Prim("SM_PaletteA_01", mesh, mesh)),
        Prim("Racks", Prim("SM_RackShelf_01"), Prim("SM_RackShelf_02", Prim("SM_CardBoxA_01"))),
        Prim("Looks", Prim("MI_RackFrame", kind="Material"), kind="Scope"),
        Prim("Mine", Prim("SM_CardBoxA_02"), label="sofa"),
        Prim("Unknown", Prim("S_TrafficCone")),
    )
    found = semantics.objects(scene, semantics.ClassRules(), lambda prim: prim.label)
    assert [(prim.name, name) for prim, name in found] == [
        ("SM_PaletteA_01", "pallet"),
        ("SM_RackShelf_01", "pallet rack"),
        ("SM_RackShelf_02", "pallet rack"),
        ("Mine", "sofa"),
        ("S_TrafficCone", "traffic cone"),
    ]


def test_the_language_knows_every_class() -> None:
    lexicon = load_lexicon()
    names = {name for _, name in yaml.safe_load((isaac_files.FOLDER / "semantics.yaml").read_text())}
    assert "pallet" in names
    assert {name for name in names if lexicon.canonical(name) is None} == set()


def test_a_file_of_classes_that_is_no_list_of_pairs_says_so(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("- [one, two, three]\n")
    with pytest.raises(ValueError, match=r"list of \[pattern, class\]"):
        semantics.ClassRules(tmp_path / "mine.yaml")


SOURCES = [Path(part) for part in os.environ.get("LODESTAR_ISAACSIM", "").split(os.pathsep) if part]


@pytest.mark.skipif(not SOURCES, reason="LODESTAR_ISAACSIM names no checkout of isaac-sim/IsaacSim")
@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
def test_isaac_sims_sources_have_every_node_input_and_output(source: Path) -> None:
    known = {}
    for path in source.rglob("*.ogn"):
        for name, node in json.loads(path.read_text()).items():
            whole = (
                name if "." in name else f"{path.relative_to(source / 'source/extensions').parts[0]}.{name}"
            )
            known[whole] = node
    wrong, checked = [], 0
    for spec in SPECS:
        kinds = {name: kind for name, kind in spec.nodes if "omni.graph" not in kind}
        assert set(kinds.values()) <= set(known)
        ends = [name for name, _ in spec.values] + [end for pair in spec.connections for end in pair]
        for end in ends:
            node, attribute = end.split(".")
            if node in kinds:
                side, name = attribute.split(":")
                checked += 1
                if name not in known[kinds[node]].get(side, {}):
                    wrong.append(end)
    assert wrong == [] and checked > 80
