"""Tests of glimpses, unconfirmed detections to which the robot returns until the map or a second look decides."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from expert_worlds import Block, furnished, photograph, red_chair, request, thing
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.experts.egocentric import EgocentricConfig, EgocentricExpert
from lodestar.experts.glimpses import GLIMPSE_REFUTED, GLIMPSE_TRIED, GlimpseMemory
from lodestar.experts.lifted_detections import lift
from lodestar.experts.protocol import ActionKind, Proposal
from lodestar.geometry.poses import inverse, planar_transform
from lodestar.grid.success_pose import is_facing
from lodestar.language.query_graph import Predicate, QueryGraph, QueryVariable
from lodestar.language.reasoner import OfflineReasoner
from lodestar.language.views import ViewAnswer
from lodestar.models.phrases import PhraseBook
from lodestar.perception.eyes import eyes_of
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import SceneDelta

POSE = (2.0, 4.0, 0.0)
AWAY = (2.0, 4.0, math.pi)
CHAIR = Block(5.0, 4.0, "chair", "red chair")


def see(memory: GlimpseMemory, pose, *blocks: Block, **changes) -> None:
    frame, segmented = photograph(pose, *blocks, **changes)
    memory.see(frame, segmented, lift(frame, segmented))


def scene(*entities) -> SceneMirror:
    mirror = SceneMirror()
    mirror.apply(SceneDelta(0.0, 1, 0, tuple(entities)))
    return mirror


def memory_of(*poses) -> GlimpseMemory:
    memory = GlimpseMemory()
    for pose in poses:
        see(memory, pose, CHAIR)
    return memory


def test_the_nearest_look_is_kept_and_the_newest_time():
    memory = memory_of((1.0, 4.0, 0.0), (3.0, 4.0, 0.0))
    see(memory, (2.0, 4.0, 0.0), CHAIR, stamp=12.0)
    (glimpse,) = memory.unknown_to(None)
    assert glimpse.view[0, 3] == pytest.approx(3.0) and glimpse.stamp == 12.0


def test_what_the_map_knows_is_no_glimpse():
    assert memory_of(POSE).unknown_to(scene(thing(1, 5.0, 4.0, "red chair"))) == []
    others = scene(thing(1, 5.0, 4.0, "green plant"), thing(2, 5.0, 6.0, "red chair"))
    assert len(memory_of(POSE).unknown_to(others)) == 1


def test_looks_that_do_not_show_it_refute_it():
    memory = memory_of(POSE)
    for _ in range(GLIMPSE_REFUTED - 1):
        see(memory, POSE)
    assert len(memory.unknown_to(None)) == 1
    see(memory, POSE, CHAIR)  # detected again after one miss
    for _ in range(GLIMPSE_REFUTED):
        assert len(memory.unknown_to(None)) == 1
        see(memory, POSE)
    assert memory.unknown_to(None) == []


def test_eyes_that_overlook_much_refute_it_by_more_views_and_by_other_ones_alone():
    memory = GlimpseMemory(eyes_of("nanodet_objectron"))
    see(memory, POSE, CHAIR)
    for _ in range(50):  # a detector misses again what it missed from here
        see(memory, POSE)
    assert len(memory.unknown_to(None)) == 1
    views = 0
    while memory.unknown_to(None) and views < 200:
        views += 1
        see(memory, (POSE[0] - 0.25 * (views % 5), POSE[1], POSE[2]))
    assert GLIMPSE_REFUTED < views < 100


@pytest.mark.parametrize(
    ("pose", "background"),
    [
        (AWAY, 6.0),
        ((2.0, 4.0, 0.66), 6.0),
        ((0.6, 4.0, 0.0), 6.0),
        (POSE, 1.5),
        (POSE, math.nan),
        (POSE, 0.0),
    ],
    ids=["looks away", "at the edge", "from too far", "something before it", "no depth", "invalid depth"],
)
def test_looks_that_could_not_show_it_say_nothing(pose, background):
    memory = memory_of(POSE)
    for _ in range(GLIMPSE_REFUTED + 2):
        see(memory, pose, background=background)
    assert len(memory.unknown_to(None)) == 1


def test_a_detection_without_usable_depth_or_an_image_of_another_size_is_no_refutation():
    memory = memory_of(POSE)
    _, segmented = photograph(POSE, CHAIR)
    other, nothing = photograph(POSE)
    for _ in range(GLIMPSE_REFUTED + 2):
        memory.see(other, segmented, [])  # detected, but its pixels have no depth
        memory.see(replace(other, depth=other.depth[::2, ::2]), nothing, [])
    assert len(memory.unknown_to(None)) == 1


@given(st.floats(-0.005, 0.005), st.floats(-0.05, 0.05))
@settings(max_examples=10, deadline=None)
def test_glimpses_stay_while_odometry_drifts_on_another_floor(turn, share):
    memory, map_from_odom = memory_of(POSE), np.eye(4)
    (before,) = memory.unknown_to(None)
    frame, nothing = photograph(AWAY)
    for i in range(200):
        map_from_odom = map_from_odom @ planar_transform(share / 2.0, 0.0, turn)
        place = frame.map_from_camera.copy()
        place[0, 3] += (100 - abs(100 - i)) / 2.0
        drifted = replace(
            frame,
            stamp=float(i),
            map_from_odom=map_from_odom,
            odom_from_camera=inverse(map_from_odom) @ place,
        )
        memory.follow(drifted)
    memory.see(drifted, nothing, [])
    (glimpse,) = memory.unknown_to(None)
    moved = float(np.linalg.norm(glimpse.thing.center - before.thing.center))
    assert moved < 0.1


def test_glimpses_jump_with_the_map_and_are_forgotten_in_another():
    memory = memory_of(POSE)
    shift = np.eye(4)
    shift[0, 3] = 1.0
    frame, segmented = photograph(AWAY)
    memory.see(replace(frame, map_from_odom=shift), segmented, [])
    (glimpse,) = memory.unknown_to(scene())
    assert glimpse.thing.center[0] == pytest.approx(5.75, abs=0.1) and glimpse.view[0, 3] == pytest.approx(
        3.0
    )
    assert glimpse.thing.box_min[0] == pytest.approx(glimpse.thing.center[0], abs=0.1)
    another = scene()
    another.map_id = 2
    assert memory.unknown_to(another) == []


def test_it_is_left_alone_after_its_own_goals_brought_nothing():
    memory = memory_of(POSE)
    (glimpse,) = memory.unknown_to(None)
    goals = [(4.0 - k, 4.0, 0.0) for k in range(GLIMPSE_TRIED)]
    for goal in goals:
        assert not memory.is_spent(glimpse, goals)
        memory.propose(glimpse, np.array(goal))
        memory.propose(glimpse, np.array(goal))  # a repeated question during the drive leads to one goal
    assert memory.is_spent(glimpse, goals) and not memory.is_spent(glimpse, goals[1:])
    assert not memory.is_spent(memory_of(POSE).unknown_to(None)[0], goals), "goals of others do not count"


def test_memory_is_bounded_and_keeps_the_newest(monkeypatch):
    monkeypatch.setattr("lodestar.experts.glimpses.GLIMPSE_MEMORY", 3)
    memory = GlimpseMemory()
    for k in range(6):
        see(memory, (2.0, 1.0 + k, 0.0), Block(4.0, 1.0 + k, "chair", f"chair {k}"), stamp=float(k))
    assert [g.thing.detection.caption for g in memory.unknown_to(None)] == ["chair 3", "chair 4", "chair 5"]


class Refusing(OfflineReasoner):
    """Reasoner that rates every view as not worth a visit."""

    def judge_view(self, question):
        return ViewAnswer(question, {point.number: 0.0 for point in question.points}, "TURN_AROUND")


def expert_that_saw(*blocks: Block, entities=(), then=AWAY) -> EgocentricExpert:
    expert = EgocentricExpert(EgocentricConfig(), PhraseBook())
    expert.set_grid(furnished(*(thing(i, b.x, b.y, b.caption) for i, b in enumerate(blocks, 1))))
    expert.set_scene(scene(*entities))
    expert.set_view(*photograph(POSE, *blocks, stamp=8.0))
    expert.set_view(*photograph(then, stamp=9.9))
    return expert


def test_the_robot_goes_back_to_what_fits():
    answer = expert_that_saw(CHAIR).propose(request(AWAY, red_chair()))
    assert isinstance(answer, Proposal) and answer.action is ActionKind.GO
    assert is_facing(answer.goal, np.array([4.75, 3.75, 0.0]), np.array([5.25, 4.25, 0.5]))
    assert "red chair in passing 2 s ago" in answer.rationale and answer.confidence > 0.6


def test_it_does_not_go_back_to_what_does_not_fit_is_known_or_was_given_up():
    blue = Block(5.0, 4.0, "chair", "blue chair")
    answers = [
        expert_that_saw(blue).propose(request(AWAY, red_chair())),
        expert_that_saw(CHAIR, entities=[thing(1, 5.0, 4.0, "red chair")]).propose(
            request(AWAY, red_chair())
        ),
    ]
    assert all(getattr(answer, "action", None) is not ActionKind.GO for answer in answers)


def test_it_does_not_go_back_for_ever():
    expert, given_up = expert_that_saw(CHAIR), []
    for _ in range(GLIMPSE_TRIED + 3):
        answer = expert.propose(request(AWAY, red_chair(), excluded_goals=tuple(given_up)))
        if getattr(answer, "action", None) is ActionKind.GO:
            given_up.append(tuple(answer.goal))
    assert len(given_up) == GLIMPSE_TRIED


def test_what_is_in_view_is_not_in_passing():
    expert = EgocentricExpert(EgocentricConfig(), PhraseBook(), Refusing())
    expert.set_grid(furnished(thing(1, CHAIR.x, CHAIR.y, CHAIR.caption)))
    expert.set_view(*photograph(POSE, CHAIR))
    assert getattr(expert.propose(request(POSE, red_chair())), "action", None) is not ActionKind.GO


CHAIR_BY_DESK = QueryGraph(
    (QueryVariable("chair", "chair"), QueryVariable("desk", "desk")), (Predicate("NextTo", (0, 1)),)
)


def test_what_it_stands_by_may_be_in_the_map():
    task = replace(red_chair("NextTo"), alternatives=((CHAIR_BY_DESK,),))
    alone = expert_that_saw(CHAIR).propose(request(AWAY, task))
    beside = expert_that_saw(CHAIR, entities=[thing(1, 5.8, 4.0, "brown desk")]).propose(request(AWAY, task))
    assert isinstance(alone, Proposal) and isinstance(beside, Proposal)
    assert beside.confidence > alone.confidence + 0.15


def test_what_is_described_and_fits_is_worth_more_before_its_relation_is_known():
    bare = replace(red_chair("NextTo"), alternatives=((CHAIR_BY_DESK,),))
    described = expert_that_saw(CHAIR).propose(request(AWAY, red_chair("NextTo")))
    kind_only = expert_that_saw(CHAIR).propose(request(AWAY, bare))
    assert 0.3 < kind_only.confidence < described.confidence < 0.65


def test_what_is_in_view_comes_before_what_was_seen_before():
    other = Block(1.0, 4.0, "chair", "red chair")
    expert = expert_that_saw(CHAIR)
    expert.set_view(*photograph((3.0, 4.0, math.pi), other, stamp=9.95))
    answer = expert.propose(request((3.0, 4.0, math.pi), red_chair()))
    assert "I see" in answer.rationale and answer.goal[0] < 3.0
