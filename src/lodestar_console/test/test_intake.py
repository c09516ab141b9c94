"""Tests of the conversion of messages to records, also of malformed messages."""

import struct
import subprocess
import threading
from concurrent.futures import Future
from dataclasses import replace
from unittest.mock import MagicMock

import numpy as np
import pytest
from closed_areas import closed_area
from diagnostic_msgs.msg import DiagnosticStatus, KeyValue
from geometry_msgs.msg import Point
from nav_msgs.msg import MapMetaData, OccupancyGrid
from rclpy.serialization import serialize_message
from sensor_msgs.msg import Image
from waiting import PATIENCE

from lodestar.floors.records import Building, Floor
from lodestar.worldmodel.amendments import ClosedWay
from lodestar_console import protocol
from lodestar_console.board import past
from lodestar_console.board.board import Board
from lodestar_console.intake import convert, health, knowledge
from lodestar_console.intake.remembered import MemoryWatch
from lodestar_console.intake.story import Story
from lodestar_console.intake.story_book import StoryBook
from lodestar_console.intake.views import stamp_of
from lodestar_console.intake.worker import KeyedWorker
from lodestar_interfaces import msg
from lodestar_interfaces.srv import ManageMemory
from lodestar_ros import qos
from lodestar_ros.codec import BadMessage
from lodestar_ros.conversions import header, stamp_to_msg
from lodestar_ros.conversions_sensors import cloud_to_msg, image_to_msg
from lodestar_ros.conversions_world import way_to_msg
from lodestar_ros.looked_at import sharpness


def test_a_thing_of_the_scene_keeps_its_texts_as_they_are():
    text = '<script>alert("1")</script>'
    message = msg.Entity(
        id=7, label="chair", caption=text, mean=Point(x=1.0, y=2.0, z=0.5), state=2, confidence=0.5
    )
    message.views = [msg.View(keyframe_id=3), msg.View(keyframe_id=3), msg.View()]
    message.stated = [msg.Belief(predicate="On", arguments=["entity:7", "entity:8"], negated=True)]
    entity = convert.entity(message)
    assert (entity.id, entity.caption, entity.state, entity.keyframes) == (7, text, "archived", [3])
    assert entity.stated == ["not On(entity:7, entity:8)"] and entity.mean == (1.0, 2.0, 0.5)
    assert len(convert.entity(msg.Entity(caption="x" * 5000)).caption) == 300


def grid(values, width, height):
    return OccupancyGrid(
        header=header(1.0), info=MapMetaData(resolution=0.05, width=width, height=height), data=values
    )


def test_a_grid_is_unknown_free_and_occupied():
    cells = convert.grid_cells(grid([-1, 0, 49, 50, 100, 0], 3, 2))
    assert cells.tolist() == [[0, 1, 1], [2, 2, 1]]
    with pytest.raises(BadMessage, match="6 values"):
        convert.grid_cells(grid([-1, 0, 49, 50, 100, 0], 3, 3))


def test_rooms_have_outlines_in_map():
    mask = np.zeros((40, 60), np.uint16)
    mask[10:30, 20:50] = 4
    info = MapMetaData(resolution=0.1, width=60, height=40)
    info.origin.position.x = -1.0
    message = msg.RegionArray(info=info, mask=image_to_msg(mask, "mono16", 1.0, "map"))
    message.regions = [
        msg.Region(id=4, label="lab", centroid=Point(x=2.5, y=2.0), area=6.0),
        msg.Region(id=9),
    ]
    lab, none = convert.rooms(message, {4: ["chair"]})
    xs, ys = zip(*lab.outline)
    assert (min(xs), max(xs), min(ys), max(ys)) == pytest.approx((1.05, 3.95, 1.05, 2.95))
    assert lab.contents == ["chair"] and none.outline == []


def test_a_cloud_has_colours_and_instances_where_they_are_told():
    points = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], np.float32)
    colors = np.array([[1, 2, 3], [250, 251, 252]], np.uint8)
    found, rgb, instances = convert.cloud(cloud_to_msg(points, 1.0, "map", colors, np.array([7, 70_000])))
    assert np.array_equal(found, points) and np.array_equal(rgb, colors) and instances.tolist() == [7, 70_000]
    _, rgb, instances = convert.cloud(cloud_to_msg(points, 1.0, "map"))
    assert instances.tolist() == [0, 0] and len(set(map(tuple, rgb.tolist()))) == 1
    broken = cloud_to_msg(points, 1.0, "map", colors)
    broken.width = 100
    with pytest.raises(BadMessage, match="bytes for 100 points"):
        convert.cloud(broken)


