"""Tests of nodes with map state that are killed (SIGKILL) and restarted: the map is kept, restarts are published."""

from __future__ import annotations

import json
import os
import signal
import stat
import time
from pathlib import Path

import pytest
from nav_msgs.msg import OccupancyGrid

from integration.commands import Command
from integration.fakes import FakeRobot
from lodestar_interfaces import msg
from lodestar_interfaces.action import ExportMap, LoadMap, SaveMap
from lodestar_interfaces.srv import GetEntities, GetKeyframe
from lodestar_ros import qos
from lodestar_ros.conversions import grid_from_msg
from lodestar_ros.conversions_scene import scene_from_msg

pytestmark = pytest.mark.slow

NODES = ("mapping", "perception", "semantic_voxels", "scene_dictionary", "keyframes", "text_embedder")
KEEPERS = ("mapping", "semantic_voxels", "scene_dictionary")
ENTITIES, INSTANCES, KEYFRAMES = (
    "scene_dictionary/entities",
    "semantic_voxels/instances",
    "keyframes/keyframes",
)
QUIET = 2.0  # s; a change is checkpointed within `checkpoint.interval` plus 0.5 s between two checks
SOON = 120.0  # s that a save waited for a dead node


@pytest.fixture(scope="module")
def robot(bed, processes):
    """Return a robot that has seen a box and a room, which all nodes have checkpointed."""
    robot = bed.on_executor(lambda: FakeRobot(bed))
    for kind, topic, profile in (
        (msg.SceneDelta, ENTITIES, qos.EVENT),
        (msg.InstanceArray, INSTANCES, qos.EVENT),
        (msg.Keyframe, KEYFRAMES, qos.EVENT),
        (OccupancyGrid, "grid", qos.LATCHED),
        (msg.NodeRestart, "restarts", qos.LATCHED),
    ):
        bed.hear(kind, topic, profile)
    processes.start(*NODES, parameters={name: {"checkpoint.interval": 0.5} for name in KEEPERS})
    bed.until(lambda: all(bed.diagnosis(name) for name in NODES), "every node's diagnostics")
    seen = lambda: any(scene_from_msg(delta).updated for _, delta in bed.heard[ENTITIES])  # noqa: E731
    robot.watch(lambda: seen() and bed.heard[KEYFRAMES], "an entity")
    robot.turn(lambda: bed.heard["grid"] and grid_from_msg(bed.last("grid")).free_area > 3.0, "a grid")
    wait_until_kept(bed, *KEEPERS)
    return robot


def wait_until_kept(bed, *names):
    """Wait until the nodes' checkpoints contain their current state, i.e. no new checkpoint for QUIET seconds.

    Diagnostics from before that time are ignored, as they refer to earlier checkpoints.
    """
    since = time.monotonic()
    bed.until(lambda: all(checkpoint_age(bed, name, since + QUIET) > QUIET for name in names), "checkpoints")


def checkpoint_age(bed, name, since):
    """Return the age of a node's checkpoint, s, from diagnostics received after `since` (monotonic s); -1 if none."""
    for at, array in reversed(bed.heard["/diagnostics"]):
        values = {
            item.key: item.value for status in array.status if status.name == name for item in status.values
        }
        if at < since:
            break
        if values:
            age = values.get("checkpoint.age_s", "none yet")
            return -1.0 if age == "none yet" else float(age)
    return -1.0


def entities(bed):
    request = GetEntities.Request(include_archived=True)
    delta = scene_from_msg(bed.call(GetEntities, "scene_dictionary/get_entities", request).delta)
    return {entity.id: entity for entity in delta.updated}


def dies(bed, processes, name):
    """Kill a node by SIGKILL, restart it like the supervisor, and return its restart message."""
    bed.forget("restarts")
    processes.kill(name)
    processes.starter.start_one(name)
    told = lambda: [message for _, message in bed.heard["restarts"] if message.node == name]  # noqa: E731
    return bed.until(told, f"that {name} came back")[0]


def test_voxels_go_on_and_the_scene_loses_nothing(bed, robot, processes):
    before, session = entities(bed), bed.last(INSTANCES).session_id
    assert before
    said = dies(bed, processes, "semantic_voxels")
    assert said.restored and "semantic_voxels died and came back with a map of" in said.text
    bed.until(
        lambda: said.text in bed.diagnosis("semantic_voxels").get("message", ""), "it is in diagnostics"
    )
    box = max(before.values(), key=lambda entity: entity.observation_count)
    robot.watch(
        lambda: entities(bed)[box.id].observation_count > box.observation_count,
        "the same thing under the same id",
    )
    bed.until(lambda: bed.last(INSTANCES).session_id != session, "instances of another session")
    assert bed.last(INSTANCES).session_id.split("+")[0] == session.split("+")[0]
    assert set(before) <= set(entities(bed))
    bed.until(lambda: bed.count("scene_dictionary", "instances.source_restarts") == 1, "the scene knows why")


