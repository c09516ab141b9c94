"""Tests of the pipeline from images to entities through four processes, with all kinds of bad input."""

from __future__ import annotations

import itertools
import json
import time

import numpy as np
import pytest
from nav_msgs.msg import OccupancyGrid
from octomap_msgs.msg import Octomap
from waiting import wait_for

from integration.fakes import CAMERA, FakeRobot
from lodestar.mapping.occupancy.octomap import OctoMapConfig
from lodestar_interfaces import msg
from lodestar_interfaces.action import ExportMap, QueryScene
from lodestar_interfaces.srv import GetEntities, GetInstances, GetKeyframe
from lodestar_ros import qos
from lodestar_ros.conversions import grid_from_msg, stamp_from_msg
from lodestar_ros.conversions_scene import instances_from_msg, scene_from_msg
from lodestar_ros.conversions_sensors import image_from_msg

NODES = ("mapping", "perception", "semantic_voxels", "scene_dictionary", "keyframes")


@pytest.fixture(scope="module")
def robot(bed, processes):
    robot = bed.on_executor(lambda: FakeRobot(bed))
    bed.hear(msg.SegmentedImage, "perception/segmented", qos.RELIABLE)
    bed.hear(msg.InstanceArray, "semantic_voxels/instances", qos.EVENT)
    bed.hear(msg.SceneDelta, "scene_dictionary/entities", qos.EVENT)
    bed.hear(msg.Keyframe, "keyframes/keyframes", qos.EVENT)
    bed.hear(OccupancyGrid, "grid", qos.LATCHED)
    processes.start(*NODES)
    bed.until(lambda: all(bed.diagnosis(name) for name in NODES), "every node's diagnostics")
    robot.watch(lambda: bed.heard["scene_dictionary/entities"], "the first entity")
    return robot


@pytest.fixture(autouse=True)
def nobody_died(robot, processes):
    yield
    processes.assert_alive()


def dropped(bed, node, reason, since=0, **look):
    """Publish frames until a node has counted more than `since` drops for a reason."""
    return lambda: bed.count(node, reason) > since


def test_the_diagnostics_say_that_drop_offs_are_seen_once_points_have_come(bed, robot):
    def says(words: str) -> bool:
        return bed.diagnosis("mapping").get("drop_offs", "").startswith(words)

    bed.until(lambda: says("NOT SEEN: stairs"), "no points have come, so no drop-off is seen")
    bed.until(lambda: robot.scan() or says("seen: stairs"), "the points show drop-offs")


# --- path of an image ---------------------------------------------------------------------------------


def test_a_box_in_view_becomes_an_entity(bed, robot):
    def described():
        """Return the newest version of an entity with a caption and a view, which come after the entity itself."""
        deltas = [scene_from_msg(delta) for _, delta in bed.heard["scene_dictionary/entities"]]
        known = [entity for delta in deltas for entity in delta.updated if entity.caption and entity.views]
        return known[-1] if known else None

    entity = robot.watch(described, "an entity")
    assert (entity.label, entity.caption, entity.attributes) == ("box", "red box", ("red",))
    assert entity.mean[0] == pytest.approx(2.3, abs=0.15), "2 m ahead of the camera, which is 0.3 m ahead"
    assert entity.mean[1] == pytest.approx(0.0, abs=0.1)
    assert entity.mean[2] == pytest.approx(0.45, abs=0.1)
    assert np.all(entity.box_max - entity.box_min < 0.9)
    assert entity.views


def test_labels_are_numbered_anew_in_every_frame(bed, robot):
    bed.forget("perception/segmented")
    robot.watch(lambda: len(bed.heard["perception/segmented"]) >= 5, "five frames")
    values = [[d.label_value for d in m.detections] for _, m in bed.heard["perception/segmented"]]
    assert len({tuple(v) for v in values}) > 1
    for _, message in bed.heard["perception/segmented"]:
        labels = image_from_msg(message.labels)
        assert set(np.unique(labels)) - {0} == {d.label_value for d in message.detections}
        assert message.header.frame_id == "camera_optical_frame"


