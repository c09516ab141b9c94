"""Tests of the keyframe store on disk."""

from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from lodestar.geometry.camera import PinholeCamera
from lodestar.geometry.poses import BODY_FROM_OPTICAL, inverse, planar_transform
from lodestar.keyframes.store import KeyframeConfig, KeyframeStore
from lodestar.perception.frames import ImageBox, RgbdFrame

CAMERA = PinholeCamera(64, 48, 40.0, 40.0, 31.5, 23.5)


def frame(stamp, x=0.0, y=0.0, yaw=0.0, colour=(200, 30, 30), rgb=True):
    image = np.full((48, 64, 3), colour, np.uint8) if rgb else None
    pose = planar_transform(x, y, yaw, 0.45) @ BODY_FROM_OPTICAL
    return RgbdFrame(stamp, CAMERA, np.ones((48, 64), np.float32), pose, rgb=image)


def bytes_in(folder):
    return sum(path.stat().st_size for path in folder.glob("*.jpg"))


def files(folder):
    return sorted(p.name for p in folder.iterdir())


@pytest.mark.parametrize(
    ("x", "yaw", "after", "kept"),
    [
        (0.1, 0.1, 1.0, False),
        (0.6, 0.0, 1.0, True),
        (0.0, 0.6, 1.0, True),
        (0.0, 0.0, 300.0, True),
        (5.0, 2.0, 0.1, False),
    ],
)
def test_only_new_looks_are_kept(tmp_path, x, yaw, after, kept):
    store = KeyframeStore(tmp_path)
    assert store.offer(frame(1.0)).id == 1
    second = store.offer(frame(1.0 + after, x, 0.0, yaw))
    assert (second is not None) is kept and len(store) == 1 + kept


def test_the_image_comes_back_with_its_record(tmp_path):
    store = KeyframeStore(tmp_path, map_id=3, session_id="s")
    kept = store.offer(frame(2.5, 1.0, 2.0, 0.5))
    record, jpeg = store.get(kept.id)
    image = cv2.cvtColor(cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR), cv2.COLOR_BGR2RGB)
    assert image.shape == (48, 64, 3)
    np.testing.assert_allclose(image.mean((0, 1)), (200, 30, 30), atol=4)
    assert (record.stamp, record.map_id, record.session_id) == (2.5, 3, "s")
    np.testing.assert_allclose(record.map_from_camera[:2, 3], (1.0, 2.0))
    with pytest.raises(KeyError):
        store.get(99)


def test_instances_are_linked_by_stamp_and_survive_a_restart(tmp_path):
    store = KeyframeStore(tmp_path)
    store.offer(frame(1.0))
    store.offer(frame(2.0, 3.0))
    assert store.link(2.005, {7: ImageBox(1, 2, 3, 4)}).id == 2
    assert store.link(2.0, {8: ImageBox(5, 6, 7, 8)}).instances.keys() == {7, 8}
    assert store.link(1.5, {9: ImageBox(0, 0, 1, 1)}) is None
    again = KeyframeStore(tmp_path)
    assert [k.id for k in again.keyframes()] == [1, 2]
    assert again.keyframes()[1].instances[7] == ImageBox(1, 2, 3, 4)
    assert again.keyframes()[1].camera == CAMERA
    assert again.offer(frame(9.0, 20.0)).id == 3


def test_the_disk_is_bounded_and_redundant_looks_go_first(tmp_path):
    store = KeyframeStore(tmp_path, KeyframeConfig(max_count=5, refresh=5.0))
    store.offer(frame(1.0, 50.0))  # the only view of a distant place
    for k in range(20):
        store.offer(frame(10.0 * k + 10, 0.6 * (k % 6)))
    assert len(store) == 5 and len(files(tmp_path)) == 11
    assert store.get(1)[0].map_from_camera[0, 3] == 50.0
    store = KeyframeStore(tmp_path / "bytes", KeyframeConfig(max_bytes=2500))
    for k in range(20):
        assert store.offer(frame(1.0 + k, 2.0 * k)) is not None
        assert bytes_in(tmp_path / "bytes") <= 2500
    assert 1 <= len(store) < 20


def test_bad_images_are_counted_and_not_kept(tmp_path):
    store = KeyframeStore(tmp_path)
    store.offer(frame(5.0))
    assert store.offer(frame(6.0, 5.0, rgb=False)) is None
    assert store.offer(frame(4.0, 5.0)) is None
    assert store.offer(frame(7.0, float("nan"))) is None
    assert store.rejected == 3 and len(store) == 1


def test_what_a_crash_left_half_done_is_cleared(tmp_path):
    store = KeyframeStore(tmp_path)
    for k in range(4):
        store.offer(frame(1.0 + k, 2.0 * k))
    (tmp_path / "00000002.json").write_text("{ not json")
    (tmp_path / "00000003.jpg").unlink()
    (tmp_path / "00000009.jpg").write_bytes(b"orphan")
    (tmp_path / "00000010.jpg.part").write_bytes(b"half")
    again = KeyframeStore(tmp_path)
    assert [k.id for k in again.keyframes()] == [1, 4]
    assert len(again.damaged) == 3 and "00000002" in again.damaged[0]
    assert files(tmp_path) == [
        "00000001.jpg", "00000001.json", "00000004.jpg", "00000004.json", "keyframes.json"
    ]  # fmt: skip


