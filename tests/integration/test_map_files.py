"""Tests of a running stack that saves, loads and exports its map, and publishes keep-out zones."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from nav2_msgs.msg import CostmapFilterInfo
from nav_msgs.msg import OccupancyGrid
from waiting import PATIENCE

from integration.fakes import FakeRobot
from lodestar.language.grammar import parse_directive
from lodestar_interfaces import msg
from lodestar_interfaces.action import ExportMap, LoadMap, SaveMap
from lodestar_interfaces.srv import GetEntities, GetKeyframe
from lodestar_ros import qos
from lodestar_ros.conversions import grid_from_msg
from lodestar_ros.conversions_language import directive_to_msg
from lodestar_ros.conversions_scene import scene_from_msg

NODES = ("mapping", "perception", "semantic_voxels", "scene_dictionary", "keyframes", "text_embedder")
ENTITIES = "scene_dictionary/entities"


@pytest.fixture(scope="module")
def robot(bed, processes):
    robot = bed.on_executor(lambda: FakeRobot(bed))
    bed.hear(msg.SceneDelta, ENTITIES, qos.EVENT)
    bed.hear(msg.Keyframe, "keyframes/keyframes", qos.EVENT)
    bed.hear(OccupancyGrid, "grid", qos.LATCHED)
    bed.hear(OccupancyGrid, "scene_dictionary/keep_out_mask", qos.LATCHED)
    bed.hear(CostmapFilterInfo, "scene_dictionary/costmap_filter_info", qos.LATCHED)
    processes.start(*NODES)
    bed.until(lambda: all(bed.diagnosis(name) for name in NODES), "every node's diagnostics")
    seen = lambda: any(scene_from_msg(delta).updated for _, delta in bed.heard[ENTITIES])  # noqa: E731
    robot.watch(lambda: seen() and bed.heard["keyframes/keyframes"], "an entity")
    return robot


@pytest.fixture(autouse=True)
def nobody_died(robot, processes):
    yield
    processes.assert_alive()


@pytest.fixture(scope="module")
def saved(bed, robot, tmp_path_factory):
    """Return a folder with the saved map, and the map's content."""
    folder = tmp_path_factory.mktemp("maps") / "map"
    result = bed.action(SaveMap, "scene_dictionary/save").result(SaveMap.Goal(path=str(folder)))
    assert result.error_code == 0, result.error_msg
    assert result.entity_count > 0 and result.bytes_written > 1000
    return folder, entities(bed)


def entities(bed):
    """Return the entities by id, from the service, and their session."""
    response = bed.call(
        GetEntities, "scene_dictionary/get_entities", GetEntities.Request(include_archived=True)
    )
    delta = scene_from_msg(response.delta)
    return {entity.id: entity for entity in delta.updated}, delta.session_id


def load(bed, folder):
    return bed.action(LoadMap, "scene_dictionary/load").result(LoadMap.Goal(path=str(folder)))


def test_what_was_saved_goes_on_in_the_running_stack(bed, robot, saved):
    folder, (known, session) = saved
    bed.forget(ENTITIES)
    result = load(bed, folder)
    assert result.error_code == 0, result.error_msg
    found, other_session = entities(bed)
    assert set(known) <= set(found) and other_session != session
    bed.until(
        lambda: any(m.session_id == other_session for _, m in bed.heard[ENTITIES]), "followers hear of it"
    )
    box = max(known.values(), key=lambda e: e.observation_count)
    robot.watch(
        lambda: entities(bed)[0][box.id].observation_count > box.observation_count,
        "the same thing, seen again",
    )
    later, _ = entities(bed)
    assert later[box.id].label == box.label and later[box.id].first_seen == pytest.approx(box.first_seen)
    kept = bed.heard["keyframes/keyframes"][0][1].id
    response = bed.call(GetKeyframe, "keyframes/get", GetKeyframe.Request(id=kept))
    assert response.error_code == 0 and len(response.image.data) > 100


def test_from_a_terminal(bed, robot, saved, tmp_path):
    def maps(*arguments):
        line = [sys.executable, "-m", "lodestar_ros.maps", *map(str, arguments)]
        return subprocess.run(line, capture_output=True, text=True, timeout=PATIENCE, check=False)

    done = maps("save", tmp_path / "map")
    assert done.returncode == 0 and "entities" in done.stdout, done.stderr
    assert maps("load", tmp_path / "map").returncode == 0
    assert (
        maps("export", tmp_path / "map.json").returncode == 0 and (tmp_path / "map.json").stat().st_size > 100
    )
    refused = maps("load", tmp_path / "nothing")
    assert refused.returncode == 1 and "11300" in refused.stderr
    assert maps("export", tmp_path / "map.obj").returncode == 2


def test_saving_again_keeps_the_save_before(bed, robot, saved):
    folder, _ = saved
    result = bed.action(SaveMap, "scene_dictionary/save").result(SaveMap.Goal(path=str(folder)))
    assert result.error_code == 0, result.error_msg
    assert len([child for child in folder.iterdir() if child.is_dir()]) == 2
    assert load(bed, folder).error_code == 0