def test_deltas_say_what_came_before_them(bed, robot):
    bed.forget("semantic_voxels/instances")
    robot.watch(lambda: len(bed.heard["semantic_voxels/instances"]) >= 4, "four deltas")
    deltas = [instances_from_msg(m) for _, m in bed.heard["semantic_voxels/instances"]]
    for before, after in itertools.pairwise(deltas):
        assert after.previous_revision == before.revision
        assert after.stamp > before.stamp
    assert all(delta.observations for delta in deltas)
    assert all(len(delta.updated) <= 64 for delta in deltas)


def test_one_who_comes_late_gets_everything_by_paging(bed, robot):
    entities = bed.call(GetEntities, "scene_dictionary/get_entities", GetEntities.Request(page_size=1))
    assert entities.delta.updated[0].label == "box"
    instances = bed.call(GetInstances, "semantic_voxels/get_instances", GetInstances.Request())
    assert instances.instances.updated
    nothing = bed.call(
        GetEntities,
        "scene_dictionary/get_entities",
        GetEntities.Request(since_revision=entities.delta.revision + 100),
    )
    assert (nothing.until_id, list(nothing.delta.updated)) == (GetEntities.Request.ALL, [])


def test_a_scene_dictionary_that_was_killed_is_filled_again(bed, robot, processes):
    before = bed.last("scene_dictionary/entities").session_id
    processes.kill("scene_dictionary")
    bed.forget("scene_dictionary/entities")
    processes.starter.start_one("scene_dictionary")

    def successors():  # a message of the one that was killed may come late
        deltas = [delta for _, delta in bed.heard["scene_dictionary/entities"] if delta.session_id != before]
        return [delta for delta in deltas if delta.updated]

    first = robot.watch(successors, "the entity is back, in another session")[0]
    processes.assert_alive(besides=("scene_dictionary",))
    assert first.updated[0].observation_count > 3, "from the pages, not anew"


@pytest.mark.parametrize(
    ("text", "code"),
    [("", QueryScene.Result.EMPTY_QUERY), ("the red box", 0), ("?!", QueryScene.Result.NOT_UNDERSTOOD)],
)
def test_query(bed, robot, text, code):
    result = bed.action(QueryScene, "scene_dictionary/query").result(QueryScene.Goal(text=text))
    assert result.error_code == code, result.error_msg
    if code == 0:
        assert result.candidates[0].score > 0.6
        assert result.graph.variables[0].phrase


# --- the grid ------------------------------------------------------------------------------------------


def test_lidar_becomes_a_grid_and_an_octree(bed, robot):
    bed.hear(Octomap, "mapping/octomap", qos.LATCHED)
    bed.forget("grid")

    def whole():
        """Return a grid on which the round wall stands at 3 m, and the room is free; the first may lack rays."""
        grid = grid_from_msg(bed.last("grid")) if bed.heard["grid"] else None
        if grid is None or not grid.free[tuple(grid.cells_of(np.array([[1.5, 0.0]]))[0])]:
            return None
        wall = grid.cells_of(np.array([[2.97, 0.0], [0.0, -2.97]]))
        return grid if all(grid.occupied[r - 1 : r + 2, c - 1 : c + 2].any() for r, c in wall) else None

    grid = robot.turn(whole, "a grid with the wall and the free room")
    assert grid.resolution == OctoMapConfig().resolution
    assert (grid.cells == -1).any() or grid.cells.shape[0] < 70, "unknown space is kept"
    robot.turn(
        lambda: bed.heard["mapping/octomap"] and len(bed.last("mapping/octomap").data) > 100, "an octree"
    )
    octomap = bed.last("mapping/octomap")
    assert (octomap.id, octomap.binary, len(octomap.data) > 100) == ("OcTree", True, True)