def test_voxels_that_come_back_empty_clear_nothing_and_use_no_id_again(bed, robot, processes):
    before = entities(bed)
    folder = run_folder(processes, "semantic_voxels")
    processes.starter.send("semantic_voxels", signal.SIGSTOP)  # prevent later checkpoints
    (folder / "semantic_voxels.lodestar").unlink()
    highest = json.loads((folder / "semantic_voxels.json").read_text())["notes"]["next_id"]
    said = dies(bed, processes, "semantic_voxels")
    assert not said.restored and "empty map" in said.text
    bed.forget(INSTANCES)
    robot.watch(
        lambda: any(i.confirmed for _, m in bed.heard[INSTANCES] for i in m.updated), "the box as an instance"
    )
    ids = {i.id for _, m in bed.heard[INSTANCES] for i in m.updated}
    assert min(ids) >= highest

    def taken_over():
        found = entities(bed)
        return len(found) <= len(before) and any(identity >= highest for identity in found)

    robot.watch(taken_over, "the box of before is the box that is seen now")


def test_the_grid_goes_on_without_another_look(bed, robot, processes):
    wait_until_kept(bed, "mapping")
    area = grid_from_msg(bed.last("grid")).free_area
    processes.kill("mapping")
    bed.forget("grid")
    processes.starter.start_one("mapping")
    bed.until(lambda: bed.heard["grid"], "a grid of the node that came back")
    assert grid_from_msg(bed.last("grid")).free_area == pytest.approx(area, rel=0.05)
    bed.until(lambda: "mapping died" in bed.diagnosis("mapping").get("message", ""), "it says so")


def test_the_scene_goes_on_without_another_look(bed, robot, processes):
    wait_until_kept(bed, "scene_dictionary")
    before = entities(bed)
    assert dies(bed, processes, "scene_dictionary").restored
    bed.until(lambda: set(before) <= set(entities(bed)), "every entity")
    found = entities(bed)
    for identity, entity in before.items():
        assert (found[identity].caption, len(found[identity].views)) == (entity.caption, len(entity.views))


def test_images_go_on_and_nobody_else_can_read_them(bed, robot, processes):
    kept_id = bed.heard[KEYFRAMES][0][1].id
    assert dies(bed, processes, "keyframes").restored
    response = bed.call(GetKeyframe, "keyframes/get", GetKeyframe.Request(id=kept_id))
    assert response.error_code == 0 and len(response.image.data) > 100
    folder = run_folder(processes, "keyframes")
    images = list((folder / "images").iterdir())
    assert images and {stat.S_IMODE(path.stat().st_mode) for path in images} == {0o600}
    assert {stat.S_IMODE(path.stat().st_mode) for path in (folder, folder / "images")} == {0o700}


def run_folder(processes, name):
    """Return the folder of the run, from a process's command line."""
    line = Path(f"/proc/{processes.starter.pid(name)}/cmdline").read_text().split("\0")
    return Path(
        next(json.loads(word.split(":=", 1)[1]) for word in line if word.startswith("checkpoint.folder:="))
    )


# --- saves ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def saved(bed, robot, tmp_path_factory):
    folder = tmp_path_factory.mktemp("maps") / "map"
    result = save(bed, folder)
    assert result.error_code == 0, result.error_msg
    return folder


def save(bed, folder, **fields):
    return bed.action(SaveMap, "scene_dictionary/save").result(SaveMap.Goal(path=str(folder), **fields))


def test_a_save_does_not_wait_for_the_dead(bed, robot, processes, saved, tmp_path):
    action = bed.action(SaveMap, "scene_dictionary/save")
    processes.starter.send("semantic_voxels", signal.SIGSTOP)  # stopped, to be killed during the save
    goal = action.send(SaveMap.Goal(path=str(tmp_path / "map")))
    began = processes.now()
    bed.until(lambda: len(goal.feedback) >= 3, "signs of life of the scene dictionary")
    processes.kill("semantic_voxels")
    processes.starter.start_one("semantic_voxels")
    result = goal.result()
    assert began.passed() < SOON
    assert result.error_code in (0, SaveMap.Result.NODE_LOST), result.error_msg
    if result.error_code:
        assert "semantic_voxels" in result.error_msg and not (tmp_path / "map" / "CURRENT").exists()
    load, said = bed.action(LoadMap, "scene_dictionary/load"), []

    def loaded():  # once the node that was started again has been found
        result = load.result(LoadMap.Goal(path=str(saved)))
        said.append(result.error_msg)
        return result.error_code == 0

    bed.until(loaded, lambda: f"the map is loaded; {said[-3:]}")


