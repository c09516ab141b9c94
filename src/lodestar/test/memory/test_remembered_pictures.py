"""Tests of a picture and its memory over two runs: shown in the next run, and in no file once forgotten."""

from __future__ import annotations

import shutil
from dataclasses import replace

import memory_fakes as fakes
import numpy as np
import pytest

from lodestar.geometry.camera import PinholeCamera
from lodestar.geometry.poses import BODY_FROM_OPTICAL, planar_transform
from lodestar.keyframes.records import ImageName
from lodestar.keyframes.remembered import RememberedImages
from lodestar.keyframes.store import KeyframeStore
from lodestar.memory.errors import NotErased
from lodestar.memory.store import MemoryStore
from lodestar.perception.frames import RgbdFrame

CAMERA = PinholeCamera(64, 48, 40.0, 40.0, 31.5, 23.5)


class Run:
    """Stores of one run; the memory's calls erase images. down: the images cannot be erased."""

    def __init__(self, config, home, session):
        beyond = RememberedImages(home / "memory" / "images")
        self.keyframes = KeyframeStore(home / "run", session_id=session, remembered=beyond)
        self.down = False
        self.memory = MemoryStore.open(config, fakes.embed, on_erased=self.erase)

    def erase(self, images):
        if self.down:
            raise OSError("the image store does not answer")
        for image in images:
            self.keyframes.erase(image.session, [image.id])

    def sees(self, text, stamp):
        pixels = np.random.default_rng(int(stamp)).integers(0, 255, (48, 64, 3)).astype(np.uint8)
        pose = planar_transform(stamp, 0.0, 0.0) @ BODY_FROM_OPTICAL
        kept = self.keyframes.offer(RgbdFrame(stamp, CAMERA, np.ones((48, 64), np.float32), pose, rgb=pixels))
        identity = self.memory.add(
            fakes.memory(text, stamp, keyframe_ids=(kept.id,), keyframe_session=kept.session_id)
        )
        self.keyframes.remember(self.memory.name, self.memory.images(99))
        return identity, self.keyframes.get(kept.id)[1]

    def end(self, home):
        self.memory.close()
        shutil.rmtree(home / "run")


def on_disk(home, content):
    return [path for path in home.rglob("*") if path.is_file() and content in path.read_bytes()]


@pytest.mark.parametrize("backend", ["sqlite", pytest.param("milvus_lite", marks=pytest.mark.slow)])
def test_a_picture_is_shown_in_the_next_run_and_in_no_file_once_forgotten(tmp_path, config, backend):
    config = replace(config, backend=backend)
    first = Run(config, tmp_path, "one")
    secret, jpeg = first.sees("SECRET-A. the safe is open", 1.0)
    other, stays = first.sees("a plain wall", 2.0)
    first.end(tmp_path)
    second = Run(config, tmp_path, "two")
    _, new = second.sees("another wall", 3.0)
    (name,) = second.memory.get(secret).images
    assert second.keyframes.get(name.id, name.session)[1] == jpeg
    assert second.keyframes.get(1)[1] == new, "of the same number in this run"
    second.down = True
    with pytest.raises(NotErased, match="does not answer"):
        second.memory.forget(secret)
    assert on_disk(tmp_path, jpeg), "it is not told as done"
    second.end(tmp_path)
    third = Run(config, tmp_path, "three")  # the pending erasure survives the restart
    while not third.memory.flush(5.0):
        pass
    assert not on_disk(tmp_path, jpeg) and not on_disk(tmp_path, b"SECRET-A.")
    assert third.keyframes.get(2, "one")[1] == stays and on_disk(tmp_path, new)
    third.memory.forget(other)
    assert not on_disk(tmp_path, stays)
    with pytest.raises(KeyError, match="not stored any more"):
        third.keyframes.get(*reversed(ImageName("one", 2)))
    third.end(tmp_path)
