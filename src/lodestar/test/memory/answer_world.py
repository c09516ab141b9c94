"""Small office toured by a robot, recorded by Segmenter and store, for tests of answers."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace

import memory_builders as build
import numpy as np
import pytest

from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.language.question_reader import read_question
from lodestar.memory.answering.answerer import Answerer
from lodestar.memory.answering.coverage import FloorLooks
from lodestar.memory.answering.tools import Tools
from lodestar.memory.config import EventConfig, StoreConfig
from lodestar.memory.events import Place, remember_change
from lodestar.memory.looked_places import LookedPlaces
from lodestar.memory.scene_changes import SceneChanges
from lodestar.memory.segments import Segmenter
from lodestar.memory.store import MemoryStore
from lodestar.models.phrases import PhraseBook
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import EntityState, Region
from lodestar.scene.regions import RegionMap

KITCHEN, OFFICE, HALL = 1, 2, 3
DESK, TABLE = (7.0, 1.0, 0.85), (2.0, 3.0, 0.85)  # old and new position of the red mug
ROOMS = {KITCHEN: ("kitchen", (2.0, 2.0)), OFFICE: ("office", (7.0, 2.0)), HALL: ("hallway", (4.5, 6.0))}


@contextmanager
def quick_changes():
    """Make changes events after one look and 2 s, and let the robot jump from pose to pose."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lodestar.memory.scene_changes.EVENT_SETTLE", 2.0)
        patch.setattr("lodestar.memory.scene_changes.EVENT_BEFORE", 1.0)
        patch.setattr("lodestar.memory.looked_places.EVENT_LOOKS", 1)
        patch.setattr("lodestar.memory.whereabouts.SEGMENT_MAX_SPEED", 1e3)
        patch.setattr("lodestar.memory.whereabouts.SEGMENT_MAX_TURN", 1e3)
        yield


def centre(answer, index=0):
    """Return the centre of one of an answer's places."""
    return answer.value.places[index].centre.tolist()


class WordEmbedder:
    """Embedder in which phrases with common words are similar."""

    model, dimension = "words", 64

    def embed(self, phrases):
        return build.embed(list(phrases))


