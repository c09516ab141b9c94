"""Tests of the doctor's inputs besides the graph: processes, weights, and the detector of a profile."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from geometry_msgs.msg import TransformStamped
from std_msgs.msg import Header
from tf2_msgs.msg import TFMessage

from lodestar_ros.conversions import stamp_to_msg
from lodestar_ros.doctor.__main__ import main
from lodestar_ros.doctor.findings import LocalProcess
from lodestar_ros.doctor.graph import GraphObserver
from lodestar_ros.doctor.machine import head_of, local_processes


def test_processes_are_read_with_their_middleware(tmp_path: Path) -> None:
    for pid, words, environment in (
        (
            "41",
            [b"python", b"/x/lib/lodestar_ros/memory", b"-r", b"__node:=memory"],
            [b"ROS_DOMAIN_ID=5", b"A=b=c"],
        ),
        ("42", [b"python", b"other"], []),
        ("self", [b""], []),
    ):
        (tmp_path / pid).mkdir()
        (tmp_path / pid / "cmdline").write_bytes(b"\0".join(words))
        (tmp_path / pid / "environ").write_bytes(b"\0".join(environment))
    assert list(local_processes(tmp_path)) == [LocalProcess(41, "memory", "5")]
    (tmp_path / "weights.pt").write_bytes(b"PK" + bytes(100))
    assert head_of(str(tmp_path / "weights.pt")) == (b"PK" + bytes(100))[:64]
    assert head_of(str(tmp_path / "none.pt")) is None


def test_the_detector_of_a_profile_is_tried_without_a_stack(
    tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    profile = tmp_path / "mine.yaml"

    def tried(perception: str, *words: str) -> tuple[int, str]:
        profile.write_text(f"/**/perception:\n  ros__parameters: {perception}\n")
        status = main(["--detector", str(profile), "--words", "chair", *words])
        return status, capsys.readouterr().out

    lines = (
        "the detector is ground_truth and can name any text.",
        "  chair: seen as chair",
        "Nothing is wrong.\n",
    )
    assert tried("{adapter: ground_truth}") == (0, f"{profile}: " + "\n".join(lines))
    status, said = tried("{adapter: geometric}")
    assert status == 1 and "gives no names" in said
    status, said = tried("{adapter: ultralytics, model: /nowhere/yoloe.pt}")
    assert status == 3 and "adapter ultralytics" in said
    status, said = tried("{adapter: onnx, model: /nowhere/nanodet.onnx}")
    assert status == 3 and "/nowhere/nanodet.onnx" in said and "make detector" in said
    status, said = tried("{adapter: ground_truth, words: {file: /nowhere/words.txt}}")
    assert status == 3 and "/nowhere/words.txt" in said
    status, said = tried("{adapter: none}")
    assert status == 3 and "mine.yaml" in said


def test_one_message_that_a_busy_computer_delays_is_no_lag() -> None:
    observer, now = GraphObserver.__new__(GraphObserver), [10.0]
    observer._now = lambda: now[0]
    observer._edges, observer._rotations, observer._senders = {}, {}, {}
    observer._counts, observer._first, observer._newest, observer._ages = Counter(), {}, {}, {}
    hear, count = observer._frames_of("/tf", False), observer._counter("/scan")
    for stamp, arrives in ((10.0, 10.1), (11.0, 11.05), (12.0, 14.0)):
        now[0], header = arrives, Header(stamp=stamp_to_msg(stamp), frame_id="odom")
        hear(TFMessage(transforms=[TransformStamped(header=header, child_frame_id="base_link")]), {})
        count(SimpleNamespace(header=header))
    (edge,) = observer._frame_edges(3.0)
    assert edge.lag == pytest.approx(0.05) and edge.rate == 1.0
    assert observer._ages["/scan"] == pytest.approx(0.05)
