"""Tests of recordings on disk: splitting, size limits, truncated files, bags of other recorders."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from rclpy.serialization import deserialize_message, serialize_message
from rosbags.rosbag1 import Writer as Rosbag1Writer
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore
from std_msgs.msg import String

from lodestar_interfaces.msg import Heartbeat
from lodestar_ros import bag_files
from lodestar_ros.bag_files import BagConfig, BagReader, BagWriter, UnreadableBag, messages_of, open_bag
from lodestar_ros.bag_player import PlayConfig, played_topics

SECOND = 10**9
TEXT, BEAT = "std_msgs/msg/String", "lodestar_interfaces/msg/Heartbeat"


def written(folder: Path, seconds: range, config: BagConfig | None = None) -> BagWriter:
    """Write a recording with a text and a heartbeat per second; return its writer."""
    folder.mkdir(exist_ok=True)
    writer = BagWriter(folder, config)
    writer.add("label_table", "/camera/labels/table", TEXT)
    writer.add("heartbeat", "/goal_selector/heartbeat", BEAT)
    for second in seconds:
        writer.write("/camera/labels/table", second * SECOND, serialize_message(String(data=str(second))))
        writer.write(
            "/goal_selector/heartbeat", second * SECOND + 1, serialize_message(Heartbeat(state="IDLE"))
        )
    writer.close()
    return writer


def texts(bag: BagReader) -> list[str]:
    """Return the texts of a recording in order."""
    return [deserialize_message(raw, String).data for _, _, raw in bag.messages(["/camera/labels/table"])]


@pytest.mark.parametrize("compressed", [False, True])
def test_what_is_written_is_read_in_its_order_over_all_parts(tmp_path: Path, compressed: bool) -> None:
    writer = written(tmp_path / "r", range(1, 12), BagConfig(part=3.5, compressed=compressed))
    assert writer.counts == {"/camera/labels/table": 11, "/goal_selector/heartbeat": 11}
    assert [part.name for part in bag_files.parts_of(tmp_path / "r")] == [
        "part_0001",
        "part_0002",
        "part_0003",
    ]
    bag = BagReader(tmp_path / "r")
    assert texts(bag) == [str(second) for second in range(1, 12)]
    assert bag.counts == writer.counts and bag.types["/goal_selector/heartbeat"] == BEAT
    assert (bag.begin, bag.end) == (SECOND, 11 * SECOND + 2)
    (beat,) = {
        deserialize_message(raw, Heartbeat).state for _, _, raw in bag.messages(["/goal_selector/heartbeat"])
    }
    assert beat == "IDLE"


def test_a_recorder_that_was_killed_loses_its_last_part_alone(tmp_path: Path) -> None:
    written(tmp_path / "r", range(1, 9), BagConfig(part=3.5))
    last = tmp_path / "r" / "part_0002"
    (last / "metadata.yaml").unlink()
    whole = (last / "part_0002.mcap").read_bytes()
    (last / "part_0002.mcap").write_bytes(whole[: len(whole) // 2])
    bag = BagReader(tmp_path / "r")
    assert bag.unreadable == [last]
    assert texts(bag) == ["1", "2", "3", "4"]


def test_what_is_no_bag_is_said(tmp_path: Path) -> None:
    (tmp_path / "page.mcap").write_text("<!DOCTYPE html>")
    for path in (tmp_path / "page.mcap", tmp_path / "none", tmp_path):
        with pytest.raises(UnreadableBag, match=r"is no bag that can be read"):
            BagReader(path)


def test_a_recording_ends_at_its_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = written(tmp_path / "small", range(1, 9), BagConfig(part=3.5, most=1e-9))
    assert writer.full.startswith("it has reached") and texts(BagReader(tmp_path / "small")) == [
        "1",
        "2",
        "3",
        "4",
    ]
    full = written(tmp_path / "full", range(1, 3), BagConfig(least_free=1e9))
    assert full.full == "the disk has less than 1e+09 GiB left" and not full.counts
    with pytest.raises(ValueError, match="above 0"):
        BagConfig(part=0.0)


def test_only_inputs_are_played_under_the_names_that_they_had_before_their_remaps(tmp_path: Path) -> None:
    written(tmp_path / "r", range(1, 3))
    bag = BagReader(tmp_path / "r")
    assert played_topics(bag, {}, lambda name: f"/{name}") == {"/camera/labels/table": "label_table"}
    bag.names.clear()  # as in a bag of another recorder
    assert played_topics(bag, {}, lambda name: f"/{name}") == {}
    given = {"label_table": "/camera/labels/table"}
    assert played_topics(bag, given, lambda name: f"/{name}") == {"/camera/labels/table": "label_table"}


@pytest.mark.parametrize("wrong", [{"rate": 0.0}, {"patience": -1.0}])
def test_a_pace_that_makes_no_sense_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="above 0"):
        PlayConfig(**wrong)


# --- foreign bags --------------------------------------------------------------------------------------


def foreign(
    folder: Path, seconds: range, mode: CompressionMode = CompressionMode.NONE, storage: str = "SQLITE3"
) -> Path:
    """Write a bag of rosbag2 with a text and a heartbeat per second; return its folder."""
    store = get_typestore(Stores.ROS2_HUMBLE)
    bag_files.define(store, [BEAT])
    writer = Writer(folder, version=8, storage_plugin=StoragePlugin[storage])
    writer.set_compression(mode, CompressionFormat.ZSTD)
    with writer:
        table = writer.add_connection("/camera/labels/table", TEXT, typestore=store)
        beat = writer.add_connection("/goal_selector/heartbeat", BEAT, typestore=store)
        for second in seconds:
            writer.write(table, second * SECOND, serialize_message(String(data=str(second))))
            writer.write(beat, second * SECOND + 1, serialize_message(Heartbeat(state="IDLE")))
    return folder


def metadata(folder: Path, **changes: Any) -> None:
    """Change fields of a bag's metadata."""
    file = folder / "metadata.yaml"
    content = yaml.safe_load(file.read_text())
    content["rosbag2_bagfile_information"] |= changes
    file.write_text(yaml.safe_dump(content))