def test_one_who_walks_beside_the_robot_is_told_as_a_mover_and_once_that_nobody_is_left(bed, robot):
    bed.hear(msg.MoverTracks, "mapping/movers", qos.EVENT)
    begin = time.monotonic()

    def turn():
        walked = time.monotonic() - begin - 1.5  # start with an empty room
        walker = (-1.2 + 0.5 * (walked % 5.0), 1.2) if walked > 0.0 else None
        robot.scan(walker=walker)
        time.sleep(0.1)

    def tracks():
        return [track for _, m in bed.heard["mapping/movers"] for track in m.tracks]

    bed.until(
        lambda: turn() or any(track.velocity[0] > 0.2 for track in tracks()), "a mover that walks ahead"
    )
    assert {track.label for track in tracks()} == {""}
    bed.until(
        lambda: robot.scan() or time.sleep(0.1) or not bed.last("mapping/movers").tracks, "nobody is left"
    )


# --- bad input -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [0.0, np.nan])
def test_depth_without_a_valid_pixel_is_counted_and_not_fused(bed, robot, value):
    encoding = "16UC1" if value == 0.0 else "32FC1"
    depth = np.full((CAMERA.height, CAMERA.width), value, np.float32)
    before = bed.count("semantic_voxels", "depth.dropped.no_depth")
    robot.watch(
        dropped(bed, "semantic_voxels", "depth.dropped.no_depth", before),
        "the drop is counted",
        depth=depth,
        encoding=encoding,
    )


def test_depth_as_metres_with_holes_is_as_good(bed, robot):
    depth, _ = robot.scene()
    depth[::7] = np.nan
    bed.forget("semantic_voxels/instances")
    robot.watch(lambda: bed.heard["semantic_voxels/instances"], "a delta", depth=depth, encoding="32FC1")


def test_segments_without_depth_are_counted(bed, robot):
    before = bed.count("semantic_voxels", "segmented.unmatched")
    robot.watch(
        dropped(bed, "semantic_voxels", "segmented.unmatched", before),
        "segments without a partner",
        parts=("info", "table", "labels"),
    )


def test_depth_without_segments_is_counted_and_still_goes_into_the_geometry(bed, robot):
    before = bed.count("semantic_voxels", "depth.unmatched")
    robot.watch(
        dropped(bed, "semantic_voxels", "depth.unmatched", before),
        "depth without a partner",
        parts=("info", "depth"),
    )


def test_labels_without_a_table_are_counted(bed, robot):
    before = bed.count("perception", "labels.unmatched")
    robot.watch(
        dropped(bed, "perception", "labels.unmatched", before),
        "labels without a table",
        parts=("info", "labels"),
    )


def test_a_depth_image_of_another_camera_is_counted(bed, robot):
    before = bed.count("semantic_voxels", "depth.dropped.malformed")
    robot.watch(
        dropped(bed, "semantic_voxels", "depth.dropped.malformed", before),
        "the drop is counted",
        depth=np.full((50, 160), 2.0, np.float32),
    )


def test_without_a_transform_at_the_stamp_the_frame_is_dropped(bed, robot):
    before = bed.count("semantic_voxels", "depth.dropped.no_transform")
    robot.transforms = False
    try:
        robot.watch(
            dropped(bed, "semantic_voxels", "depth.dropped.no_transform", before), "the drop is counted"
        )
    finally:
        robot.transforms = True
    bed.forget("semantic_voxels/instances")
    robot.watch(lambda: bed.heard["semantic_voxels/instances"], "it goes on when transforms are back")


def test_stamps_that_go_backwards_or_repeat_are_counted_and_not_fused(bed, robot):
    def backwards():
        robot.look(robot.look() - 0.5)

    def again():
        robot.look(robot.look())

    for reason, look in (
        ("out_of_order", backwards),
        ("duplicate", again),
    ):  # images may be lost: again and again
        before = bed.count("semantic_voxels", f"depth.dropped.{reason}")
        told = dropped(bed, "semantic_voxels", f"depth.dropped.{reason}", before)
        wait_for(lambda told=told, look=look: told() or look(), f"depth that is {reason}", every=0.3)
    stamps = [stamp_from_msg(m.header.stamp) for _, m in bed.heard["semantic_voxels/instances"]]
    assert stamps == sorted(set(stamps)), "nothing was fused twice or backwards"


def test_an_image_from_long_ago_is_late(bed, robot):
    """A scan far older than the newest is dropped and counted."""
    bed.until(lambda: bed.diagnosis("mapping"), "diagnostics of mapping")
    before = bed.count("mapping", "points.dropped")
    wait_for(
        lambda: bed.count("mapping", "points.dropped") > before or robot.scan(time.time() - 60.0),
        "the drop is counted",
        every=0.3,
    )


