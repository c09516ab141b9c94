"""Tests of recordings: complete, damaged and missing ones."""

import cv2
import numpy as np
import pytest

from lodestar_eval.recording_sources import open_recording
from lodestar_eval.recordings import BadRecording

INTRINSICS = "60 0 31.5\n0 60 23.5\n0 0 1\n"


def write(folder, number, depth=1500, pose=None, color="jpg"):
    stem = f"{folder}/frame-{number:06d}"
    image = np.full((48, 64), depth, np.uint16)
    image[0, 0], image[0, 1] = 65535, 0
    cv2.imwrite(f"{stem}.depth.png", image)
    np.savetxt(f"{stem}.pose.txt", np.eye(4) if pose is None else pose)
    if color:
        cv2.imwrite(f"{stem}.color.{color}", np.full((48, 64, 3), (10, 20, 200), np.uint8))


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "camera-intrinsics.txt").write_text(INTRINSICS)
    pose = np.eye(4)
    for number in (0, 3, 6):
        pose[2, 3] = 0.1 * number
        write(tmp_path, number, pose=pose)
    return tmp_path


def test_frames_come_in_order_in_metres_and_with_z_up(folder):
    recording = open_recording(folder)
    frames = list(recording.frames())
    assert len(recording) == 3 and [f.stamp for f in frames] == [0.0, 0.1, 0.2] and not recording.skipped
    assert frames[0].depth[5, 5] == pytest.approx(1.5) and not frames[0].depth[0, :2].any()
    assert (frames[0].camera.fx, frames[0].camera.width, frames[0].camera.height) == (60.0, 64, 48)
    np.testing.assert_allclose(frames[0].map_from_camera[:3, :3] @ (0, 1, 0), (0, 0, -1), atol=1e-9)
    # the camera moves forward along x
    np.testing.assert_allclose(frames[2].map_from_camera[:3, 3], (0.6, 0, 0), atol=1e-9)
    assert frames[0].rgb[10, 10, 0] > 150  # red comes first, not blue


def test_torn_frames_are_skipped_and_counted(folder):
    (folder / "frame-000003.depth.png").write_bytes(b"no png")
    np.savetxt(folder / "frame-000006.pose.txt", np.full((4, 4), np.nan))
    write(folder, 9, color="")
    write(folder, 12)
    (folder / "frame-000012.pose.txt").unlink()
    recording = open_recording(folder)
    frames = list(recording.frames())
    assert [f.stamp for f in frames] == pytest.approx([0.0, 0.3])
    assert frames[1].rgb is None
    assert recording.skipped == {"depth": 1, "pose": 2, "colour": 1}
    assert len(list(recording.frames())) == 2 and recording.skipped["pose"] == 2  # a second pass counts anew


@pytest.mark.parametrize("missing", ["camera-intrinsics.txt", "frames", "folder"])
def test_what_is_no_recording_is_refused_with_what_is_missing(folder, missing):
    if missing == "frames":
        for file in folder.glob("frame-*"):
            file.unlink()
    elif missing != "folder":
        (folder / missing).unlink()
    path = folder / "nothing" if missing == "folder" else folder
    with pytest.raises(BadRecording, match=missing if missing == "camera-intrinsics.txt" else str(path)):
        open_recording(path)


def test_intrinsics_of_another_shape_are_refused(folder):
    (folder / "camera-intrinsics.txt").write_text("1 2\n3 4\n")
    with pytest.raises(BadRecording, match="3 x 3"):
        open_recording(folder)
