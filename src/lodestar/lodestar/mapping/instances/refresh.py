"""Order in which instances are measured (RoboAtlas eq. 7): nearby changes first, all within bounded time."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from itertools import islice

import numpy as np

from lodestar.mapping.config import VOXEL_CONFIRM, VoxelConfig
from lodestar.mapping.instances.presence import Looks
from lodestar.mapping.instances.tracks import Tracks


class RefreshQueue:
    """Queue of instances whose voxels may have changed since they were last measured, oldest change first.

    Half of the instances that `take` returns are the nearest to the camera, the other half have waited
    longest: of n waiting instances, each is measured after at most 2 n / count calls.
    """

    def __init__(self) -> None:
        self._waiting: dict[int, None] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, ids: Iterable[int]) -> None:
        """Queue these instances; those already waiting keep their positions."""
        for identity in ids:
            self._waiting.setdefault(identity, None)

    def take(self, count: int, tracks: Tracks, eye: np.ndarray) -> list[int]:
        """Remove and return the next instances, at most `count`. eye: (3,) position of the camera, voxel frame."""
        waiting = self._waiting
        for gone in [i for i in waiting if i not in tracks]:
            del waiting[gone]
        chosen = list(islice(waiting, count if len(waiting) <= count else count // 2))
        for identity in chosen:
            del waiting[identity]
        if waiting and count > len(chosen):
            x, y, z = eye.tolist()

            def distance(identity: int) -> float:
                a, b, c, d, e, f = tracks.bounds(identity)
                return ((a + d) / 2.0 - x) ** 2 + ((b + e) / 2.0 - y) ** 2 + ((c + f) / 2.0 - z) ** 2

            near = heapq.nsmallest(count - len(chosen), waiting, key=distance)
            for identity in near:
                del waiting[identity]
            chosen += near
        return chosen

    def choose(
        self, tracks: Tracks, looks: Looks, seen: set[int], stamp: float, eye: np.ndarray, config: VoxelConfig
    ) -> tuple[list[int], list[int]]:
        """Return the instances to measure after a frame, about `batch`, and those among them that expire.

        seen: ids shown by the frame's masks. These and all instances with visible voxels are queued first. A
        part of the batch is taken round robin from all instances, so that no change is missed.
        """
        self.add(sorted(i for i in seen if i in tracks))
        self.add(i for i in np.flatnonzero(looks.inside - looks.hidden > 0).tolist() if i in tracks)
        turn = min(config.round_robin, config.batch)
        chosen = self.take(config.batch - turn, tracks, eye)
        chosen += tracks.next_in_turn(turn)
        expired = tracks.expired(stamp - config.forget, VOXEL_CONFIRM, turn)
        return list(dict.fromkeys([*chosen, *expired])), expired
