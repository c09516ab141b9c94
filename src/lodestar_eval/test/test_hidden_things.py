"""Tests that a robot does not count a hidden object as missing: a chair behind a sofa, and a detector that errs."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lodestar.mapping.semantic_voxels import SemanticVoxelMap
from lodestar.perception.frames import RgbdFrame, SegmentedFrame
from lodestar.perception.ground_truth import GroundTruthDetector, NoiseConfig
from lodestar.scene.dictionary import SceneDictionary
from lodestar.scene.records import Entity, EntityState
from lodestar_sim.simulator import Simulator
from lodestar_sim.worlds.elements import Slab, Wall
from lodestar_sim.worlds.world import Event, Room, World, WorldObject

CHAIR = WorldObject(
    7, "chair", "red chair", "red", "plastic", (0.5, 0.5, 0.9), "param:chair", (0.5, 0.8, 0.0, math.pi)
)
CABINET = WorldObject(
    3, "cabinet", "blue cabinet", "blue", "wood", (0.4, 0.8, 1.0), "param:cabinet", (2.2, -1.0, 0.0, math.pi)
)
SOFA = WorldObject(
    11,
    "sofa",
    "gray sofa",
    "gray",
    "fabric",
    (0.85, 2.0, 0.82),
    "param:sofa?seats=3",
    (-0.5, 0.4, 0.0, math.pi),
)
NOISES = {"none": NoiseConfig(), "noise": NoiseConfig(miss=0.1, split=0.05, wrong_label=0.1, score_std=0.05)}


def room(*events: Event) -> World:
    """Return a room of 6.5 x 6 m with a chair and a cabinet."""
    walls = (
        Wall(-4.1, -3.1, 2.6, -3.0, 0.0, 2.5), Wall(-4.1, 3.0, 2.6, 3.1, 0.0, 2.5),
        Wall(-4.1, -3.0, -4.0, 3.0, 0.0, 2.5), Wall(2.5, -3.0, 2.6, 3.0, 0.0, 2.5),
    )  # fmt: skip
    outline = ((-4.0, -3.0), (2.5, -3.0), (2.5, 3.0), (-4.0, 3.0))
    slabs = (Slab(-4.1, -3.1, 2.6, 3.1, 0.0, "beige", "wood"),)
    bounds, start = (-4.1, -3.1, 2.6, 3.1), (-2.2, 0.0, 0.0)
    rooms = (Room(1, "study", outline),)
    return World("room", "apartment", 0, bounds, start, rooms, walls, slabs, (CHAIR, CABINET), (), events)


class Watcher:
    """Robot that stands and looks once per second; its detector misses the objects in `overlooked`."""

    def __init__(self, noise: str, *events: Event) -> None:
        self.overlooked = ""
        self.scene = SceneDictionary()
        self._simulator = Simulator(room(*events), seed=1)
        self._detector = GroundTruthDetector(NOISES[noise], np.random.default_rng(1))
        self._voxels = SemanticVoxelMap()

    def look_until(self, stamp: float) -> None:
        mask = np.ones((70, 70), np.uint16)  # the whole grid is one room
        while self._simulator.time + 1.0 <= stamp + 1e-6:
            self._simulator.step(1.0)
            image = self._simulator.render(rgb=False, width=320, height=240)
            frame = RgbdFrame(
                image.stamp, image.camera, image.depth, image.odom_from_camera, image.map_from_odom
            )
            found = self._detector.segment(image.stamp, image.labels, image.label_table)
            kept = tuple(d for d in found.detections if d.label != self.overlooked)
            labels = np.where(np.isin(found.labels, [d.label_value for d in kept]), found.labels, 0)
            segmented = SegmentedFrame(found.stamp, labels.astype(np.uint16), kept)
            self.scene.update(self._voxels.fuse(frame, segmented))
            self.scene.assign_regions(mask, (-4.1, -3.1), 0.1, [(1, 40.0, (0.0, 0.0), ())])

    def entity(self, label: str) -> Entity:
        (found,) = [e for e in self.scene.entities().values() if e.label == label]
        return found


@pytest.mark.parametrize("noise", NOISES)
def test_fifty_scans_behind_a_sofa_archive_nothing(noise):
    """The chair is near, in mid-image and in the robot's room, but hidden."""
    watcher = Watcher(noise, Event(8.2, "add", SOFA.id, object=SOFA))
    watcher.look_until(8.0)
    before = watcher.entity("chair")
    watcher.look_until(58.0)
    after = watcher.entity("chair")
    assert watcher.entity("sofa").state is EntityState.ACTIVE
    assert after.id == before.id and after.last_seen < 8.5, "the sofa hides it"
    assert after.state is EntityState.ACTIVE and after.confidence > 0.9


def test_what_is_in_clear_view_and_overlooked_is_doubted_and_archived_in_the_end():
    watcher = Watcher("none")
    watcher.look_until(8.0)
    watcher.overlooked = "chair"
    watcher.look_until(18.0)
    early = watcher.entity("chair")
    assert 0.95**10 - 1e-9 <= early.confidence <= 0.95**8
    watcher.look_until(56.0)
    assert watcher.entity("chair").state is EntityState.ARCHIVED
    assert watcher.entity("cabinet").state is EntityState.ACTIVE
