"""Tests of a changing world in the complete headless pipeline: objects go and move, people walk, the map jumps."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial import cKDTree

from lodestar.geometry.poses import inverse, transform_points
from lodestar.mapping.movers.mover_tracks import is_track
from lodestar.models.phrases import PhraseBook
from lodestar.perception.frames import SegmentedFrame
from lodestar.perception.ground_truth import GroundTruthDetector, NoiseConfig
from lodestar.scene.records import EntityState
from lodestar_eval.settings import EpisodeSettings, robot_config
from lodestar_eval.simulated_robot import SimulatedRobot
from lodestar_sim.simulator import Simulator
from lodestar_sim.worlds.elements import Slab, Wall
from lodestar_sim.worlds.world import Event, Room, World, WorldObject

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
QUICK = 0.2  # s between frames while a person walks
NOISES = {"none": NoiseConfig(), "noise": NoiseConfig(miss=0.1, split=0.05, wrong_label=0.1, score_std=0.05)}


def room(objects, events=()) -> World:
    """Return a room of 6.5 x 6 m whose far wall is within the camera's range."""
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
    """Robot that stands and looks, with its map."""

    def __init__(self, world: World, noise: str, seed: int = 1):
        self.simulator = Simulator(world, seed=seed, start=START)
        settings = EpisodeSettings(robot=robot_config(NOISES[noise]))
        self.robot = SimulatedRobot(self.simulator, settings, PhraseBook(), np.random.default_rng(seed))
        self.map = self.robot.headless.map
        self.voxels, self.scene = self.map.voxels.map, self.map.scene.dictionary

    def look_until(self, stamp: float, interval: float = LOOK) -> None:
        while self.simulator.time + interval <= stamp + 1e-6:
            self.look(interval)

    def look(self, interval: float = LOOK) -> None:
        """Advance the time by `interval`, then process one frame."""
        self.simulator.step(interval)
        self.robot.look()
        assert not self.map.rejected

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


class Overlooking(GroundTruthDetector):
    """Detector that finds all objects but those of one label."""

    def __init__(self, label: str):
        super().__init__(NoiseConfig())
        self._overlooked = label

    def segment(self, stamp, labels, table, frame=None) -> SegmentedFrame:
        found = super().segment(stamp, labels, table)
        kept = tuple(d for d in found.detections if d.label != self._overlooked)
        seen = np.isin(found.labels, [d.label_value for d in kept])
        return replace(found, detections=kept, labels=np.where(seen, found.labels, 0).astype(np.uint16))


def test_what_is_merely_not_detected_decays_scan_by_scan_and_keeps_its_voxels():
    """VLM-DEWM eq. B.17: confidence x 0.95 per scan of its room, uncertain below 0.6; 44 scans would archive it."""
    watcher = Watcher(room([CHAIR, CABINET]), "none")
    watcher.look_until(6.0)
    (entity,) = watcher.entities("chair")
    assert entity.region_id > 0 and entity.confidence == 1.0
    watcher.robot.detector = Overlooking("chair")
    watcher.look_until(12.0)
    (early,) = watcher.entities("chair")
    assert early.state is EntityState.ACTIVE and 0.95**7 <= early.confidence <= 0.95**5
    watcher.look_until(20.0)
    (late,) = watcher.entities("chair")
    assert late.state is EntityState.UNCERTAIN and 0.95**15 <= late.confidence <= 0.95**12
    assert len(watcher.instances("chair")) == 1
    watcher.robot.detector = GroundTruthDetector(NoiseConfig())
    watcher.look()
    (again,) = watcher.entities("chair")
    assert again.id == entity.id and again.state is EntityState.ACTIVE and again.confidence == 1.0


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
    forwarded = [loser for loser, winner in watcher.scene.state.forward.items() if winner == before.id]
    assert forwarded and watcher.voxels.resolve(forwarded[-1]) == before.id
    assert watcher.robot.mirror.get(before.id).state is EntityState.ACTIVE


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
def test_a_person_who_walks_through_is_tracked_and_leaves_nothing(noise, path):
    person = replace(PERSON, pose=(*path[0], 0.0, 0.0))
    end = 3.3 + math.dist(*path) / 0.9
    events = [
        Event(3.2, "add", PERSON.id, object=person),
        Event(3.3, "walk", PERSON.id, path=path, speed=0.9),
        Event(end + 0.1, "remove", PERSON.id),
    ]
    watcher = Watcher(room([CHAIR, CABINET], events), noise)
    watcher.look_until(end, QUICK)
    assert not watcher.instances("person") and all(is_track(e.id) for e in watcher.entities("person"))
    assert watcher.entities("person"), "seen as it walked by"
    watcher.look_until(end + 7.0, QUICK)
    assert not watcher.instances("person") and not watcher.entities("person")
    assert len(watcher.instances("chair")) == 1 and len(watcher.instances("cabinet")) == 1


@pytest.mark.parametrize("noise", NOISES)
def test_everything_moves_together_when_the_map_is_corrected(noise):
    """Corrects by 0.5 m and 5 degrees about the robot's place, away from odometry's origin."""
    watcher = Watcher(room([CHAIR, CABINET]), noise)
    watcher.look_until(6.0)
    before = {e.id: e for e in watcher.scene.entities().values()}
    regions, grid = dict(watcher.scene.regions), watcher.robot.grid
    map_before = watcher.simulator.map_from_base
    watcher.simulator.robot.shift_belief(0.5, -0.2, math.radians(5.0))
    jump = watcher.simulator.map_from_base @ inverse(map_before)
    watcher.look()
    for identity, entity in before.items():
        moved = watcher.scene.entities()[identity]
        expected = transform_points(jump, entity.mean[None])[0]
        assert np.linalg.norm(moved.mean - expected) < 0.05, moved.label
        assert np.allclose(moved.views[0].map_from_camera, jump @ entity.views[0].map_from_camera, atol=0.02)
    assert watcher.scene.counts["jumps"] == 1
    watcher.look_until(12.0)
    assert len(watcher.instances("chair")) == 1 and len(watcher.instances("cabinet")) == 1
    assert {e.id for e in watcher.scene.entities().values()} == set(before), "nothing stands twice"
    after = watcher.robot.grid
    walls = (g.points_of(np.argwhere(g.occupied)) for g in (grid, after))
    were, are = transform_points(jump, np.pad(next(walls), ((0, 0), (0, 1))))[:, :2], next(walls)
    assert cKDTree(were).query(are)[0].max() < 0.25, "no second walls"
    assert cKDTree(are).query(were)[0].max() < 0.25, "no wall is left out"
    assert set(watcher.scene.regions) == set(regions)
    for identity, region in regions.items():
        expected = (jump @ [*region.centroid, 0.0, 1.0])[:2]
        assert np.linalg.norm(watcher.scene.regions[identity].centroid - expected) < 0.25
    pillars = watcher.voxels.pillars(0.1)
    chair = watcher.entities("chair")[0]
    row, column = np.floor((chair.mean[:2] - pillars.origin) / 0.1).astype(int)[::-1]
    assert chair.id in pillars.ids[:, row - 2 : row + 3, column - 2 : column + 3]
    points, ids = watcher.voxels.cloud()
    expected = transform_points(jump, before[chair.id].mean[None])[0]
    assert np.linalg.norm(points[ids == chair.id].mean(axis=0) - expected) < 0.15
