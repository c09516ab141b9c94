"""Fake robot that feeds a memory's chain with observations, and a fake store."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lodestar.assembly.config import MemoryConfig
from lodestar.geometry.poses import BODY_FROM_OPTICAL, planar_transform
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.memory.errors import BadMemory, StoreFull
from lodestar.memory.requests import Hit
from lodestar.scene.records import Entity, SceneDelta

CONFIG = MemoryConfig()


class Shelf:
    """Fake store in a list. full: refuses everything as a full disk; picky: refuses everything as invalid."""

    def __init__(self):
        self.kept, self.maps = [], []
        self.full = self.picky = False

    def add(self, memory, vector=None):
        if self.full:
            raise StoreFull("the disk is full: free some space")
        if self.picky:
            raise BadMemory("a number is not finite")
        self.kept.append(memory)
        return len(self.kept)

    def use_map(self, name, session=""):
        self.maps.append(name)

    name = "shelf"

    def images(self, limit):
        return [image for memory in reversed(self.kept) for image in memory.images][:limit]

    def search(self, request):
        kept = [replace(memory, id=number) for number, memory in enumerate(self.kept, start=1)]
        return [Hit(memory) for memory in reversed(kept) if memory.map == self.maps[-1]]

    def last_sights(self, limit):
        return [hit.memory for hit in reversed(self.search(None))]


def thing(identity=1, label="mug", place=(1.0, 0.0, 0.8), seen=0.0):
    place = np.array(place, float)
    return Entity(
        identity, label, f"red {label}", place, np.eye(3) * 0.01, place - 0.1, place + 0.1,
        first_seen=seen, last_seen=seen,
    )  # fmt: skip


class Robot:
    """Feeds a chain with the observations of a robot that stands at the origin."""

    def __init__(self, chain):
        self.chain, self.now, self.revision = chain, 0.0, 0

    def delta(self, *updated, session="", **changes):
        previous = 0 if session != self.chain.scene.session_id else self.revision
        self.revision += 1
        delta = SceneDelta(self.now, self.revision, previous, updated, session_id=session, **changes)
        assert self.chain.scene.apply(delta)
        self.chain.take_delta(delta)

    def stand(self, seconds, seen=None, lost=False, speed=0.0, turn=0.0):
        for _ in range(round(seconds * 5)):
            self.now += 0.2
            pose = planar_transform(speed * self.now, 0.0, turn * self.now)
            self.chain.take_pose(self.now, None if lost else pose)
            self.chain.take_look(self.now, planar_transform(0.0, 0.0, 0.0, z=0.4) @ BODY_FROM_OPTICAL)
            if seen is not None:
                self.chain.take_view(self.now, seen)
        return self.chain.tick(self.now)


def floor():
    return OccupancyGrid2D(np.zeros((80, 80), np.int8), 0.1, (-4.0, -4.0), 0.0)
