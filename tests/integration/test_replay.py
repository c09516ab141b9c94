"""Tests of replaying a recording through running nodes."""

from __future__ import annotations

import math

import cv2
import numpy as np
import pytest
from waiting import PATIENCE

from lodestar.memory.config import StoreConfig
from lodestar.memory.store import MemoryStore
from lodestar.models.embedder import SentenceTransformerEmbedder
from lodestar.models.phrases import PhraseBook
from lodestar_eval.demo import replay
from lodestar_eval.demo.player import Player, base_of_camera

pytestmark = pytest.mark.alone
FIRST_STAMP = 1000.0  # s, first stamp of the recording, after the warm-up frames


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """Send each frame of a recording when the one before is fused: nodes keep only the newest of those that wait."""
    monkeypatch.setattr(replay, "_LAST_TIMEOUT", PATIENCE)
    show = Player.show

    def show_next(player, frame, stamp):
        before, player.shown = getattr(player, "shown", None), stamp
        if before is not None and before >= FIRST_STAMP:  # a warm-up frame may find no listener
            assert player.wait_for(before, PATIENCE), f"the frame of {before} s is lost"
        show(player, frame, stamp)

    monkeypatch.setattr(Player, "show", show_next)


@pytest.fixture
def recording(tmp_path):
    """Return the folder of a recording: red crate before a wall, camera moving sideways, 10 images per second."""
    return recorded(tmp_path, 3)


def recorded(tmp_path, step, count=10):
    """Write a recording of `count` images, `step` / 30 s apart."""
    (tmp_path / "camera-intrinsics.txt").write_text("150 0 79.5\n0 150 59.5\n0 0 1\n")
    rows, columns = np.mgrid[0:120, 0:160]
    for number in range(count):
        pose = np.eye(4)
        pose[0, 3] = 0.03 * number
        x, y = (columns - 79.5) / 150.0 * 1.8 + pose[0, 3], (rows - 59.5) / 150.0 * 1.8
        crate = (np.abs(x) < 0.35) & (np.abs(y) < 0.3)
        color = np.full((120, 160, 3), 200, np.uint8)
        color[crate] = (30, 30, 190)  # in BGR order
        stem = f"{tmp_path}/frame-{step * number:06d}"
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


def test_a_recording_that_is_replayed_builds_the_same_memory(tmp_path):
    """Two replays give the same memories of the recording's time, which name the object in it."""
    recorded(tmp_path, 15, 16)  # 8 s, two complete segments
    remembered = [remembered_of(tmp_path, tmp_path / f"memory {run}") for run in (1, 2)]
    assert remembered[0] == remembered[1]
    assert any("red object" in text for _, text, _ in remembered[0]), remembered[0]


def remembered_of(recording, folder):
    """Replay a recording; return (start, text, number of objects) of each memory segment after the warm-up frames."""
    status = replay.main(
        [str(recording), "--rate", "2", "--out", str(recording / "out"), "--memory", str(folder)]
    )
    assert status == replay.EXIT_WHOLE
    config = StoreConfig(folder=str(folder))
    with MemoryStore.open(config, PhraseBook(SentenceTransformerEmbedder()).vectors) as store:
        every = [store.get(identity) for identity in store.identities()]
    segments = [memory for memory in every if memory.event is None and memory.start >= FIRST_STAMP]
    return sorted((round(m.start, 3), m.text, len(m.primitives)) for m in segments)


def test_the_robot_of_a_recording_stands_upright_where_the_camera_is():
    """The camera looks along y of odom, tilted down (optical frame: z ahead, x right)."""
    tilt = math.radians(30.0)
    ahead, right = np.array([0.0, math.cos(tilt), -math.sin(tilt)]), np.array([1.0, 0.0, 0.0])
    camera = np.eye(4)
    camera[:3, :3] = np.column_stack([right, np.cross(ahead, right), ahead])
    camera[:3, 3] = 3.0, 2.0, 0.5
    base = base_of_camera(camera)
    assert np.allclose(base[:3, 3], (3.0, 2.0, 0.5)) and np.allclose(base[:3, 0], (0.0, 1.0, 0.0))
    camera[:3, :3] = np.diag([1.0, -1.0, -1.0])  # camera looking straight down
    assert np.allclose(base_of_camera(camera)[:3, :3], np.eye(3))
