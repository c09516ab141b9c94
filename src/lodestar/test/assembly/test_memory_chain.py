"""Tests of the memory's chain: published data becomes memories; a store that refuses some loses none at once."""

from __future__ import annotations

import numpy as np
import pytest
from chain_robot import CONFIG, Robot, Shelf, floor, thing

from lodestar.assembly.config import RobotConfig, changed
from lodestar.assembly.memory_chain import MemoryChain
from lodestar.assembly.memory_news import decision_news
from lodestar.experts.protocol import ActionKind, Proposal
from lodestar.geometry.camera import PinholeCamera
from lodestar.geometry.poses import BODY_FROM_OPTICAL, planar_transform
from lodestar.keyframes.records import ImageName, Keyframe
from lodestar.memory.events import DecisionNews, DirectiveNews
from lodestar.memory.records import EventKind, MapName, Source, map_name_of
from lodestar.memory.scene_changes import EVENT_SETTLE
from lodestar.perception.frames import ImageBox
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import SceneDelta
from lodestar.selection.decisions import ArmRecord, Decision, Outcome


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
    assert robot.chain.take_word(robot.now, "the mug is mine") is None
    robot.stand(0.2, lost=True)
    assert shelf.kept == []
    assert robot.chain.counts["lost"] == 1
    assert len(robot.chain.looks) == 0, "and its looks do not count"


@pytest.mark.parametrize("back", [0.0, 100.0])
def test_events_wait_for_the_next_pose_in_their_order(robot, shelf, back):
    """Cover a clock that went back, so that the newest pose has a later stamp than the event."""
    robot.now += back
    robot.stand(1.0)
    at = robot.now = robot.now - back + 0.7
    assert robot.chain.take_word(at, "the mug is mine") is None
    for stamp, outcome in ((at, "preempted"), (at + 0.3, "reached")):
        news = DecisionNews(stamp, 1, "find the mug", "frontier", "the door is near", outcome=outcome)
        robot.chain.take_decision(news)
    robot.chain.tick(at)
    assert shelf.kept == []
    robot.stand(0.2)
    assert [memory.corrects for memory in shelf.kept] == [0, 1] and not robot.chain.counts["lost"]


def test_an_event_waits_for_no_pose_for_ever(robot, shelf):
    robot.stand(1.0)
    for epoch, stamp in ((1, robot.now + 50.0), (2, robot.now)):
        news = DecisionNews(stamp, epoch, "find the mug", "frontier", "the door is near", outcome="reached")
        robot.chain.take_decision(news)
    robot.stand(0.2)
    assert robot.chain.counts["lost"] == 1 and [memory.facts["epoch"] for memory in shelf.kept] == ["2"]


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


def test_without_a_store_only_so_many_wait(shelf, monkeypatch):
    monkeypatch.setattr("lodestar.assembly.memory_chain.MEMORY_MAX_WAITING", 2)
    robot = Robot(MemoryChain(CONFIG, SceneMirror()))
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
    robot.stand(EVENT_SETTLE + 1.0, {1: 500})
    robot.delta()
    moved = [memory for memory in shelf.kept if memory.event is EventKind.MOVED]
    assert len(moved) == 1 and "moved 1.5 m" in moved[0].text


def test_pages_after_a_late_start_are_no_events(robot, shelf):
    robot.chain.take_grid(floor())
    delta = SceneDelta(0.0, 5, 0, (thing(),))
    robot.chain.scene.take(delta)
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
    assert any(text.endswith("The robot was standing.") for text in segments)
    assert not any("Find" in text for text in segments), "what is looked for is no caption of what is seen"


def decided(stamp, entity=0, action=ActionKind.GO, outcome=Outcome.PENDING, epoch=1):
    expert = "semantic_map" if entity else "frontier"
    proposal = Proposal(expert, epoch, np.array([3.0, 0.0, 0.0]), 0.9, "", entity, action)
    arms = (ArmRecord(expert, True, proposal=proposal),)
    return decision_news(Decision(epoch, stamp, "find the mug", 0, {}, arms, expert, outcome=outcome))


def said(shelf, robot, **moving):
    """Return the sentences about the robot in the captions of the next nine seconds."""
    robot.stand(3.0 - robot.now % 3.0, {1: 500}, **moving)
    start = robot.now
    robot.stand(9.0, {1: 500}, **moving)
    texts = [m.text for m in shelf.kept if m.event is None and start - 0.01 <= m.start < robot.now - 4.0]
    assert texts
    return {text.partition("The robot ")[2] for text in texts}


