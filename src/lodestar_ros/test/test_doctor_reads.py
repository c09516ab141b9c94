"""Tests of the doctor's inputs besides the graph: processes, weights, and the detector of a profile."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from lodestar_ros.doctor.__main__ import main
from lodestar_ros.doctor.findings import LocalProcess
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
