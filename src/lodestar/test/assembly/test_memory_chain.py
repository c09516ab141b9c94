"""The memory's chain: what the parts publish becomes memories; a store that cannot take them loses none at once."""

from __future__ import annotations

import numpy as np
import pytest

from lodestar.assembly.config import MemoryConfig, RobotConfig, changed
from lodestar.assembly.memory_chain import MemoryChain
from lodestar.geometry.poses import BODY_FROM_OPTICAL, planar_transform
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.memory.errors import BadMemory, StoreFull
from lodestar.memory.events import DecisionNews, DirectiveNews
from lodestar.memory.records import EventKind, MapName, Source, map_name_of
from lodestar.memory.requests import Hit
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import Entity, SceneDelta

CONFIG = MemoryConfig()


class Shelf:
    """A store in a list. full, picky: it refuses everything as a full disk, or as bad."""

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

    def search(self, request):
        return [Hit(memory) for memory in self.kept if memory.map == self.maps[-1]]


def thing(identity=1, label="mug", place=(1.0, 0.0, 0.8), seen=0.0):
    place = np.array(place, float)
    return Entity(
        identity, label, f"red {label}", place, np.eye(3) * 0.01, place - 0.1, place + 0.1,
        first_seen=seen, last_seen=seen,
    )  # fmt: skip


class Robot:
    """Tells a chain what a robot sees that stands still at the origin."""

    def __init__(self, chain):
        self.chain, self.now, self.revision = chain, 0.0, 0

    def delta(self, *updated, session="", **changes):
        previous = 0 if session != self.chain.scene.session_id else self.revision
        self.revision += 1
        delta = SceneDelta(self.now, self.revision, previous, updated, session_id=session, **changes)
        assert self.chain.scene.apply(delta)
        self.chain.take_delta(delta)

    def stand(self, seconds, seen=None, lost=False):
        for _ in range(round(seconds * 5)):
            self.now += 0.2
            self.chain.take_pose(self.now, None if lost else np.eye(4))
            self.chain.take_look(self.now, planar_transform(0.0, 0.0, 0.0, z=0.4) @ BODY_FROM_OPTICAL)
            if seen is not None:
                self.chain.take_view(self.now, seen)
        return self.chain.tick(self.now)


@pytest.fixture
def shelf():
    return Shelf()


@pytest.fixture
def robot(shelf):
    return Robot(MemoryChain(CONFIG, SceneMirror(), shelf))


def floor():
    return OccupancyGrid2D(np.zeros((80, 80), np.int8), 0.1, (-4.0, -4.0), 0.0)


def test_what_is_seen_becomes_memories_of_three_seconds(robot, shelf):
    robot.delta(thing())
    robot.stand(8.0, {1: 500})
    assert [memory.start for memory in shelf.kept] == [0.0, 3.0]
    assert "red mug" in shelf.kept[0].text
    assert shelf.kept[0].entity_ids == (1,)


def test_nothing_is_remembered_while_the_robot_is_lost(robot, shelf):
    robot.delta(thing())
    robot.stand(8.0, {1: 500}, lost=True)
    robot.chain.take_directive(DirectiveNews(robot.now, "find the mug"))
    assert robot.chain.take_word(robot.now, "the mug is mine") == 0
    assert shelf.kept == []
    assert robot.chain.counts["lost"] == 2
    assert len(robot.chain.looks) == 0, "and its looks do not count"


def test_a_full_disk_makes_memories_wait_and_then_all_are_kept_in_order(robot, shelf):
    shelf.full = True
    robot.delta(thing())
    robot.stand(14.0, {1: 500})
    assert (len(shelf.kept), robot.chain.waiting) == (0, 4)
    assert "free some space" in robot.chain.problem
    shelf.full = False
    robot.stand(0.2)
    assert [memory.start for memory in shelf.kept] == [0.0, 3.0, 6.0, 9.0]
    assert (robot.chain.waiting, robot.chain.problem) == (0, "")


def test_without_a_store_only_so_many_wait(shelf):
    robot = Robot(MemoryChain(changed(CONFIG, max_waiting=2), SceneMirror()))
    robot.delta(thing())
    robot.stand(14.0, {1: 500})
    assert (robot.chain.waiting, robot.chain.counts["overflow"]) == (2, 2)
    robot.chain.use_store(shelf)
    assert [memory.start for memory in shelf.kept] == [6.0, 9.0]


