"""Generated histories of objects in three rooms with their truth, for property tests of answers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import memory_builders as build
import numpy as np
from hypothesis import strategies as st

from lodestar.language.question_reader import read_question
from lodestar.memory.answering.answerer import Answerer
from lodestar.memory.answering.tools import Tools
from lodestar.memory.records import Memory
from lodestar.memory.requests import Hit, Order
from lodestar.models.phrases import PhraseBook
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import EntityState, Region
from lodestar.scene.regions import RegionMap

KINDS = ("mug", "chair", "box", "plant", "lamp")
ROOMS = {1: "kitchen", 2: "office", 3: "hallway"}  # rooms side by side along x, 6 m each
SPOTS = [(6.0 * k + dx, dy) for k in range(3) for dx in (1.5, 4.5) for dy in (1.5, 4.5)]  # places 3 m apart
STEP = 100.0  # s between two rounds, in each of which the robot sees every present object


def room_of(xy):
    """Return the region that contains a place."""
    return int(xy[0] // 6.0) + 1


@dataclass
class Life:
    """An object: its spot in each round, None = absent. Once absent it stays absent."""

    id: int
    kind: str
    spots: list[int | None]

    @property
    def seen(self):
        """Return the rounds in which the object was present."""
        return [k for k, spot in enumerate(self.spots) if spot is not None]

    @property
    def is_gone(self):
        return self.spots[-1] is None

    @property
    def place(self):
        """Return its last known position (2,), metres in map."""
        return SPOTS[self.spots[self.seen[-1]]]

    @property
    def stays(self):
        """Return (spot, first round, last round) of each stay, oldest first."""
        found = []
        for k in self.seen:
            if found and found[-1][0] == self.spots[k]:
                found[-1] = (found[-1][0], found[-1][1], k)
            else:
                found.append((self.spots[k], k, k))
        return found


@st.composite
def lives(draw):
    """Draw two to seven objects over two to five rounds; no two are at one spot at a time, so spots identify them."""
    rounds = draw(st.integers(2, 5))
    count = draw(st.integers(2, 7))
    taken = [set() for _ in range(rounds)]
    found = []
    for identity in range(1, count + 1):
        kind = draw(st.sampled_from(KINDS))
        spots, gone = [], False
        for k in range(rounds):
            if k and not gone and draw(st.booleans()) and draw(st.booleans()):
                gone = True
            stays = k and spots[-1] is not None and spots[-1] not in taken[k] and draw(st.integers(0, 2))
            free = [s for s in range(len(SPOTS)) if s not in taken[k]]
            spot = None if gone else spots[-1] if stays else draw(st.sampled_from(free))
            spots.append(spot)
            taken[k].add(spot)
        found.append(Life(identity, kind, spots))
    return found


class Words:
    """Embedder in which phrases with common words are similar."""

    model, dimension = "words", 64

    def embed(self, phrases):
        return build.embed(list(phrases))


@dataclass
class ListedMemories:
    """Store that scans every memory."""

    memories: list[Memory] = field(default_factory=list)

    def search(self, request):
        hits = []
        for memory in self.memories:
            begin, end = request.window or (-np.inf, np.inf)
            near = (
                request.near is None or np.hypot(*(memory.position[:2] - request.near[:2])) <= request.radius
            )
            ids = not request.entity_ids or request.entity_ids & set(memory.entity_ids)
            kinds = not request.kinds or memory.event in request.kinds
            sources = not request.sources or memory.source in request.sources
            if near and ids and kinds and sources and memory.end >= begin and memory.start <= end:
                vector = build.embed([memory.text])[0]
                score = 0.0 if request.vectors is None else float((request.vectors @ vector).max())
                hits.append(Hit(memory, score, vector))
        if request.by_words:
            hits.sort(key=lambda hit: -hit.score)
        else:
            hits.sort(key=lambda hit: hit.memory.start, reverse=request.order is not Order.OLDEST)
        return hits[: request.limit]


class Rounds:
    """Scene and memories of a robot after it saw the given objects' lives. now: seconds."""

    def __init__(self, things, pose=(1.5, 3.0, 0.0)):
        self.things, self.pose = things, None if pose is None else np.array(pose, float)
        self.scene, self.memories = SceneMirror(), ListedMemories()
        mask = np.zeros((60, 180), np.int64)
        for region in ROOMS:
            mask[:, 60 * (region - 1) : 60 * region] = region
        rooms = RegionMap(1.0)
        rooms.set_mask(mask, (0.0, 0.0), 0.1)
        regions = [Region(i, name, 1.0, 36.0, np.array((6.0 * i - 3.0, 3.0))) for i, name in ROOMS.items()]
        rooms.regions = {region.id: region for region in regions}
        self.scene.set_regions(regions, rooms)
        rounds = max(len(life.spots) for life in things)
        for k in range(rounds):
            for region in ROOMS:
                self._look(k, region)
        self.now = rounds * STEP
        feed = build.SceneFeed(self.scene)
        for life in things:
            entity = build.entity(
                life.id, life.kind, (*life.place, 0.3), 0.3, region_id=room_of(life.place), observation_count=9,
                first_seen=life.seen[0] * STEP, last_seen=self._at(life.seen[-1], room_of(life.place)),
            )  # fmt: skip
            feed(replace(entity, state=EntityState.ARCHIVED if life.is_gone else EntityState.ACTIVE))
        self.answerer = Answerer(Tools(self.memories, PhraseBook(Words()), self.scene))

    @staticmethod
    def _at(k, region):
        """Return the time at which a round's look at a room ends."""
        return k * STEP + 10.0 * region + 3.0

    def _look(self, k, region):
        here = [t for t in self.things if t.spots[k] is not None and room_of(SPOTS[t.spots[k]]) == region]
        seen = [build.primitive(t.id, t.kind, (*SPOTS[t.spots[k]], 0.3), 0.3) for t in here]
        text = " and ".join(t.kind for t in here) or "an empty room"
        place = np.array((6.0 * region - 3.0, 3.0, 0.0))
        start = self._at(k, region) - 3.0
        number = len(self.memories.memories) + 1
        self.memories.memories.append(build.memory(number, text, start, seen, position=place))

    def ask(self, text, pose="own"):
        """Return the answer to a question; pose: None = the robot is lost."""
        return self.answerer.answer(read_question(text), self.now, self.pose if pose == "own" else pose)

    def inquiry(self, text):
        return self.answerer.inquiry(read_question(text), self.now, self.pose)

    def of_kind(self, kind, present=True):
        return [t for t in self.things if t.kind == kind and t.is_gone is not present]
