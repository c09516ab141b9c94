"""Keyframes copied to a folder and back; nobody else reads them."""

from __future__ import annotations

import os
import stat

import numpy as np
import pytest

from lodestar.geometry.camera import PinholeCamera
from lodestar.geometry.poses import BODY_FROM_OPTICAL, planar_transform
from lodestar.keyframes.store import KeyframeStore
from lodestar.perception.frames import ImageBox, RgbdFrame
from lodestar.storage.archive import ForeignFile
from lodestar.storage.private import UnsafeFolder

CAMERA = PinholeCamera(64, 48, 40.0, 40.0, 31.5, 23.5)


def frame(stamp, x=0.0):
    image = np.full((48, 64, 3), (200, 30, 30), np.uint8)
    pose = planar_transform(x, 0.0, 0.0, 0.45) @ BODY_FROM_OPTICAL
    return RgbdFrame(stamp, CAMERA, np.ones((48, 64), np.float32), pose, rgb=image)


@pytest.fixture
def kept(tmp_path):
    store = KeyframeStore(tmp_path / "first")
    for step in range(4):
        assert store.offer(frame(1.0 + step, x=1.0 * step))
    return store


def test_there_and_back(kept, tmp_path):
    assert kept.save_to(tmp_path / "saved") == sum(p.stat().st_size for p in (tmp_path / "saved").iterdir())
    other = KeyframeStore(tmp_path / "second")
    other.offer(frame(50.0, x=9.0))
    assert other.load_from(tmp_path / "saved") == 4
    for keyframe in kept.keyframes():
        record, image = other.get(keyframe.id)
        assert np.allclose(record.map_from_camera, keyframe.map_from_camera)
        assert image == kept.get(keyframe.id)[1]
    assert other.disk_bytes == kept.disk_bytes
    assert other.offer(frame(0.5, x=7.0)).id == 5, "any stamp may come next, and ids go on"


def test_what_was_saved_does_not_change_with_the_store(kept, tmp_path):
    kept.save_to(tmp_path / "saved")
    kept.link(1.0, {7: ImageBox(0, 0, 1, 1)})
    other = KeyframeStore(tmp_path / "second")
    other.load_from(tmp_path / "saved")
    assert other.get(1)[0].instances == {}


@pytest.mark.parametrize("harm", ["image", "record"])
def test_a_damaged_folder_is_refused_and_nothing_changes(kept, tmp_path, harm):
    kept.save_to(tmp_path / "saved")
    (tmp_path / "saved" / ("00000002.jpg" if harm == "image" else "00000002.json")).unlink()
    if harm == "record":
        (tmp_path / "saved" / "00000002.json").write_text("{")
    other = KeyframeStore(tmp_path / "second")
    other.offer(frame(50.0, x=9.0))
    with pytest.raises(ForeignFile):
        other.load_from(tmp_path / "saved")
    assert len(other) == 1 and other.get(1)


def test_only_the_owner_can_read_pictures_wherever_they_lie(kept, tmp_path):
    before = os.umask(0)
    try:
        kept.save_to(tmp_path / "saved")
        os.chmod(tmp_path / "saved" / "00000001.jpg", 0o644)  # as an older version saved it
        other = KeyframeStore(tmp_path / "second")
        other.load_from(tmp_path / "saved")
        other.offer(frame(9.0, x=9.0))
    finally:
        os.umask(before)
    for folder in (kept.folder, tmp_path / "saved", other.folder):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}


def test_a_folder_that_somebody_planted_is_refused(tmp_path):
    (tmp_path / "theirs").mkdir(mode=0o700)
    (tmp_path / "first").symlink_to(tmp_path / "theirs")
    with pytest.raises(UnsafeFolder):
        KeyframeStore(tmp_path / "first")


def test_a_store_that_is_opened_again_goes_on(kept):
    again = KeyframeStore(kept.folder)
    assert len(again) == 4 and again.offer(frame(50.0, x=9.0)).id == 5