def test_a_memory_that_is_refused_holds_up_no_other(robot, shelf):
    shelf.picky = True
    robot.delta(thing())
    robot.stand(5.0, {1: 500})
    shelf.picky = False
    robot.stand(5.0, {1: 500})
    assert robot.chain.counts["refused"] == 1
    assert robot.chain.waiting == 0 and shelf.kept


def test_a_thing_that_moved_is_an_event(robot, shelf):
    robot.chain.take_grid(floor())
    robot.delta(thing())
    robot.stand(6.0, {1: 500})
    robot.delta(thing(place=(2.5, 0.0, 0.8), seen=robot.now))
    robot.stand(CONFIG.events.settle + 1.0, {1: 500})
    robot.delta()
    moved = [memory for memory in shelf.kept if memory.event is EventKind.MOVED]
    assert len(moved) == 1 and "moved 1.5 m" in moved[0].text


def test_pages_after_a_late_start_are_no_events(robot, shelf):
    robot.chain.take_grid(floor())
    delta = SceneDelta(0.0, 5, 0, (thing(),))
    robot.chain.scene.fill([delta])
    robot.chain.take_page(delta)
    robot.stand(20.0, {})
    assert [memory for memory in shelf.kept if memory.event] == []


def test_a_directive_gives_the_deed_and_its_outcome(robot, shelf):
    robot.delta(thing())
    robot.stand(1.0, {1: 500})
    robot.chain.take_directive(DirectiveNews(robot.now, "find the mug", "Find a mug."))
    robot.stand(4.0, {1: 500})
    news = DirectiveNews(robot.now, "find the mug", "Find a mug.", 1.0, "succeeded", reason="I see it")
    robot.chain.take_directive(news)
    robot.stand(4.0, {1: 500})
    events = [memory for memory in shelf.kept if memory.event is EventKind.DIRECTIVE]
    assert [memory.facts["phase"] for memory in events] == ["begun", "ended"]
    segments = [memory.text for memory in shelf.kept if memory.event is None]
    assert any("doing a task" in text for text in segments)
    assert not any("Find" in text for text in segments), "what is looked for is no caption of what is seen"


def test_the_outcome_of_a_decision_replaces_the_decision(robot, shelf):
    robot.delta(thing())
    robot.stand(1.0, {1: 500})
    robot.chain.take_decision(DecisionNews(robot.now, 1, "find the mug", "frontier", "the door is near"))
    robot.chain.take_decision(
        DecisionNews(robot.now, 1, "find the mug", "frontier", "the door is near", outcome="reached")
    )
    robot.chain.take_decision(DecisionNews(robot.now, 2, "find the mug", "frontier", "the hall is big"))
    assert [memory.corrects for memory in shelf.kept] == [0, 1, 0]


def test_an_operators_word_is_kept_with_the_place(robot, shelf):
    robot.stand(1.0)
    assert robot.chain.take_word(robot.now, "this is the lab") == 1
    assert shelf.kept[0].source is Source.OPERATOR
    with pytest.raises(ValueError, match="no words"):
        robot.chain.take_word(robot.now, "  ")


def test_another_map_begins_anew_and_the_first_one_is_known_again(robot, shelf):
    robot.delta(thing(), session="one.a")
    robot.stand(5.0, {1: 500})
    robot.delta(thing(7), session="two.b")
    assert shelf.maps[-1] == MapName(1, "two")
    assert len(robot.chain.looks) == 0
    robot.stand(5.0, {7: 500})
    assert {memory.map for memory in shelf.kept} == {MapName(1, "one"), MapName(1, "two")}
    robot.delta(thing(), session="one+c.d")
    assert shelf.maps[-1] == MapName(1, "one"), "loaded again, it has its first session's name"
    assert len(robot.chain.looks) > 0, "where the robot looked then is known"


def test_a_restart_of_the_dictionary_is_the_same_map():
    assert map_name_of(1, "ab12+cd.ef") == map_name_of(1, "ab12.gh") != map_name_of(2, "ab12")


def test_the_parts_share_what_is_shared():
    config = changed(RobotConfig(), shared__query__explained=3)
    assert config.memory.answering.query.explained == 3


@pytest.mark.parametrize("bad", [{"tick_period": 0.0}, {"max_waiting": 0}])
def test_a_period_of_nothing_is_refused(bad):
    with pytest.raises(ValueError):
        MemoryConfig(**bad)
