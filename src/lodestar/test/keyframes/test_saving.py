"""Tests of keyframes copied to a folder and back, readable by the owner only."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from failing_disk import every_failure, failing_disk
from waiting import PATIENCE

from lodestar.geometry.camera import PinholeCamera
from lodestar.geometry.poses import BODY_FROM_OPTICAL, planar_transform
from lodestar.keyframes.config import KeyframeConfig
from lodestar.keyframes.store import KeyframeStore
from lodestar.perception.frames import ImageBox, RgbdFrame
from lodestar.storage.archive import ForeignFile, OtherVersion
from lodestar.storage.files import link_file
from lodestar.storage.private import UnsafeFolder
from lodestar.storage.replacement import replace_all
from lodestar.storage.snapshot import SnapshotFolder

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


def load_into(store, folder):
    replace_all([("keyframes", store.replace(folder))])
    return len(store)


def test_there_and_back(kept, tmp_path):
    assert kept.save_to(tmp_path / "saved") == sum(p.stat().st_size for p in (tmp_path / "saved").iterdir())
    other = KeyframeStore(tmp_path / "second")
    other.offer(frame(50.0, x=9.0))
    assert load_into(other, tmp_path / "saved") == 4
    for keyframe in kept.keyframes():
        record, image = other.get(keyframe.id)
        assert np.allclose(record.map_from_camera, keyframe.map_from_camera)
        assert image == kept.get(keyframe.id)[1]
    assert other.offer(frame(0.5, x=7.0)).id == 5, "any stamp may come next, and ids go on"


def test_outlines_are_stored_and_records_without_them_load_as_boxes(kept, tmp_path):
    outlined = ImageBox(1, 2, 30, 20, outline=(1, 2, 30, 2, 30, 21, -1, -1, 5, 5, 9, 5, 9, 9))
    kept.link(1.0, {7: outlined})
    assert KeyframeStore(kept.folder).get(1)[0].instances == {7: outlined}
    path = kept.folder / "00000001.json"
    record = json.loads(path.read_text())
    del record["instances"]["7"]["outline"]  # a record from before outlines existed
    path.write_text(json.dumps(record))
    assert KeyframeStore(kept.folder).get(1)[0].instances == {7: ImageBox(1, 2, 30, 20)}
    record["instances"]["7"]["outline"] = [2**20]
    path.write_text(json.dumps(record))
    (problem,) = KeyframeStore(kept.folder).damaged
    assert "outline" in problem


def test_what_was_saved_does_not_change_with_the_store(kept, tmp_path):
    kept.save_to(tmp_path / "saved")
    kept.link(1.0, {7: ImageBox(0, 0, 1, 1)})
    other = KeyframeStore(tmp_path / "second")
    load_into(other, tmp_path / "saved")
    assert other.get(1)[0].instances == {}


@pytest.mark.parametrize(
    "harm",
    [
        lambda folder: (folder / "00000002.jpg").unlink(),
        lambda folder: _write(folder / "00000002.jpg", b""),
        lambda folder: _write(folder / "00000002.jpg", (folder / "00000002.jpg").read_bytes()[:-40]),
        lambda folder: _write(folder / "00000002.json", b"{"),
        lambda folder: _write(folder / "00000002.json", bytes(300)),
        lambda folder: (folder / "00000002.json").unlink(),
    ],
)
def test_a_damaged_keyframe_is_told_and_left_out(kept, tmp_path, harm):
    kept.save_to(tmp_path / "saved")
    harm(tmp_path / "saved")
    other = KeyframeStore(tmp_path / "second")
    other.offer(frame(50.0, x=9.0))
    assert load_into(other, tmp_path / "saved") == 3
    assert other.ids == (1, 3, 4) and all(other.get(i)[1] == kept.get(i)[1] for i in other.ids)
    (told,) = next(other.replace(tmp_path / "saved"))
    assert told.startswith("keyframe 00000002 is damaged and was left out: ")


def _write(path, content):
    path.unlink()  # the store has a second link to the file
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("content", "error"), [("{", ForeignFile), ('{"version": 2}', ForeignFile), (None, OtherVersion)]
)
def test_a_damaged_index_or_one_of_a_newer_version_is_refused_and_nothing_changes(
    kept, tmp_path, content, error
):
    kept.save_to(tmp_path / "saved")
    index = tmp_path / "saved" / "keyframes.json"
    index.write_text(
        json.dumps({**json.loads(index.read_text()), "version": 3}) if content is None else content
    )
    other = KeyframeStore(tmp_path / "second")
    other.offer(frame(50.0, x=9.0))
    with pytest.raises(error):
        load_into(other, tmp_path / "saved")
    assert other.ids == (1,) and other.get(1)


def test_keyframes_without_an_index_are_left_out_with_a_sentence(kept, tmp_path):
    kept.save_to(tmp_path / "old")
    (tmp_path / "old" / "keyframes.json").unlink()
    store = KeyframeStore(tmp_path / "old")
    assert not store.ids and len(store.damaged) == 4
    assert "the index keyframes.json is missing" in store.damaged[0]


# --- disk errors -----------------------------------------------------------------------------------------


def content(store):
    """Return the ids, poses and images of a store."""
    return [(k.id, k.map_from_camera.round(6).tolist(), store.get(k.id)[1]) for k in store.keyframes()]


def running(folder):
    store = KeyframeStore(folder)
    for step in range(3):
        store.offer(frame(100.0 + step, x=50.0 + step))
    return store


def test_a_load_that_fails_leaves_what_there_was_in_memory_and_on_the_disk(kept, tmp_path):
    kept.save_to(tmp_path / "saved")
    stores = []

    def load():
        load_into(stores[-1], tmp_path / "saved")

    def fresh():
        stores.append(running(tmp_path / f"live-{len(stores)}"))

    fresh()
    before, loaded, failed = content(stores[0]), content(kept), 0
    for disk, error in every_failure(load):
        store = stores[-1]
        wanted = before if error else loaded
        assert content(store) == wanted, f"operation {disk.at}: {error}"
        assert content(KeyframeStore(store.folder)) == wanted, f"operation {disk.at}: {error}"
        failed += error is not None
        fresh()
    assert failed > 10


def test_a_load_may_be_taken_back_after_the_swap_also_on_a_full_disk(kept, tmp_path):
    kept.save_to(tmp_path / "saved")
    store = running(tmp_path / "live")
    before = content(store)
    load = store.replace(tmp_path / "saved")
    next(load), next(load)
    assert content(store) == content(kept)
    store.offer(frame(7.0, x=90.0))
    with failing_disk(0, stays_full=True):
        load.close()
    assert content(store) == content(KeyframeStore(store.folder)) == before
    assert store.offer(frame(200.0, x=90.0)).id == 6, "no id is given twice"


def test_a_keyframe_that_is_erased_during_a_load_does_not_come_back(kept, tmp_path):
    kept.save_to(tmp_path / "saved")
    store = KeyframeStore(tmp_path / "live")
    store.offer(frame(100.0, x=50.0))
    load = store.replace(tmp_path / "saved")
    next(load), next(load)
    store.erase("", [1])
    assert store.ids == (2, 3, 4)
    load.close()
    assert store.ids == () and KeyframeStore(store.folder).ids == ()


@pytest.mark.parametrize("does", ["replace", "save_to"])
def test_a_slow_copy_holds_up_nobody_and_brings_nothing_back_that_is_erased(
    kept, tmp_path, monkeypatch, does
):
    """A saved map may lie on another disk, from which images are copied slowly."""
    kept.save_to(tmp_path / "saved")
    store = KeyframeStore(tmp_path / "live") if does == "replace" else kept
    linked, asked = [], []

    def slow(source, target):
        link_file(source, target)
        linked.append(target)
        if len(linked) == 3:  # after the first pair and half of the second
            with ThreadPoolExecutor(1) as other:
                asked.append(other.submit(store.offer, frame(200.0, x=90.0)).result(timeout=PATIENCE))
                asked.append(other.submit(store.erase, "", [2, 3]).result(timeout=PATIENCE))

    monkeypatch.setattr("lodestar.keyframes.folder.link_file", slow)
    if does == "replace":
        load = store.replace(tmp_path / "saved")
        assert next(load) == () and asked[0].id == 1
        assert next(load) == () and next(load, None) is None
        assert store.ids == (1, 4) and KeyframeStore(store.folder).ids == (1, 4)
    else:
        store.save_to(tmp_path / "again")
        assert asked[0].id == 5 and store.ids == (1, 4, 5)
        other = KeyframeStore(tmp_path / "other")
        assert load_into(other, tmp_path / "again") == 2 and not other.damaged


def test_a_load_that_is_taken_back_keeps_what_is_wanted(kept, tmp_path):
    kept.save_to(tmp_path / "saved")
    store = KeyframeStore(tmp_path / "live", KeyframeConfig(max_count=3))
    for step in range(3):
        store.offer(frame(100.0 + step, x=50.0 + step))
    store.want([1])
    load = store.replace(tmp_path / "saved")
    next(load), next(load)
    load.close()
    for step in range(3, 9):
        store.offer(frame(100.0 + step, x=50.0 + step))
    assert 1 in store.ids


def test_a_save_that_fails_leaves_the_one_before(kept, tmp_path):
    folder = SnapshotFolder(tmp_path / "map")

    def save():
        part = folder.begin()
        try:
            kept.save_to(part / "keyframes")
            folder.commit(part, {"keyframes": len(kept)})
        except BaseException:
            folder.discard(part)
            raise

    save()
    failed = 0
    for disk, error in every_failure(save):
        part, meta = folder.open()
        other = KeyframeStore(tmp_path / f"other-{disk.at}-{disk.stays_full}")
        assert load_into(other, part / "keyframes") == meta["keyframes"] == 4, f"operation {disk.at}: {error}"
        failed += error is not None
    assert failed > 20


CLOSURE = planar_transform(0.0, 5.0, 0.0)


def test_a_loop_closure_moves_all_keyframes_or_none_and_comes_again(tmp_path):
    stores = []

    def fresh():
        stores.append(running(tmp_path / f"live-{len(stores)}"))

    def close_loop():
        stores[-1].offer(replace(frame(200.0, x=80.0), map_from_odom=CLOSURE))

    def heights(store):
        return {round(float(k.map_from_camera[1, 3]), 6) for k in store.keyframes() if k.id <= 3}

    fresh()
    failed = 0
    for disk, error in every_failure(close_loop):
        store = stores[-1]
        assert heights(store) == heights(KeyframeStore(store.folder)), f"operation {disk.at}: {error}"
        assert heights(store) in ({0.0}, {5.0})
        store.offer(replace(frame(201.0, x=81.0), map_from_odom=CLOSURE))
        assert heights(store) == heights(KeyframeStore(store.folder)) == {5.0}, "it comes again"
        failed += error is not None
        fresh()
    assert failed >= 6


def test_a_loop_closure_of_a_part_moves_its_keyframes_or_none_and_comes_again(tmp_path):
    stores = []
    ring = [planar_transform(x, y, 0.0) for x, y in
            [*((k, 0) for k in range(20)), *((20, k) for k in range(20)), *((20 - k, 20) for k in range(20)),
             *((0, 20 - k) for k in range(20))]]  # fmt: skip
    closure = planar_transform(0.0, 1.0, 0.0)

    def at(number, stamp, map_from_odom):
        shown = frame(stamp)
        return replace(
            shown, odom_from_camera=ring[number] @ shown.odom_from_camera, map_from_odom=map_from_odom
        )

    def fresh():
        stores.append(KeyframeStore(tmp_path / f"part-{len(stores)}"))
        for number in range(len(ring) - 1):
            stores[-1].offer(at(number, 1.0 + number, np.eye(4)))

    def places(store):
        return tuple(round(float(k.map_from_camera[1, 3]), 6) for k in store.keyframes()[: len(ring) - 1])

    def close_loop():
        stores[-1].offer(at(len(ring) - 1, 200.0, closure))

    fresh()
    before, failed = places(stores[-1]), 0
    for disk, error in every_failure(close_loop):
        store = stores[-1]
        assert places(store) == places(KeyframeStore(store.folder)), f"operation {disk.at}: {error}"
        store.offer(at(len(ring) - 1, 201.0, closure))
        after = places(store)
        assert after == places(KeyframeStore(store.folder)), "it comes again"
        assert after[0] == before[0] and after[-1] == pytest.approx(before[-1] + 1.0, abs=0.05)
        assert all(0.0 <= b - a <= 1.001 for a, b in zip(before, after))
        store.save_to(tmp_path / f"saved-{len(stores)}")
        assert places(KeyframeStore(tmp_path / f"saved-{len(stores)}")) == after
        failed += error is not None
        fresh()
    assert failed >= 3


KILLED = """
import sys
from dataclasses import replace
from itertools import count
import numpy as np
sys.path[:0] = sys.argv[2:]
from test_saving import frame
from lodestar.geometry.poses import planar_transform
from lodestar.keyframes.store import KeyframeStore
store = KeyframeStore(sys.argv[1])
for step in range(60):
    store.offer(frame(1.0 + step, x=1.0 * step))