@pytest.mark.parametrize(
    ("news", "moving", "told"),
    [
        ({"entity": 1}, {"speed": 0.3}, "was driving to the red mug."),
        ({"entity": 99}, {"speed": 0.3}, "was exploring."),
        ({}, {"speed": 0.3}, "was exploring."),
        ({"action": ActionKind.TURN_LEFT}, {"turn": 0.5}, "was looking around."),
        ({"entity": 1}, {"turn": 0.5}, "was looking around."),
        ({"entity": 1}, {}, "was standing."),
        (None, {"speed": 0.3}, "was driving."),
    ],
    ids=(
        "to a thing",
        "to a thing that is gone",
        "frontier",
        "turns",
        "turns on the way",
        "stuck",
        "no decision",
    ),
)
def test_captions_say_what_the_robot_really_does(robot, shelf, news, moving, told):
    robot.delta(thing())
    robot.stand(0.4, {1: 500}, **moving)
    robot.chain.take_directive(DirectiveNews(robot.now, "find the mug", "Find a mug."))
    if news is not None:
        robot.chain.take_decision(decided(robot.now, **news))  # with the directive's own stamp
    assert said(shelf, robot, **moving) == {told}


def test_after_a_decision_and_after_the_directive_its_purpose_is_not_told(robot, shelf):
    robot.delta(thing())
    robot.stand(0.4, {1: 500}, speed=0.3)
    robot.chain.take_directive(DirectiveNews(robot.now, "find the mug"))
    robot.chain.take_decision(decided(robot.now, entity=1))
    robot.chain.take_decision(decided(robot.now, entity=1, outcome=Outcome.REACHED))
    assert said(shelf, robot, speed=0.3) == {"was driving."}
    robot.chain.take_directive(DirectiveNews(robot.now, "find the mug", outcome="succeeded"))
    robot.chain.take_decision(decided(robot.now - 1.0, entity=1, outcome=Outcome.REACHED))
    assert said(shelf, robot, speed=0.3) == {""}


CAMERA = PinholeCamera(320, 240, 190.0, 190.0, 159.5, 119.5)


def image(identity, stamp, session="run", instances=(1,)):
    boxes = {i: ImageBox(100, 60, 120, 120) for i in instances}
    pose = planar_transform(0.0, 0.0, 0.0, z=0.8) @ BODY_FROM_OPTICAL
    return Keyframe(identity, stamp, pose, CAMERA, boxes, session_id=session)


def test_memories_name_their_images_with_the_run_of_the_keyframes(robot, shelf):
    robot.delta(thing())
    robot.stand(1.0, {1: 500})
    robot.chain.take_keyframe(image(7, robot.now))
    robot.stand(5.0, {1: 500})
    assert shelf.kept[0].images == (ImageName("run", 7),)
    robot.chain.take_decision(decided(robot.now))
    assert shelf.kept[-1].images == ()


def test_a_keyframe_store_that_begins_anew_is_told_from_the_first_one(robot, shelf):
    robot.delta(thing())
    robot.stand(1.0, {1: 500})
    robot.chain.take_keyframe(image(7, robot.now))
    assert robot.stand(0.2).updated
    robot.chain.take_keyframe(image(1, robot.now, session="other", instances=()))
    assert robot.chain.images.lacks
    change = robot.stand(5.0, {1: 500})
    assert shelf.kept[0].images == (ImageName("other", 1),), "7 is none of the new ones"
    assert robot.chain.snapshots.snapshots == {} and change is not None


def test_an_erased_image_is_no_snapshot_any_more_also_where_its_record_comes_late(robot):
    robot.delta(thing())
    robot.stand(1.0, {1: 500})
    robot.chain.take_keyframe(image(7, robot.now))
    (before,) = robot.stand(0.2).updated
    robot.chain.images.take_erased([ImageName("another run", 7)])
    assert robot.stand(0.2).removed == (), "it is the image of another run"
    robot.chain.images.take_erased([ImageName("run", 7)])
    assert robot.stand(0.2).removed == (before.id,)
    robot.chain.take_keyframe(image(7, robot.now))
    robot.chain.images.take_listed([image(7, robot.now)])
    assert robot.stand(0.2).updated == ()


