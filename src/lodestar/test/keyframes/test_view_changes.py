"""Tests that a camera that stands stores its view again when the scene in it changes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.geometry.camera import PinholeCamera
from lodestar.geometry.poses import BODY_FROM_OPTICAL, planar_transform
from lodestar.keyframes.config import KeyframeConfig
from lodestar.keyframes.store import KeyframeStore
from lodestar.perception.frames import ImageBox, RgbdFrame

CAMERA = PinholeCamera(64, 48, 40.0, 40.0, 31.5, 23.5)
BOX = ImageBox(1, 1, 9, 9)
PERIOD = 0.2


def frame(stamp, yaw=0.0):
    pose = planar_transform(0.0, 0.0, yaw, 0.45) @ BODY_FROM_OPTICAL
    return RgbdFrame(stamp, CAMERA, np.ones((48, 64), np.float32), pose, rgb=np.zeros((48, 64, 3), np.uint8))


def watched(folder, scenes, config=KeyframeConfig(), **where):
    """Show a camera these instances, one set per image; return the stamps of the stored images, and the store."""
    store = KeyframeStore(folder, config)
    kept = []
    for k, shown in enumerate(scenes):
        stamp = 1.0 + PERIOD * k
        step = {name: at(k) for name, at in where.items()}
        if store.offer(frame(stamp, **step), frozenset(shown)) is not None:
            kept.append(stamp)
        store.link(stamp, dict.fromkeys(shown, BOX))
    return kept, store


def test_somebody_walks_by_a_standing_robot(tmp_path):
    scenes = [{1, 2}] * 20 + [{1, 2, 3}] * 15 + [{1, 2}] * 30
    kept, store = watched(tmp_path, scenes)
    came, went = kept[1:]
    assert came == pytest.approx(5.0, abs=2 * PERIOD) and went - 1.0 - 35 * PERIOD == pytest.approx(
        1.9, abs=0.4
    )
    shown = [set(k.instances) for k in store.keyframes()]
    assert shown == [{1, 2}, {1, 2, 3}, {1, 2}]


def test_a_detector_that_misses_a_thing_once_is_no_change(tmp_path):
    scenes = [{1, 2} if k % 5 else {1} for k in range(200)]
    kept, _ = watched(tmp_path, scenes)
    assert len(kept) <= 2  # the first image, and one after an object was missed in it


def test_without_instances_the_pose_alone_tells(tmp_path):
    store = KeyframeStore(tmp_path)
    assert store.offer(frame(1.0)) is not None
    assert all(store.offer(frame(1.0 + k)) is None for k in range(1, 60))


def test_a_camera_that_turns_stores_no_more_for_what_comes_into_view(tmp_path):
    def turned(k):
        return 0.02 * k  # 5.7 degrees per second, so it never stands for a second

    scenes = [{k // 3, k // 3 + 1, k // 3 + 2} for k in range(100)]
    kept, _ = watched(tmp_path / "sees", scenes, yaw=turned)
    plain, _ = watched(tmp_path / "blind", [()] * 100, yaw=turned)
    assert len(kept) <= len(plain) + 1


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.frozensets(st.integers(1, 5)), st.integers(15, 40)), min_size=1, max_size=6))
def test_every_scene_that_lasts_has_an_image(tmp_path_factory, parts):
    """Every scene that is stable for three seconds is shown by an image taken during it."""
    scenes = [shown for shown, count in parts for _ in range(count)]
    kept, store = watched(tmp_path_factory.mktemp("scenes"), scenes)
    assert np.all(np.diff(kept) >= 1.0 - 1e-6)
    images = {round(k.stamp, 3): set(k.instances) for k in store.keyframes()}
    begin, before = 0, None
    for shown, count in parts:
        first, last = 1.0 + PERIOD * begin - 1e-6, 1.0 + PERIOD * (begin + count) - 1e-6
        own = [images[stamp] for stamp in images if first <= stamp < last]
        assert shown == before or set(shown) in own
        begin, before = begin + count, shown
