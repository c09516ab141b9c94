"""What becomes of instances when the world changes: things go, move, and somebody walks through."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from lodestar.mapping.semantic_voxels import SemanticVoxelMap
from lodestar.perception.frames import RgbdFrame
from lodestar.perception.ground_truth import GroundTruthDetector, NoiseConfig
from lodestar.scene.dictionary import SceneDictionary
from lodestar.scene.records import EntityState
from lodestar_sim.simulator import Simulator
from lodestar_sim.worlds.world import Event, Room, Slab, Wall, World, WorldObject

CHAIR = WorldObject(
    7, "chair", "red chair", "red", "plastic", (0.5, 0.5, 0.9), "param:chair", (0.5, 0.8, 0.0, math.pi)
)
CABINET = WorldObject(
    3, "cabinet", "blue cabinet", "blue", "wood", (0.4, 0.8, 1.0), "param:cabinet", (2.2, 0.0, 0.0, math.pi)
)
PERSON = WorldObject(
    40, "person", "person in green", "green", "fabric", (0.4, 0.5, 1.7), "param:person", (0.8, 2.6, 0.0, 0.0)
)
START = (-2.2, 0.0, 0.0)
LOOK = 0.5  # s between frames
QUICK = 0.2  # s, while somebody walks
NOISES = {
    "none": NoiseConfig(),
    "noise": NoiseConfig(miss=0.1, split=0.05, wrong_label=0.1, score_std=0.05),
}


def room(objects, events=()) -> World:
    """One room, 6.5 x 6 m, whose far wall the camera measures."""
    walls = (
        Wall(-4.1, -3.1, 4.1, -3.0, 0.0, 2.5), Wall(-4.1, 3.0, 4.1, 3.1, 0.0, 2.5),
        Wall(-4.1, -3.0, -4.0, 3.0, 0.0, 2.5), Wall(2.5, -3.0, 2.6, 3.0, 0.0, 2.5),
    )  # fmt: skip
    slabs = (Slab(-4.1, -3.1, 4.1, 3.1, 0.0, "beige", "wood"),)
    outline = ((-4.0, -3.0), (2.5, -3.0), (2.5, 3.0), (-4.0, 3.0))
    rooms = (Room(1, "study", outline),)
    bounds = (-4.1, -3.1, 4.1, 3.1)
    return World(
        "room", "apartment", 0, bounds, START, rooms, walls, slabs, tuple(objects), (), tuple(events)
    )


class Watcher:
    """A robot that stands and looks, with a map and a scene."""

    def __init__(self, world: World, noise: str, seed: int = 1):
        self.simulator = Simulator(world, seed=seed, start=START)
        self.voxels = SemanticVoxelMap()
        self.scene = SceneDictionary()
        self.detector = GroundTruthDetector(NOISES[noise], np.random.default_rng(seed))
        self.deltas = []

    def look_until(self, stamp: float, interval: float = LOOK) -> None:
        while self.simulator.time + interval <= stamp + 1e-6:
            self.look(interval)

    def look(self, interval: float = LOOK) -> None:
        """Time passes, and one frame is taken in."""
        self.simulator.step(interval)
        image = self.simulator.render(rgb=False, width=320, height=240)
        frame = RgbdFrame(image.stamp, image.camera, image.depth, image.odom_from_camera, image.map_from_odom)
        segmented = self.detector.segment(image.stamp, image.labels, image.label_table)
        self.deltas.append(self.voxels.fuse(frame, segmented))
        self.scene.update(self.deltas[-1])

    def instances(self, label: str) -> list:
        found = [i for i in self.voxels.instances().values() if i.confirmed]
        return [i for i in found if i.votes[0].label == label]

    def entities(self, label: str) -> list:
        return [e for e in self.scene.entities().values() if e.label == label]


@pytest.mark.parametrize("noise", NOISES)
def test_what_is_carried_away_is_uncertain_and_after_three_clear_looks_archived(noise):
    watcher = Watcher(room([CHAIR, CABINET], [Event(6.2, "remove", CHAIR.id)]), noise)
    watcher.look_until(6.0)
    (entity,) = watcher.entities("chair")
    assert entity.state is EntityState.ACTIVE
    states = []
    for _ in range(3):
        watcher.look()
        (entity,) = watcher.entities("chair")
        states.append(entity.state)
    assert states[0] is not EntityState.ARCHIVED and EntityState.UNCERTAIN in states
    assert states[-1] is EntityState.ARCHIVED
    assert not watcher.instances("chair")
    points, _ = watcher.voxels.cloud()
    low, high = (np.array([0.2, 0.5, 0.1]), np.array([0.8, 1.1, 1.0]))
    assert not ((points >= low) & (points <= high)).all(axis=1).any()
    assert [e.state for e in watcher.entities("cabinet")] == [EntityState.ACTIVE]


def test_what_is_merely_not_detected_stays():
    watcher = Watcher(room([CHAIR, CABINET]), "none")
    watcher.look_until(5.0)
    watcher.detector = GroundTruthDetector(NoiseConfig(miss=1.0))
    watcher.look_until(12.0)
    assert len(watcher.instances("chair")) == 1
    assert watcher.entities("chair")[0].state is not EntityState.ARCHIVED


@pytest.mark.parametrize("noise", NOISES)
def test_what_was_moved_is_the_same_entity_at_its_new_place(noise):
    watcher = Watcher(
        room([CHAIR, CABINET], [Event(6.2, "move", CHAIR.id, pose=(0.8, -1.4, 0.0, 2.5))]), noise
    )
    watcher.look_until(6.0)
    (before,) = watcher.entities("chair")
    watcher.look_until(13.0)
    (instance,) = watcher.instances("chair")
    assert instance.id == before.id
    assert instance.centroid[:2] == pytest.approx((0.8, -1.4), abs=0.25)
    (after,) = [e for e in watcher.entities("chair") if e.state is EntityState.ACTIVE]
    assert after.id == before.id and np.linalg.norm(after.mean[:2] - (0.8, -1.4)) < 0.25
    merged = [m for d in watcher.deltas for m in d.merges if m.winner == before.id]
    assert merged and watcher.voxels.resolve(merged[-1].loser) == before.id


def test_one_that_looks_otherwise_is_another_entity():
    other = replace(CHAIR, id=9, caption="green chair", color="green", pose=(0.8, -1.4, 0.0, 2.5))
    events = [Event(6.2, "remove", CHAIR.id), Event(6.2, "add", 9, object=other)]
    watcher = Watcher(room([CHAIR, CABINET], events), "none")
    watcher.look_until(6.0)
    (before,) = watcher.entities("chair")
    watcher.look_until(13.0)
    (instance,) = watcher.instances("chair")
    assert instance.id != before.id and instance.votes[0].caption == "green chair"
    assert {e.id: e.state for e in watcher.entities("chair")}[before.id] is EntityState.ARCHIVED


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("path", [((1.2, 2.6), (1.2, -2.6)), ((-0.4, 1.1), (2.1, 1.9))])
def test_a_person_who_walks_through_leaves_no_ghost_after_three_looks(noise, path):
    person = replace(PERSON, pose=(*path[0], 0.0, 0.0))
    end = 3.3 + math.dist(*path) / 0.9
    events = [
        Event(3.2, "add", PERSON.id, object=person),
        Event(3.3, "walk", PERSON.id, path=path, speed=0.9),
        Event(end + 0.1, "remove", PERSON.id),
    ]
    watcher = Watcher(room([CHAIR, CABINET], events), noise)
    watcher.look_until(end, QUICK)
    assert watcher.instances("person")
    watcher.simulator.step(end + 0.1 - watcher.simulator.time)
    for _ in range(3):
        watcher.look()
    assert not watcher.instances("person")
    assert all(e.state is EntityState.ARCHIVED for e in watcher.entities("person"))
    assert len(watcher.instances("chair")) == 1 and len(watcher.instances("cabinet")) == 1
