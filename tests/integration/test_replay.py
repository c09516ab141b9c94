"""A recording through the running nodes."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from lodestar_eval.demo import replay

pytestmark = pytest.mark.alone


@pytest.fixture
def recording(tmp_path):
    """A red crate before a wall, of a camera that moves sideways."""
    (tmp_path / "camera-intrinsics.txt").write_text("150 0 79.5\n0 150 59.5\n0 0 1\n")
    rows, columns = np.mgrid[0:120, 0:160]
    for number in range(10):
        pose = np.eye(4)
        pose[0, 3] = 0.03 * number
        x, y = (columns - 79.5) / 150.0 * 1.8 + pose[0, 3], (rows - 59.5) / 150.0 * 1.8
        crate = (np.abs(x) < 0.35) & (np.abs(y) < 0.3)
        color = np.full((120, 160, 3), 200, np.uint8)
        color[crate] = (30, 30, 190)  # blue first
        stem = f"{tmp_path}/frame-{3 * number:06d}"
        cv2.imwrite(f"{stem}.depth.png", np.where(crate, 1800, 3000).astype(np.uint16))
        cv2.imwrite(f"{stem}.color.png", color)
        np.savetxt(f"{stem}.pose.txt", pose)
    return tmp_path


def test_every_frame_is_fused_and_the_thing_in_it_found(recording, capsys):
    status = replay.main([str(recording), "--rate", "3", "--out", str(recording / "out")])
    said = capsys.readouterr().out
    assert status == replay.EXIT_WHOLE, said
    assert "10 fused, 0 lost, 0 gaps" in said
    assert "a red object" in said