def test_detections_are_outlined_in_the_image():
    labels = np.zeros((40, 60), np.uint16)
    labels[10:20, 30:45] = 2
    message = msg.SegmentedImage(labels=image_to_msg(labels, "mono16", 1.0, "camera"))
    box = msg.ImageBox(x=30, y=10, width=15, height=10)
    message.detections = [msg.Detection(label_value=2, label="chair", caption="red chair", score=0.5, image_box=box),
                          msg.Detection(label_value=9, label="ghost", image_box=box)]  # fmt: skip
    (seen,) = convert.detections(message)
    assert seen.entity == 0
    others = [
        msg.Observation(instance_id=8, label="chair", image_box=msg.ImageBox(x=0, y=10, width=15, height=10)),
        msg.Observation(instance_id=9, label="table", image_box=box),
        msg.Observation(instance_id=7, label="chair", image_box=msg.ImageBox(x=31, y=10, width=13, height=9)),
    ]
    (named,) = convert.detections(message, msg.InstanceArray(observations=others))
    assert named.entity == 7, "of its label, where the box is nearly the same"
    us, vs = zip(*seen.outline)
    assert (min(us), max(us), min(vs), max(vs)) == (30, 44, 10, 19) and seen.label == "red chair"


def test_the_stamp_of_a_serialised_image_is_read_without_its_pixels():
    raw = bytes(serialize_message(Image(header=header(1234.5, "camera"), height=1, width=1, data=b"abc")))
    assert stamp_of(raw) == (1234, 500_000_000)
    with pytest.raises(struct.error):
        stamp_of(b"\0\1")


def test_work_of_one_key_waits_once_and_other_work_keeps_its_order():
    done, go = [], threading.Event()
    errors = []
    worker = KeyedWorker("test", errors.append)
    worker.submit(go.wait)
    for number in range(5):
        worker.submit(lambda number=number: done.append(number), "grid")
        worker.submit(lambda number=number: done.append(f"delta {number}"))
    worker.submit(lambda: 1 / 0)
    finished = threading.Event()
    worker.submit(finished.set)
    go.set()
    assert finished.wait(PATIENCE)
    worker.close()
    assert [one for one in done if isinstance(one, str)] == [f"delta {n}" for n in range(5)]
    assert [one for one in done if isinstance(one, int)] == [4] and len(errors) == 1


def event(number):
    return protocol.Event(id=str(number), at=10.0 * number, kind="TOLD", text="x", pose=(number, 0, 0))


def test_what_was_known_at_a_time_is_the_newest_decision_by_then():
    board = Board()
    for number in range(4):
        board.put(
            "events",
            protocol.Event(id=str(number), at=10.0 * number, kind="TOLD", text="x", pose=(number, 0, 0)),
        )
        board.put(
            "decisions",
            protocol.Decision(
                id=str(number), epoch=number, at=10.0 * number, directive="", chosen="", explanation="", arms=[],
                reward=None, outcome="pending",
            ),
        )  # fmt: skip
    then = past.at(board, 25.0)
    assert (
        then.decision.id == "2" and then.pose == (2, 0, 0) and [one.id for one in then.events] == ["1", "2"]
    )
    assert past.at(board, -1.0).decision is None


def test_what_is_asked_of_nothing_is_nothing():
    board = Board()
    for kind, of in (
        ("entity", "5"),
        ("entity", "x"),
        ("room", "1" * 30),
        ("decision", "no"),
        ("memory", "1"),
    ):
        assert knowledge.details(board, kind, of) is None


def test_what_the_doctor_tells_are_findings():
    status = DiagnosticStatus(name="doctor", level=DiagnosticStatus.WARN)
    status.values = [KeyValue(key="slow", value="perception is slow. See its log.")]
    (finding,) = health.doctor_findings(status)
    assert finding.level == "warning" and finding.text == "perception is slow. See its log."


def test_the_doctor_is_asked_as_a_program_and_what_it_says_is_read(monkeypatch):
    said = '[{"level": "FAULT", "check": "no_stack", "what": "no node runs", "do": "start one"}]'
    asked = []

    def run(command, **options):
        asked.append(command)
        return subprocess.CompletedProcess(command, 3, said if len(asked) == 1 else "no JSON", "")

    monkeypatch.setattr(subprocess, "run", run)
    assert health.examine("/go2")[0]["what"] == "no node runs" and asked[0][-2:] == ["--namespace", "/go2"]
    with pytest.raises(ValueError, match="JSON"):
        health.examine("")


def test_zones_are_those_of_people_with_their_corners_and_what_else_the_mask_has():
    corners = ((1.0, 1.0), (3.0, 1.0), (3.0, 2.0))
    door = ClosedWay((0.0, 0.0), (0.0, 1.0), cause="DOOR_CLOSED")
    ways = [way_to_msg(closed_area(corners, "wet floor", 90.0)), way_to_msg(door)]
    area, way = convert.closed_ways(msg.ClosedWayArray(ways=ways))
    assert (area.kind, area.outline, area.text) == ("keep_out", [*corners], "wet floor")
    assert area.laid and area.expires == 90.0
    assert (way.kind, way.text, way.expires, way.laid) == ("closed_way", "door closed", None, False)
    upstairs = msg.ClosedWayArray(
        ways=[*ways, *map(way_to_msg, (replace(door, floor=1), replace(door, floor=2)))]
    )
    assert len({zone.id for zone in convert.closed_ways(upstairs)}) == 4, "they may lie over each other"
    floors = (Floor(1, 0, 0.0), Floor(2, 1, 3.0))
    for active in (1, 2):
        here = convert.closed_ways(upstairs, Building(floors, active=active))
        assert {zone.id[:5] for zone in here} == {"area0", "way0:", f"way{active}:"}
    assert len(convert.closed_ways(upstairs, Building(floors[:1], active=1))) == 4, "floor 2 may be this one"
    cells = np.zeros((100, 100), np.int8)
    cells[20:41, 20:61] = 100  # larger than the known triangle
    cells[60:80, 60:80] = 100  # area of a directive
    cells[90:95, 0:20] = 20  # cost near people
    info = MapMetaData(resolution=0.05, width=100, height=100)
    mask = OccupancyGrid(header=header(1.0), info=info, data=cells.ravel().tolist())
    found = convert.keep_out(mask, [area, way])
    assert len(found) == 2 and not any(zone.laid for zone in found), (
        "the upper half of the rectangle, and the square"
    )
    assert len(convert.keep_out(mask, [])) == 2
    cells[20:41, 20:61] = 0
    assert len(convert.keep_out(OccupancyGrid(info=info, data=cells.ravel().tolist()), [area])) == 1
    with pytest.raises(BadMessage):
        convert.keep_out(OccupancyGrid(info=info, data=[0, 1]), [])