def as_humble(folder: Path) -> Path:
    """Convert a bag to Humble's format: metadata version 5, database without type definitions; return its folder."""
    for file in folder.glob("*.db3"):
        with closing(sqlite3.connect(file)) as database:
            database.executescript(
                """
                DROP TABLE message_definitions;
                CREATE TABLE old AS SELECT id, name, type, serialization_format, offered_qos_profiles FROM topics;
                DROP TABLE topics;
                ALTER TABLE old RENAME TO topics;
                UPDATE schema SET schema_version = 3, ros_distro = 'humble';
                """
            )
    file = folder / "metadata.yaml"
    information = yaml.safe_load(file.read_text())["rosbag2_bagfile_information"]
    for key in ("custom_data", "ros_distro"):
        information.pop(key, None)
    for topic in information["topics_with_message_count"]:
        topic["topic_metadata"].pop("type_description_hash", None)
    file.write_text(yaml.safe_dump({"rosbag2_bagfile_information": information | {"version": 5}}))
    return folder


ALL = [str(second) for second in range(1, 9)]


@pytest.mark.parametrize("mode", ["NONE", "MESSAGE", "FILE"])
def test_a_bag_of_humble_is_read_without_definitions_of_types(tmp_path: Path, mode: str) -> None:
    folder = as_humble(
        foreign(
            tmp_path / "bag", range(1, 9), CompressionMode[mode] if mode != "FILE" else CompressionMode.NONE
        )
    )
    if mode == "FILE":
        squeeze(folder)
    for path in (folder, folder / "metadata.yaml"):
        bag = BagReader(path)
        assert texts(bag) == ALL and not bag.torn
        assert bag.types == {"/camera/labels/table": TEXT, "/goal_selector/heartbeat": BEAT}
        assert bag.counts["/goal_selector/heartbeat"] == 8
        assert (bag.begin, bag.end) == (SECOND, 8 * SECOND + 2)


