"""The memory's chain: what the parts publish becomes memories; a store that cannot take them loses none at once."""

from __future__ import annotations

import pytest
from chain_robot import CONFIG, Robot, Shelf, floor, thing

from lodestar.assembly.config import MemoryConfig, RobotConfig, changed
from lodestar.assembly.memory_chain import MemoryChain
from lodestar.memory.events import DecisionNews, DirectiveNews
from lodestar.memory.records import EventKind, MapName, Source, map_name_of
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import SceneDelta


@pytest.fixture
def shelf():
    return Shelf()


@pytest.fixture
def robot(shelf):
    return Robot(MemoryChain(CONFIG, SceneMirror(), shelf))


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