def test_an_image_deleted_behind_its_back_is_a_key_error(tmp_path):
    store = KeyframeStore(tmp_path)
    store.offer(frame(1.0))
    (tmp_path / "00000001.jpg").unlink()
    with pytest.raises(KeyError, match="missing"):
        store.get(1)


def test_poses_move_with_jumps_of_the_map_and_the_gate_with_them(tmp_path):
    store = KeyframeStore(tmp_path)
    there = planar_transform(20.0, 5.0, 0.0)
    jump = there @ planar_transform(0.0, 0.0, np.radians(5.0)) @ inverse(there)
    first = store.offer(frame(1.0))
    assert store.offer(replace(frame(2.0), map_from_odom=jump)) is None, (
        "the same look, of a map that has moved"
    )
    moved, _ = store.get(first.id)
    np.testing.assert_allclose(moved.map_from_camera, jump @ first.map_from_camera)
    store.offer(replace(frame(3.0), map_from_odom=planar_transform(0.03, 0.0, 0.01) @ jump))
    np.testing.assert_allclose(store.get(first.id)[0].map_from_camera, moved.map_from_camera)
    again = KeyframeStore(tmp_path)
    np.testing.assert_allclose(again.get(first.id)[0].map_from_camera, moved.map_from_camera)


def test_wanted_keyframes_are_not_deleted(tmp_path):
    store = KeyframeStore(tmp_path / "images", KeyframeConfig(max_count=4, wanted_share=0.5))
    for number in range(4):
        store.offer(frame(float(number), x=2.0 * number))
    store.want((1, 2))
    for number in range(4, 30):
        store.offer(frame(float(number), x=0.6 + 3.0 * (number % 7)))
    assert store.ids[:2] == (1, 2) and len(store) == 4, "whatever comes, and the bound holds"
    assert store.ids[-1] == 30, "there is room for what the robot sees now"


def test_of_more_wishes_than_fit_the_most_important_hold(tmp_path):
    store = KeyframeStore(tmp_path / "images", KeyframeConfig(max_count=4, wanted_share=0.5))
    for number in range(4):
        store.offer(frame(float(number), x=2.0 * number))
    store.want((99, 3, 2, 1, 4))
    for number in range(4, 8):
        store.offer(frame(float(number), x=2.0 * number))
    assert {2, 3} <= set(store.ids) and 1 not in store.ids, "99 was never stored"
    size = bytes_in(tmp_path / "images") // 4
    small = KeyframeStore(
        tmp_path / "small", KeyframeConfig(max_bytes=4 * size + size // 2, wanted_share=0.5)
    )
    for number in range(4):
        small.offer(frame(float(number), x=2.0 * number))
    small.want((1, 2, 3, 4))
    for number in range(4, 8):
        small.offer(frame(float(number), x=2.0 * number))
    assert {1, 2} <= set(small.ids) and bytes_in(tmp_path / "small") <= 4.5 * size, "bytes count as well"


def test_what_is_not_wanted_any_more_is_deleted(tmp_path):
    store = KeyframeStore(tmp_path / "images", KeyframeConfig(max_count=2, wanted_share=0.5))
    store.offer(frame(0.0))
    store.want((1,))
    for number in range(1, 4):
        store.offer(frame(float(number), x=2.0 * number))
    assert store.ids == (1, 4)
    store.want(())
    store.offer(frame(4.0, x=0.6))
    assert store.ids == (4, 5)


def test_erased_keyframes_are_gone_with_their_files_and_their_ids_are_not_given_again(tmp_path):
    store = KeyframeStore(tmp_path / "images", session_id="now")
    for number in range(3):
        store.offer(frame(float(number), x=2.0 * number))
    assert store.erase("now", (3, 2, 77)) == (3, 2, 77), "what never was is not there either"
    assert store.ids == (1,) and sorted(p.name for p in store.folder.glob("0*")) == [
        "00000001.jpg",
        "00000001.json",
    ]
    assert store.was_stored(3) and not store.was_stored(77)
    with pytest.raises(KeyError):
        store.get(3)
    again = KeyframeStore(tmp_path / "images", session_id="now")
    assert again.offer(frame(9.0, x=9.0)).id == 4, "also after a restart"


def test_keyframes_of_another_session_with_the_same_ids_stay(tmp_path):
    store = KeyframeStore(tmp_path / "images", session_id="now")
    store.offer(frame(0.0))
    assert store.erase("before", (1,)) == (1,)
    assert store.get(1)


def test_a_file_that_cannot_be_deleted_is_told_and_the_keyframe_stays(tmp_path, monkeypatch):
    store = KeyframeStore(tmp_path / "images", session_id="now")
    store.offer(frame(0.0))

    def refuse(self, missing_ok=False):
        raise PermissionError("read-only file system")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", refuse)
        with pytest.raises(OSError, match="read-only"):
            store.erase("now", (1,))
    assert store.get(1)
    assert store.erase("now", (1,)) == (1,) and len(store) == 0


def test_a_share_that_leaves_no_room_is_refused():
    with pytest.raises(ValueError, match="wanted_share"):
        KeyframeConfig(wanted_share=1.0)