def test_a_much_smaller_map_replaces_nothing_without_force(bed, robot, saved):
    manifest = saved / (saved / "CURRENT").read_text().strip() / "manifest.json"
    content = json.loads(manifest.read_text())
    assert content["meta"]["free_m2"] > 3.0
    content["meta"] |= {"entities": 79, "free_m2": 116.0}
    manifest.write_text(json.dumps(content))
    before = sorted(os.listdir(saved))
    refused = save(bed, saved)
    assert refused.error_code == SaveMap.Result.SMALLER_MAP
    assert "79 entities" in refused.error_msg and "--force" in refused.error_msg
    assert sorted(os.listdir(saved)) == before
    assert save(bed, saved, force=True).error_code == 0
    assert manifest.exists(), "the large map is one of the last five saves"
    for _ in range(5):
        assert save(bed, saved).error_code == 0
    assert not manifest.exists()
    assert len([child for child in saved.iterdir() if child.is_dir()]) == 5


def test_the_grid_alone_may_be_much_smaller_too(bed, robot, saved):
    manifest = saved / (saved / "CURRENT").read_text().strip() / "manifest.json"
    content = json.loads(manifest.read_text())
    content["meta"]["free_m2"] = 116.0
    manifest.write_text(json.dumps(content))
    refused = save(bed, saved)
    assert refused.error_code == SaveMap.Result.SMALLER_MAP and "116 m2" in refused.error_msg


@pytest.mark.parametrize("form", ["ply", "glb", "json"])
def test_an_export_overwrites_nothing_without_force(bed, robot, tmp_path, form):
    export = bed.action(ExportMap, "scene_dictionary/export")
    file = tmp_path / f"letter.{form}"
    file.write_text("dear")
    refused = export.result(ExportMap.Goal(path=str(file), format=form))
    assert refused.error_code == ExportMap.Result.FILE_EXISTS and "--force" in refused.error_msg
    assert file.read_text() == "dear" and list(tmp_path.iterdir()) == [file]
    done = export.result(ExportMap.Goal(path=str(file), format=form, force=True))
    assert done.error_code == 0 and done.bytes_written == file.stat().st_size


@pytest.mark.parametrize("halted", ["mapping", "semantic_voxels"])
def test_a_load_whose_leader_is_killed_is_done_by_its_successor(bed, robot, processes, tmp_path, halted):
    """The stopped node blocks the load halfway, after other nodes have prepared their parts."""
    saved = tmp_path / "map"
    assert save(bed, saved).error_code == 0
    notes = run_folder(processes, "scene_dictionary") / "scene_dictionary.json"
    noted = lambda: json.loads(notes.read_text())["notes"]  # noqa: E731
    content = json.loads((saved / (saved / "CURRENT").read_text().strip() / "manifest.json").read_text())
    load = bed.action(LoadMap, "scene_dictionary/load")
    processes.starter.send(halted, signal.SIGSTOP)
    goal = load.send(LoadMap.Goal(path=str(saved)))
    bed.until(lambda: goal.future.done() or noted().get("loading"), "the load is under way")
    assert not goal.future.done(), goal.future.result()
    time.sleep(1.0)
    told = dies(bed, processes, "scene_dictionary")
    processes.starter.send(halted, signal.SIGCONT)
    assert f"it was loading {saved}" in told.text and "it is loaded again now" in told.text
    bed.until(lambda: not noted().get("loading"), "the successor has loaded it")
    assert not noted()["unfinished"]
    bed.until(lambda: len(entities(bed)) == content["meta"]["entities"], "the things of the map")
    processes.assert_alive(besides=KEEPERS)


def test_the_doctor_tells_who_ended_while_it_looked(bed, robot, processes):
    doctor = Command("lodestar_ros.doctor", "--seconds", "30")
    listeners = lambda: bed.node.get_subscriptions_info_by_topic("/diagnostics")  # noqa: E731
    bed.until(lambda: any("doctor" in one.node_name for one in listeners()), "the doctor")
    for _ in range(6):  # it hears some of them too, which come once a second
        bed.next("/diagnostics", lambda message: any(one.name == "keyframes" for one in message.status))
    processes.kill("keyframes")
    doctor.ends()
    assert "keyframes" in doctor.text and "rcutils" not in doctor.text
    assert "its last word" in doctor.text or "keyframes has said nothing for" in doctor.text, doctor.text
    processes.starter.start_one("keyframes")