def test_a_bad_file_is_refused_and_changes_nothing(bed, robot, saved, tmp_path):
    before = set(entities(bed)[0])
    (tmp_path / "letter").write_text("dear")
    assert load(bed, tmp_path / "nothing").error_code == LoadMap.Result.BAD_PATH
    assert load(bed, tmp_path).error_code == LoadMap.Result.BAD_FORMAT
    save = bed.action(SaveMap, "scene_dictionary/save")
    assert save.result(SaveMap.Goal(path=str(tmp_path))).error_code == SaveMap.Result.BAD_PATH
    assert (tmp_path / "letter").read_text() == "dear"
    assert save.result(SaveMap.Goal(path="")).error_code == SaveMap.Result.BAD_PATH
    assert before <= set(entities(bed)[0])


def test_a_truncated_file_is_refused_and_changes_nothing(bed, robot, tmp_path):
    folder = tmp_path / "map"
    save = bed.action(SaveMap, "scene_dictionary/save")
    assert save.result(SaveMap.Goal(path=str(folder))).error_code == 0
    part = folder / (folder / "CURRENT").read_text().strip()
    start = entities(bed)[1].split(".")[-1]  # the part before it depends on the voxel map
    for name in ("voxels.lodestar", "scene.lodestar"):
        content = (part / name).read_bytes()
        os.truncate(part / name, len(content) // 2)
        result = load(bed, folder)
        assert result.error_code == LoadMap.Result.BAD_FORMAT and name in result.error_msg
        (part / name).write_bytes(content[:-100] + bytes(100))  # right size, but corrupted
        assert load(bed, folder).error_code == LoadMap.Result.BAD_FORMAT
        (part / name).write_bytes(content)
    assert entities(bed)[1].split(".")[-1] == start, "the old scene goes on"
    assert load(bed, folder).error_code == 0


@pytest.mark.parametrize("form", ["ply", "glb", "json"])
def test_exports(bed, robot, tmp_path, form):
    export = bed.action(ExportMap, "scene_dictionary/export")
    file = tmp_path / f"map.{form}"
    result = export.result(ExportMap.Goal(path=str(file), format=form))
    assert result.error_code == 0, result.error_msg
    data = file.read_bytes()
    assert result.bytes_written == len(data)
    assert data[:4] == {"ply": b"ply\n", "glb": b"glTF", "json": b'{\n "'}[form]
    if form == "json":
        assert "red box" in {e["caption"] for e in json.loads(data)["entities"]}
    bad = export.result(ExportMap.Goal(path=str(tmp_path / "no" / "folder" / "x"), format=form))
    assert bad.error_code in (ExportMap.Result.BAD_PATH, ExportMap.Result.WRITE_FAILED)


def test_an_unknown_format_is_refused(bed, robot, tmp_path):
    export = bed.action(ExportMap, "scene_dictionary/export")
    result = export.result(ExportMap.Goal(path=str(tmp_path / "x"), format="obj"))
    assert result.error_code == ExportMap.Result.BAD_FORMAT and "ply" in result.error_msg


# --- keep-out zones ------------------------------------------------------------------------------------


def test_a_constraint_becomes_a_keep_out_mask(bed, robot):
    robot.turn(lambda: bed.heard["grid"], "a grid")
    info = bed.until(lambda: bed.last("scene_dictionary/costmap_filter_info"), "the filter's info")
    assert (info.type, info.base, info.multiplier) == (0, 0.0, 1.0)
    assert info.filter_mask_topic == "/scene_dictionary/keep_out_mask"
    publisher = bed.on_executor(
        lambda: bed.node.create_publisher(msg.Directive, "goal_selector/directive", qos.LATCHED)
    )
    publisher.publish(directive_to_msg(parse_directive("find the mug; keep 0.5 m away from the red box")))

    def zone():
        message = bed.last("scene_dictionary/keep_out_mask")
        return message is not None and grid_from_msg(message).occupied.any()

    robot.watch(zone, "a zone")
    mask = grid_from_msg(bed.last("scene_dictionary/keep_out_mask"))
    box = max((e for e in entities(bed)[0].values() if e.label == "box"), key=lambda e: e.observation_count)
    cells = np.argwhere(mask.occupied)
    points = mask.points_of(cells)
    gap = np.linalg.norm(
        np.maximum(np.maximum(box.box_min[:2] - points, points - box.box_max[:2]), 0.0), axis=1
    )
    assert gap.max() < 0.5 + 0.35, "no farther than the distance and a few cells"
    beside = mask.cells_of(np.array([[box.box_min[0] - 0.3, box.mean[1]]]))[0]
    assert mask.occupied[tuple(beside)]
    layer = "scene_dictionary/similarity/constraint"
    bed.hear(OccupancyGrid, layer, qos.LATCHED)
    bed.until(lambda: any(max(m.data, default=0) > 50 for _, m in bed.heard[layer]), "the constraint's field")
    publisher.publish(msg.Directive())  # as published when the directive has ended
    robot.watch(lambda: not zone(), "no zone any more")
    bed.until(lambda: max(bed.last(layer).data, default=0) <= 0, "the constraint's field is empty")
    assert bed.last("scene_dictionary/costmap_filter_info").type == 0, (
        "the filter stays, for the next directive"
    )