for step in count(1):
    store.offer(replace(frame(100.0 + step, x=0.0), map_from_odom=planar_transform(0.0, 20.0 * step, 0.0)))
    if step == 1:
        print("ready", flush=True)
"""


def test_a_process_that_is_killed_in_a_loop_closure_has_moved_all_keyframes_or_none(tmp_path):
    for round_ in range(5):
        folder = tmp_path / f"run-{round_}"
        command = [sys.executable, "-c", KILLED, str(folder), str(Path(__file__).parent), *sys.path]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        time.sleep(0.05 + 0.03 * round_)
        process.kill()
        process.wait()
        heights = {round(float(k.map_from_camera[1, 3]), 3) for k in KeyframeStore(folder).keyframes()[:60]}
        assert len(heights) == 1 and heights.pop() > 0.0


def test_a_clock_that_went_back_is_followed_after_a_restart_of_the_clock(tmp_path):
    store = running(tmp_path / "live")
    assert store.offer(frame(0.2, x=0.0)) is None and store.rejected == 1
    store.restart_clock()
    found = [store.offer(frame(0.2 * step, x=60.0 + 2 * step)) for step in range(200)]
    assert sum(keyframe is not None for keyframe in found) == 200


def test_only_the_owner_can_read_pictures_wherever_they_lie(kept, tmp_path):
    before = os.umask(0)
    try:
        kept.save_to(tmp_path / "saved")
        os.chmod(tmp_path / "saved" / "00000001.jpg", 0o644)  # the mode of an older version
        other = KeyframeStore(tmp_path / "second")
        load_into(other, tmp_path / "saved")
        other.offer(frame(9.0, x=9.0))
    finally:
        os.umask(before)
    for folder in (kept.folder, tmp_path / "saved", other.folder):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        for path in folder.rglob("*"):
            assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)


def test_a_folder_that_somebody_planted_is_refused(tmp_path):
    (tmp_path / "theirs").mkdir(mode=0o700)
    (tmp_path / "first").symlink_to(tmp_path / "theirs")
    with pytest.raises(UnsafeFolder):
        KeyframeStore(tmp_path / "first")


def test_a_store_that_is_opened_again_goes_on(kept):
    again = KeyframeStore(kept.folder)
    assert len(again) == 4 and again.offer(frame(50.0, x=9.0)).id == 5