def test_surfaces_have_the_colour_of_the_images_and_need_none(bed, robot, tmp_path):
    robot.watch(lambda: bed.count("semantic_voxels", "geometry.colored") > 3, "depth with its colour")
    export = bed.action(ExportMap, "semantic_voxels/export")

    def grey_levels():
        file = tmp_path / "map.glb"
        assert export.result(ExportMap.Goal(path=str(file), format="glb")).error_code == 0
        data = file.read_bytes()
        start = 20 + int.from_bytes(data[12:16], "little")
        content = json.loads(data[20:start])
        view = content["bufferViews"][content["accessors"][1]["bufferView"]]
        body = np.frombuffer(data, np.uint8, view["byteLength"], start + 8 + view["byteOffset"])
        return body.reshape(-1, 4)[:, 0]

    robot.watch(
        lambda: np.mean(np.abs(grey_levels().astype(int) - 20) < 5) > 0.5, "a wall as dark as it was seen"
    )
    before = bed.count("semantic_voxels", "geometry.without_color")
    bare = ("info", "table", "labels", "depth")
    robot.watch(
        lambda: bed.count("semantic_voxels", "geometry.without_color") > before + 2,
        "depth goes in without colour", parts=bare,
    )  # fmt: skip


def test_diagnostics_tell_age_rate_latency_drops_and_memory(bed, robot):
    robot.watch(
        lambda: (
            bed.count("semantic_voxels", "depth.received") > 20
            and float(bed.diagnosis("semantic_voxels").get("depth.rate_hz", "0")) > 0.5
        ),
        "some frames, and their rate",
    )
    found = bed.diagnosis("semantic_voxels")
    for key in (
        "depth.age_s",
        "depth.rate_hz",
        "depth.dropped",
        "fuse.latency_s",
        "fuse.dropped",
        "voxels.refused",
        "geometry.refused",
        "memory_mib",
    ):
        assert key in found, sorted(found)
    assert float(found["memory_mib"]) > 20.0


def test_keyframes_name_what_they_show_and_serve_the_image(bed, robot):
    """The robot turns to get new keyframes; this leaves a second box in the scene."""
    robot.pose = (0.0, 0.0, 1.2)
    robot.watch(
        lambda: [m for _, m in bed.heard["keyframes/keyframes"] if m.instances], "a keyframe with an instance"
    )
    keyframe = next(m for _, m in bed.heard["keyframes/keyframes"] if m.instances)
    assert keyframe.camera.width == CAMERA.width
    answer = bed.call(GetKeyframe, "keyframes/get", GetKeyframe.Request(id=keyframe.id))
    assert (answer.error_code, answer.image.format) == (0, "jpeg")
    assert bytes(answer.image.data[:2]) == b"\xff\xd8"
    unknown = bed.call(GetKeyframe, "keyframes/get", GetKeyframe.Request(id=4711))
    assert unknown.error_code == GetKeyframe.Response.UNKNOWN_KEYFRAME


def test_an_image_that_the_detector_left_out_is_no_keyframe(bed, robot):
    bed.forget("semantic_voxels/instances")
    newest = lambda: bed.last("semantic_voxels/instances")  # noqa: E731
    robot.watch(lambda: newest() and newest().observations, "instances are told")
    bed.forget("keyframes/keyframes")
    robot.pose = (0.0, 0.0, 2.4)
    bare = []

    def linked():
        # 2 s after the newest instances every image counts, as if there were no detector
        if time.time() - stamp_from_msg(newest().header.stamp) < 1.0:
            bare.append(robot.look(parts=("info", "color")))  # without labels: no detections
        return bare and {m.id for _, m in bed.heard["keyframes/keyframes"] if m.instances}

    robot.watch(linked, "a keyframe with an instance")
    kept = {m.id for _, m in bed.heard["keyframes/keyframes"]}
    bed.until(
        lambda: kept <= {m.id for _, m in bed.heard["keyframes/keyframes"] if m.instances}, "all of them have"
    )