def test_messages_in_a_write_ahead_log_are_not_passed_over_in_silence(tmp_path: Path) -> None:
    folder = foreign(tmp_path / "bag", range(1, 5), CompressionMode.NONE)
    (file,) = folder.glob("*.db3")
    killed = tmp_path / "killed"
    with closing(sqlite3.connect(file)) as database:
        database.execute("pragma journal_mode = wal")
        database.execute("update messages set timestamp = timestamp + 1")
        database.commit()
        shutil.copytree(folder, killed)  # as left by a killed recorder
    for path in (killed, killed / file.name):
        with pytest.raises(UnreadableBag, match=rf"{file.name}-wal.* wal_checkpoint"):
            BagReader(path)
    with closing(sqlite3.connect(killed / file.name)) as database:
        database.execute("pragma wal_checkpoint(truncate)")
    assert len(texts(BagReader(killed))) == 4, "the advice helps"


def squeeze(folder: Path) -> None:
    """Compress the files of a bag, like `--compression-mode file` of rosbag2."""
    from rosbags.rosbag2.reader import zstd

    for file in folder.glob("*.db3"):
        file.with_name(f"{file.name}.zstd").write_bytes(zstd.compress(file.read_bytes()))
        file.unlink()
        metadata(
            folder,
            relative_file_paths=[f"{file.name}.zstd"],
            compression_format="zstd",
            compression_mode="FILE",
        )


def test_messages_of_a_bag_without_definitions_are_understood_also_our_own(tmp_path: Path) -> None:
    with open_bag(as_humble(foreign(tmp_path / "bag", range(1, 3)))) as reader:
        found = [
            reader.deserialize(raw, connection.msgtype)
            for connection, _, raw in messages_of(
                reader, ["/goal_selector/heartbeat", "/camera/labels/table"]
            )
        ]
    assert [getattr(one, "data", None) or one.state for one in found] == ["1", "IDLE", "2", "IDLE"]


@pytest.mark.parametrize("storage", ["SQLITE3", "MCAP"])
@pytest.mark.parametrize("number", [1, 12])
def test_files_without_their_metadata_are_read_in_their_order(
    tmp_path: Path, storage: str, number: int
) -> None:
    together = tmp_path / "together"
    together.mkdir()
    for index in range(number):
        bag = foreign(tmp_path / f"bag_{index}", range(index + 1, index + 2), storage=storage)
        as_humble(bag)
        (file,) = (one for one in bag.iterdir() if one.suffix != ".yaml")
        file.rename(together / f"rosbag2_2025_01_02-03_04_05_{index}{file.suffix}")
    expected = [str(second) for second in range(1, number + 1)]
    assert texts(BagReader(together)) == expected
    with open_bag(together) as reader:
        assert sum(connection.msgcount for connection in reader.connections) == 2 * number
    (first, *_) = sorted(together.iterdir())
    assert texts(BagReader(first)) == ["1"]


def test_a_split_bag_is_read_over_its_files_and_a_missing_one_is_named(tmp_path: Path) -> None:
    folder = as_humble(foreign(tmp_path / "bag", range(1, 5)))
    other = as_humble(foreign(tmp_path / "other", range(5, 9)))
    (other / "other.db3").rename(folder / "bag_1.db3")
    counts = yaml.safe_load((folder / "metadata.yaml").read_text())["rosbag2_bagfile_information"]
    for topic in counts["topics_with_message_count"]:
        topic["message_count"] = 8
    metadata(
        folder, relative_file_paths=["bag.db3", "bag_1.db3"], message_count=16,
        duration={"nanoseconds": 7 * SECOND + 1}, topics_with_message_count=counts["topics_with_message_count"],
    )  # fmt: skip
    bag = BagReader(folder)
    assert texts(bag) == ALL and bag.counts["/camera/labels/table"] == 8
    (folder / "bag_1.db3").unlink()
    with pytest.raises(UnreadableBag, match=r"bag_1\.db3.* Copy them too, or take metadata\.yaml away"):
        BagReader(folder)
    (folder / "metadata.yaml").unlink()
    assert texts(BagReader(folder)) == ["1", "2", "3", "4"]


