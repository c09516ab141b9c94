"""Time of an update of the snapshots as scene and keyframes grow."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from lodestar.geometry.camera import PinholeCamera
from lodestar.geometry.poses import BODY_FROM_OPTICAL, planar_transform
from lodestar.keyframes.records import Keyframe
from lodestar.memory.config import SnapshotConfig
from lodestar.memory.snapshots.upkeep import SnapshotUpkeep
from lodestar.perception.frames import ImageBox
from lodestar.scene.records import Entity, SceneDelta

_CAMERA = PinholeCamera(320, 240, 190.0, 190.0, 159.5, 119.5)
_DENSITY = 1.5  # things per square metre; chosen: a full storeroom
_REACH = 5.0  # metres from which a keyframe shows a thing; chosen
_SIZE = 0.4  # metres, of a thing


class Storeroom:
    """Things spread over a square floor, and keyframes from anywhere on it."""

    def __init__(self, things: int, seed: int = 1) -> None:
        self._rng = np.random.default_rng(seed)
        self.side = float(np.sqrt(things / _DENSITY))
        self._middles = np.column_stack(
            [self._rng.uniform(0.0, self.side, (things, 2)), np.full(things, 0.4)]
        )

    def entity(self, identity: int, shift: float = 0.0) -> Entity:
        """Return a thing, moved along x by some metres."""
        middle = self._middles[identity - 1] + (shift, 0.0, 0.0)
        half = _SIZE / 2
        return Entity(identity, f"thing {identity % 40}", "", middle, np.eye(3), middle - half, middle + half)

    def keyframe(self, identity: int) -> Keyframe:
        """Return a keyframe from a random pose with all things in view."""
        x, y, yaw = *self._rng.uniform(0.0, self.side, 2), self._rng.uniform(-np.pi, np.pi)
        pose = planar_transform(float(x), float(y), float(yaw), 0.45) @ BODY_FROM_OPTICAL
        inside = (self._middles - pose[:3, 3]) @ pose[:3, :3]
        pixels, seen = _CAMERA.project(inside)
        instances = {}
        for row in np.flatnonzero(seen & (inside[:, 2] > 0.5) & (inside[:, 2] < _REACH)):
            side = int(_CAMERA.fx * _SIZE / inside[row, 2])
            u, v = (pixels[row] - side / 2).astype(int)
            instances[int(row) + 1] = ImageBox(int(u), int(v), side, side)
        return Keyframe(identity, float(identity), pose, _CAMERA, instances)


def update_times(things: int, keyframes: int, cycles: int) -> dict[str, np.ndarray]:
    """Return milliseconds of processor time per update, by kind, after everything is known: a new keyframe (the oldest
    one goes), a thing that moves, a delta in which the things of a keyframe are told again.
    """
    room, upkeep = Storeroom(things), SnapshotUpkeep(SnapshotConfig())
    upkeep.apply(SceneDelta(0.0, 1, 0, tuple(room.entity(i + 1) for i in range(things))))
    frames = [room.keyframe(i + 1) for i in range(keyframes)]
    for frame in frames:
        upkeep.put_keyframe(frame)
    upkeep.commit(0.0)
    times: dict[str, list[float]] = {"keyframe": [], "move": [], "delta": []}
    for cycle in range(cycles):
        frame = room.keyframe(keyframes + cycle + 1)
        began = time.thread_time()
        upkeep.put_keyframe(frame)
        upkeep.drop_keyframe(cycle + 1)
        upkeep.commit(1.0)
        times["keyframe"].append(time.thread_time() - began)
        moved = room.entity(cycle % things + 1, shift=3.0 * (cycle % 2 + 1))
        began = time.thread_time()
        upkeep.apply(SceneDelta(1.0, 2, 1, (moved,)))
        upkeep.commit(1.0)
        times["move"].append(time.thread_time() - began)
        told = tuple(replace(room.entity(i), last_seen=1.0) for i in frame.instances)
        began = time.thread_time()
        upkeep.apply(SceneDelta(1.0, 2, 1, told))
        upkeep.commit(1.0)
        times["delta"].append(time.thread_time() - began)
    return {kind: 1e3 * np.array(values) for kind, values in times.items()}
