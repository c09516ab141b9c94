"""Tests of the replay: rejected input, and the player's wait for fused frames."""

import numpy as np
import pytest

pytest.importorskip("rclpy")

from lodestar_eval.demo import replay
from lodestar_eval.options import DETECTORS


@pytest.mark.parametrize("what", ["missing", "empty"])
def test_what_is_no_recording_is_bad_usage(what, tmp_path, capsys):
    path = tmp_path / "missing" if what == "missing" else tmp_path
    assert replay.main([str(path), "--out", str(tmp_path / "out")]) == replay.EXIT_USAGE
    assert str(path) in capsys.readouterr().err


def test_a_recording_of_torn_frames_is_bad_usage(tmp_path, capsys):
    (tmp_path / "camera-intrinsics.txt").write_text("60 0 32\n0 60 24\n0 0 1\n")
    (tmp_path / "frame-000000.depth.png").write_bytes(b"torn")
    assert replay.main([str(tmp_path), "--out", str(tmp_path / "out")]) == replay.EXIT_USAGE
    assert "'depth': 1" in capsys.readouterr().err


@pytest.mark.parametrize("rate", ["0", "-3", "nan", "fast"])
def test_a_rate_that_is_none_is_bad_usage(rate, tmp_path, capsys):
    assert replay.main([str(tmp_path), "--rate", rate]) == replay.EXIT_USAGE
    assert "--rate" in capsys.readouterr().err


class Heard:
    """Player that has received some stamps of fused frames."""

    def __init__(self, *fused):
        self.fused, self.gaps, self.confirmed = set(fused), 0, {3: "a red object"}


def test_a_lost_frame_is_told_and_gives_status_one(capsys):
    stamps = np.arange(1000.0, 1001.0, 0.1).round(6).tolist()
    assert replay._report(Heard(*stamps), stamps, 1.0, 0.0) == replay.EXIT_WHOLE
    assert "10 fused, 0 lost" in capsys.readouterr().out
    assert replay._report(Heard(*stamps[1:], 999.0), stamps, 1.0, 0.0) == replay.EXIT_LOST
    said = capsys.readouterr().out
    assert "9 fused, 1 lost" in said and "a red object" in said


@pytest.mark.parametrize("name", ["geometric", *DETECTORS])
def test_every_detector_may_read_a_recording(name, tmp_path, monkeypatch):
    taken = []
    monkeypatch.setattr(replay, "open_recording", lambda path: Recording())
    monkeypatch.setattr(replay, "_play", lambda frames, options: taken.append(options.perception) or 0)
    assert replay.main([str(tmp_path), "--perception", name]) == 0 and taken == [name]


def test_the_help_says_what_the_packaged_network_knows(capsys):
    assert replay.main(["--help"]) == 0
    assert "for recordings of the simulator alone" in " ".join(capsys.readouterr().out.split())


class Recording:
    """Recording of one image."""

    skipped: tuple = ()

    def __len__(self):
        return 1

    def frames(self):
        return iter([None])