def test_changes_are_told_with_their_places():
    message = msg.MapChanges(against="the map that was loaded")
    message.changes = [
        msg.WorldEvent(
            kind="GONE", text="<b>The mug</b> is gone.", entity_ids=[4], place=[Point(x=1.234, y=2.0)]
        ),
        msg.WorldEvent(kind="APPEARED", text="A chair is new."),
    ]
    told = convert.changes(message)
    assert [(one.kind, one.x, one.entities) for one in told.changes] == [
        ("gone", 1.23, [4]),
        ("new", None, []),
    ]
    assert told.against and told.changes[0].text.startswith("<b>")


def test_looks_are_from_never_to_nearby():
    found = convert.looks(grid([-1, 0, 1, 50, 100, 100], 3, 2))
    assert found.dtype == np.uint8 and found.tolist() == [[0, 0, 2], [127, 255, 255]]
    with pytest.raises(BadMessage):
        convert.looks(grid([1], 3, 2))
    sharp = sharpness(np.array([[np.inf, 0.0, 2.25, 4.5]], np.float32), 4.5)
    assert sharp.tolist() == [[-1, 100, 50, 1]]


def test_memories_have_their_time_and_place():
    told = ManageMemory.Response()
    told.found = [msg.Remembered(id=7, stamp=stamp_to_msg(12.5), place=Point(x=1.0, y=2.0), text="x" * 999,
                                 keyframe_id=3, session_id="s", pinned=True)]  # fmt: skip
    (found,) = knowledge.memories(told)
    assert (found.id, found.at, found.x, found.y, found.pinned) == ("7", 12.5, 1.0, 2.0, True)
    assert found.keyframes == [3] and found.session == "s" and len(found.text) == 300


def test_the_picture_and_the_place_of_a_time_are_the_newest_by_then():
    board = Board()
    for stamp in range(10):
        board.poses.put(float(stamp), (float(stamp), 0.0, 0.0))
    board.shots.put(2.0, 5)
    board.shots.put(6.0, 9)
    assert past.at(board, 4.4).pose == (4.0, 0.0, 0.0) and past.at(board, 4.4).keyframe == 5
    assert past.at(board, 6.0).keyframe == 9 and past.at(board, 1.0).keyframe == 0
    book = StoryBook(board)
    book.tell("TOLD", "late", 5.0)
    assert board.tables["events"].values()[0].keyframe == 5


def test_the_memories_shown_are_those_that_the_memory_lists_now():
    watch = MemoryWatch.__new__(MemoryWatch)
    watch._board = board = Board()

    def answer(*ids, code=0):
        told = ManageMemory.Response(
            error_code=code, found=[msg.Remembered(id=i, text=f"no. {i}") for i in ids]
        )
        future = Future()
        future.set_result(told)
        watch._take(future)
        return [one.id for one in board.tables["memories"].values()]

    assert answer(1, 2, 3) == ["1", "2", "3"]
    assert answer(2, 3) == ["2", "3"], "one was corrected, forgotten elsewhere, or is of another map"
    assert answer(code=1) == ["2", "3"], "the memory cannot be read now"
    assert answer() == []


def test_a_node_is_told_by_its_liveliest_input():
    """A node's rate and age are those of its most active input, as event inputs are normally rare."""
    values = {
        "word.rate_hz": "0.0",
        "color.rate_hz": "15.0",
        "word.silent_s": "42.0",
        "color.silent_s": "0.1",
    }
    life = health._Life()
    life.status = DiagnosticStatus(values=[KeyValue(key=key, value=value) for key, value in values.items()])
    told = health._node("mapping", life, True)
    assert (told.rate, told.age) == (15.0, 0.1)


def test_the_restarts_that_several_keepers_latch_are_all_heard():
    asked, node = {}, MagicMock()
    node.listen = lambda kind, topic, take, profile: asked.update({topic: profile})
    Story(node, Board(), MagicMock())
    assert asked["restarts"].depth > 10 and qos.unheard_because(qos.LATCHED, asked["restarts"]) == ""