class OfficeTour:
    """Kitchen x 0..4.5, office x 4.5..9, both y 0..4; hallway y 4..8. The clock starts at `start`.

    `stand` makes the robot look at objects for some seconds; `put` and `remove` change the scene.
    """

    def __init__(self, folder, start=1000.0):
        self.now, self.pose = start, np.array([2.0, 2.0, 0.0])
        self.scene = SceneMirror()
        self.feed = build.SceneFeed(self.scene)
        mask = np.zeros((80, 90), np.int64)
        mask[:40, :45], mask[:40, 45:], mask[40:, :] = KITCHEN, OFFICE, HALL
        rooms = RegionMap(1.0)
        rooms.set_mask(mask, (0.0, 0.0), 0.1)
        regions = [Region(i, name, 1.0, 16.0, np.array(at)) for i, (name, at) in ROOMS.items()]
        rooms.regions = {region.id: region for region in regions}
        self.scene.set_regions(regions, rooms)
        self.grid = OccupancyGrid2D(np.zeros((80, 90), np.int8), 0.1, (0.0, 0.0))
        self.looks = FloorLooks()
        config = StoreConfig(folder=str(folder), dimension=64, flush_interval=0.02)
        self.store = MemoryStore.open(config, build.embed)
        self.segmenter = Segmenter(self.scene)
        with quick_changes():
            self.changes = SceneChanges(self.scene, LookedPlaces(EventConfig()))
        self.book = PhraseBook(WordEmbedder())
        self._keyframe = 0

    def put(self, identity, label, centre, size=0.2, caption="", **more):
        """Add an object, or move the one with this id."""
        known = self.scene.entities.get(identity)
        region = int(self.scene.region_at(np.array(centre)))
        first = self.now if known is None else known.first_seen
        made = build.entity(
            identity, label, centre, size, caption or label,
            region_id=region, first_seen=first, last_seen=self.now, observation_count=9, **more,
        )  # fmt: skip
        self._tell(made)
        return made

    def remove(self, identity):
        """Remove an object from the scene."""
        self._tell(replace(self.scene.entities[identity], state=EntityState.ARCHIVED))

    @quick_changes()
    def _tell(self, entity):
        delta = self.feed(entity, stamp=self.now)
        for change in self.changes.take(delta):
            self._remember(change)

    def _remember(self, change):
        where = Place(np.array([*self.pose[:2], 0.0]))
        self.store.add(remember_change(change, where))

    @quick_changes()
    def stand(self, pose, seconds=6.0, seeing=()):
        """Stand at a pose (x, y, yaw) and look at the given objects only."""
        self.pose = np.array(pose, float)
        for _ in range(int(seconds)):
            self.now += 1.0
            self.segmenter.take_pose(self.now, np.array([*self.pose[:2], 0.0]), float(self.pose[2]))
            self.segmenter.take_view(self.now, dict.fromkeys(seeing, 500))
            self._keyframe += 1
            self.segmenter.take_keyframe(self.now, self._keyframe)
            self.looks.look(self.now, self.pose, float(self.pose[2]))
            seen = [replace(self.scene.entities[i], last_seen=self.now) for i in seeing]
            for change in self.changes.take(self.feed(*seen, stamp=self.now)):
                self._remember(change)
            for memory in self.segmenter.finished():
                self.store.add(memory)

    def wait(self, seconds):
        """Let time pass without memories."""
        self.now += seconds

    @quick_changes()
    def answerer(self, **changes):
        for memory in self.segmenter.flush():
            self.store.add(memory)
        assert self.store.flush()
        tools = Tools(self.store, self.book, self.scene, grid=self.grid, looks=self.looks)
        return Answerer(replace(tools, **changes))

    def ask(self, text, shown=None, **changes):
        """Return the answer to a question given as text."""
        return self.answerer(**changes).answer(read_question(text), self.now, self.pose, shown)

    def close(self):
        self.store.close()


def toured_office(folder, start=1000.0):
    """Return a tour of a desk with a red mug that moves to the kitchen table, a vanishing plant, three gray chairs."""
    tour = OfficeTour(folder, start)
    tour.put(1, "desk", (7.0, 1.0, 0.4), (1.6, 0.8, 0.8))
    tour.put(2, "mug", (7.0, 1.0, 0.85), 0.1, "red mug", attributes=("red",))
    tour.put(3, "table", (2.0, 3.0, 0.4), (1.2, 0.8, 0.8), "wooden table", attributes=("wooden",))
    tour.put(4, "chair", (6.0, 2.5, 0.45), (0.5, 0.5, 0.9), "gray chair", attributes=("gray",))
    tour.put(5, "chair", (8.0, 2.5, 0.45), (0.5, 0.5, 0.9), "gray chair", attributes=("gray",))
    tour.put(6, "chair", (1.0, 3.0, 0.45), (0.5, 0.5, 0.9), "gray chair", attributes=("gray",))
    tour.put(7, "plant", (3.0, 7.0, 0.5), (0.5, 0.5, 1.0), "green plant", attributes=("green",))
    tour.stand((7.0, 2.8, -1.57), 30, (1, 2, 4, 5))
    tour.stand((2.0, 1.5, 1.57), 30, (3, 6))
    tour.stand((4.5, 6.0, 3.14), 30, (7,))
    tour.wait(300.0)
    tour.put(2, "mug", (2.0, 3.0, 0.85), 0.1, "red mug", attributes=("red",))
    tour.stand((2.0, 1.5, 1.57), 30, (2, 3, 6))
    tour.remove(7)
    tour.stand((4.5, 6.0, 3.14), 30, ())
    tour.wait(120.0)
    return tour