def test_a_bag_whose_metadata_are_too_new_is_named(tmp_path: Path) -> None:
    folder = foreign(tmp_path / "bag", range(1, 3))
    metadata(folder, version=23)
    with pytest.raises(
        UnreadableBag, match=r"metadata\.yaml has version 23, which is newer .*ros2 bag convert"
    ):
        BagReader(folder)


@pytest.mark.parametrize("storage", ["SQLITE3", "MCAP"])
def test_an_empty_bag_is_told(tmp_path: Path, storage: str) -> None:
    folder = foreign(tmp_path / "bag", range(0), storage=storage)
    for path in (as_humble(folder), next(one for one in folder.iterdir() if one.suffix != ".yaml")):
        with pytest.raises(UnreadableBag, match="it has no message"):
            BagReader(path)
    (tmp_path / "nothing.db3").touch()
    with pytest.raises(UnreadableBag, match="is no bag that can be read"):
        BagReader(tmp_path / "nothing.db3")


@pytest.mark.parametrize("share", [0.02, 0.3, 0.5, 0.7, 0.9])
@pytest.mark.parametrize("storage", ["SQLITE3", "MCAP"])
def test_a_torn_bag_says_so_whenever_it_is_found(tmp_path: Path, storage: str, share: float) -> None:
    folder = foreign(tmp_path / "bag", range(1, 3000), storage=storage)
    as_humble(folder)
    (file,) = (one for one in folder.iterdir() if one.suffix != ".yaml")
    file.write_bytes(file.read_bytes()[: int(file.stat().st_size * share)])
    try:
        bag = BagReader(folder)
    except UnreadableBag as error:
        assert str(folder) in str(error)
    else:
        found = texts(bag)
        assert len(found) < 2999 and found == [str(second) for second in range(1, len(found) + 1)]
        assert list(bag.torn) == [folder]


def test_what_belongs_to_another_program_says_what_to_do(tmp_path: Path) -> None:
    store = get_typestore(Stores.ROS1_NOETIC)
    with Rosbag1Writer(tmp_path / "old.bag") as writer:
        connection = writer.add_connection("/chatter", TEXT, typestore=store)
        writer.write(connection, SECOND, store.serialize_ros1(store.types[TEXT]("hello"), TEXT))
    with pytest.raises(UnreadableBag, match="bag of ROS 1: convert it"):
        BagReader(tmp_path / "old.bag")
    folder = as_humble(foreign(tmp_path / "runs" / "monday", range(1, 3), CompressionMode.MESSAGE))
    with pytest.raises(UnreadableBag, match="give one of the bags in it: monday"):
        BagReader(tmp_path / "runs")
    bag = BagReader(folder / "monday.db3")
    assert texts(bag) == [] and "give the folder with it" in bag.torn[folder / "monday.db3"]
    squeeze(folder)
    (folder / "metadata.yaml").unlink()
    with pytest.raises(UnreadableBag, match=r"decompress it \(unzstd\), or give the folder"):
        BagReader(folder)


def test_what_moves_the_robot_is_recorded_under_names_that_nothing_hears() -> None:
    """`ros2 bag play` publishes every topic of a recording."""
    from lodestar_ros.recorded_names import MOVING, PLAYED, recorded, recorded_topic

    assert (
        {"cmd_vel", "cmd_vel_joy", "cmd_vel_out", "heartbeat", "api/sport/request"}
        == set(MOVING)
        <= set(recorded())
    )
    for name in recorded():
        topic = recorded_topic(name, f"/robot1/{name}")
        assert topic == (f"/recorded/robot1/{name}" if name in MOVING else f"/robot1/{name}")
    assert not set(MOVING) & set(PLAYED)
