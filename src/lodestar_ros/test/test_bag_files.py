"""Recordings on disk: parts that are whole, bounds, torn files, bags of others."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from rclpy.serialization import deserialize_message, serialize_message
from std_msgs.msg import String

from lodestar_interfaces.msg import Heartbeat
from lodestar_ros import bag_files
from lodestar_ros.bag_files import BagConfig, BagReader, BagWriter, UnreadableBag
from lodestar_ros.bag_player import PlayConfig, played_topics

SECOND = 10**9
TEXT, BEAT = "std_msgs/msg/String", "lodestar_interfaces/msg/Heartbeat"


def written(folder: Path, seconds: range, config: BagConfig | None = None) -> BagWriter:
    """A recording with a text and a heartbeat in each second."""
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
    """The texts of a recording in their order."""
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
    bag.names.clear()  # as another recorder's
    assert played_topics(bag, {}, lambda name: f"/{name}") == {}
    given = {"label_table": "/camera/labels/table"}
    assert played_topics(bag, given, lambda name: f"/{name}") == {"/camera/labels/table": "label_table"}


@pytest.mark.parametrize("wrong", [{"rate": 0.0}, {"patience": -1.0}])
def test_a_pace_that_makes_no_sense_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="above 0"):
        PlayConfig(**wrong)