def test_an_image_that_the_bounded_store_has_deleted_is_no_snapshot_any_more(robot):
    robot.delta(thing())
    robot.stand(1.0, {1: 500})
    for identity in (7, 8):
        robot.chain.take_keyframe(image(identity, robot.now))
    (one,) = robot.stand(0.2).updated
    robot.chain.images.take_stored([1, 2], next_id=8)
    (other,) = robot.stand(0.2).updated
    assert {one.keyframe_id, other.keyframe_id} == {7, 8}, "8 came after the list was made"
    robot.chain.images.take_stored([1, 2], next_id=9)
    assert robot.stand(0.2).removed


def test_pictures_of_frontiers_come_last_the_best_first_while_they_are_stored(robot):
    images, scene = robot.chain.images, robot.chain.scene
    robot.delta(thing())
    robot.stand(1.0, {1: 500})
    for identity in (7, 8, 9):
        robot.chain.take_keyframe(image(identity, robot.now, instances=(1,) if identity == 7 else ()))
    robot.stand(0.2)
    images.take_frontiers([(8, 1.0), (0, 9.0), (9, 5.0), (8, 3.0), (77, 2.0)])
    assert [(shot.image.id, shot.frontier) for shot in images.shots(scene)] == [
        (7, False),
        (9, True),
        (8, True),
    ]
    images.take_frontiers([(7, 1.0)])
    (both,) = images.shots(scene)
    assert both.frontier and both.labels, "a snapshot at a frontier is both"
    images.take_erased([ImageName("run", 7)])
    assert images.shots(scene) == ()
    images.take_frontiers([(9, 1.0)])
    images.begin_anew()
    assert images.shots(scene) == ()


def test_images_of_snapshots_and_memories_are_wanted_up_to_a_bound(shelf, monkeypatch):
    monkeypatch.setattr("lodestar.assembly.memory_chain.MEMORY_MAX_WANTED", 3)
    robot = Robot(MemoryChain(CONFIG, SceneMirror(), shelf))
    robot.delta(thing())
    robot.stand(1.0)
    for identity in range(1, 6):
        robot.stand(3.0, {1: 500})
        robot.chain.take_keyframe(image(identity, robot.now, instances=(1,) if identity == 2 else ()))
    robot.stand(5.0, {1: 500})
    wanted = robot.chain.wanted_images()
    assert wanted.ids == (2, 5, 4), "the snapshot first, then the newest memories"
    assert wanted.memory == "shelf" and wanted.remembered == tuple(ImageName("run", i) for i in (5, 4, 3))


def test_an_image_is_kept_before_its_memory_is_made(robot, shelf):
    robot.delta(thing())
    robot.stand(1.0, {1: 500})
    robot.chain.take_keyframe(image(7, robot.now))
    assert shelf.kept == [] and robot.chain.wanted_images().remembered == (ImageName("run", 7),)


def test_without_a_store_it_is_unknown_which_images_are_remembered():
    assert Robot(MemoryChain(CONFIG, SceneMirror())).chain.wanted_images().memory == ""


def test_a_successor_goes_on_with_the_snapshots(robot, shelf):
    robot.delta(thing(), session="one.a")
    robot.stand(1.0, {1: 500})
    robot.chain.take_keyframe(image(7, robot.now))
    robot.stand(0.2)
    state, before = robot.chain.snapshot_state(), dict(robot.chain.snapshots.snapshots)
    assert before
    again = Robot(MemoryChain(CONFIG, SceneMirror(), shelf))
    again.chain.restore_snapshots(state)
    page = SceneDelta(0.0, 5, 0, (thing(),), session_id="one.a")
    again.chain.scene.take(page)
    again.chain.take_page(page)
    change = again.stand(0.2)
    assert (change.updated, change.removed) == ((), ()), "without the images nothing can be said"
    again.chain.images.take_listed([image(7, 1.0)])
    assert again.stand(0.2).updated == () and again.chain.snapshots.snapshots == before
    other = Robot(MemoryChain(CONFIG, SceneMirror(), shelf))
    other.chain.restore_snapshots(state)
    other.delta(thing(3), session="two.b")
    assert other.stand(0.2).removed == tuple(before), "on another map they are gone, and that is told"
    with pytest.raises(ValueError, match="no snapshots"):
        other.chain.restore_snapshots({"map": [1]})


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
