"""Tests of facts that end with their errand, answers about changed objects, and goals outside the map."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from agent_fakes import TARGET, World, entity, exploring, find, proposal, room, thing, towards_target
from hypothesis import given
from hypothesis import strategies as st
from recovery_world import NO_PATH, abort, block, known_chair_world

from lodestar.agent.errands.commands import (
    AskMemory,
    EmbedPhrases,
    NavigationEvent,
    NavigationKind,
    RequestProposals,
    SendGoal,
    State,
)
from lodestar.agent.errands.run import MAX_SENTENCES
from lodestar.agent.facts.config import LoopConfig
from lodestar.agent.facts.errors import ErrorCode
from lodestar.agent.facts.newest import RECOVERY_DRIVE_BLIND, Facts, Odometer
from lodestar.agent.facts.times import Stamp
from lodestar.agent.recovery.evidence import RECOVERY_DRIVE_BLIND_WAY, EvidenceGatherer
from lodestar.language.directive import UNTIL_CANCELLED, Directive, Pose, Step, StepKind


def do(*steps: Step) -> Directive:
    return Directive("a directive", steps)


def goals_for(world: World, identity: int) -> list[SendGoal]:
    return [goal for goal in world.of(SendGoal) if goal.entity_id == identity]


# --- a goal's object, judged again
# -----------------------------------------------------------------------------------


@pytest.mark.parametrize("label", ["red chair", "white mug"])
@pytest.mark.parametrize("late", [False, True])
def test_what_was_renamed_after_its_expert_answered_is_not_driven_to(label, late):
    world = World(answers={"ego_vlm": "silent", "frontier": exploring((2.0, 8.0, 0.0))})
    world.mirror.put(TARGET)
    world.targets.scores[7] = 0.9
    held = []
    world.answers["semantic_map"] = lambda request: held.append(request) or "silent"
    world.loop.start(find(), 0.0)
    world.run(until=lambda: bool(held))
    answer = replace(towards_target(held[0]), epoch=held[0].epoch, expert="semantic_map")
    if not late:
        world.loop.on_answer(answer)
    world.mirror.put(entity(7, 8.0, 5.0, label))
    if late:
        world.run(LoopConfig().expert_deadline + 1.0)
        world.loop.on_answer(answer)
    world.run(8.0)
    assert bool(goals_for(world, 7)) == (label == "red chair")


def test_what_was_renamed_while_its_way_was_shut_is_not_driven_to_again():
    world = known_chair_world()
    world.run(until=lambda: world.pose[0] > 3.0)
    block(world, 5.0, 5.4, 3.0, 5.8)
    world.mirror.put(entity(30, 5.2, 4.8, "red person", first_seen=world.now))
    abort(world, *NO_PATH)
    world.run(3.0)
    assert world.loop.state is State.DIAGNOSING
    before = len(goals_for(world, 7))
    world.mirror.put(replace(world.mirror.entities[7], label="white mug", caption="white mug"))
    world.loop.on_grid(room())
    world.mirror.remove(30)
    world.run(20.0)
    assert len(goals_for(world, 7)) == before


# --- facts of an errand ----------------------------------------------------------------------------------------------


def test_a_navigator_that_was_away_in_an_earlier_step_is_waited_for_anew():
    world = World(answers={"frontier": None})
    carry_out, away = world._carry_out, [True]

    def absent(command):
        carry_out(command)
        if isinstance(command, SendGoal) and away[0]:
            world.goal = None
            world.loop.on_navigation(NavigationEvent(NavigationKind.UNAVAILABLE, epoch=command.epoch))

    world._carry_out = absent
    asked = []
    world.answers["frontier"] = lambda request: (
        asked.append(1) or (proposal(8.0, 8.0) if len(asked) == 1 else None)
    )
    steps = Step(StepKind.EXPLORE), Step(StepKind.WAIT, seconds=30.0), Step(StepKind.GO, pose=Pose(2.0, 3.0))
    world.loop.start(do(*steps), 0.0)
    sent = lambda: len(world.of(SendGoal))  # noqa: E731
    world.run(60.0, until=lambda: sent() == 2)
    assert sent() == 2 and world.loop.state is not State.WAITING
    world.run(2.0)
    assert world.result is None, "it was away for two seconds of this step"
    away[0] = False
    world.run(60.0)
    assert world.result.error_code is ErrorCode.NONE


def test_a_thing_is_driven_to_blind_for_so_many_metres_since_the_last_image_whatever_was_driven_before():
    facts = Facts(Odometer(LoopConfig()))
    evidence = EvidenceGatherer(type("Context", (), {"facts": facts, "config": LoopConfig()})())
    for step in range(200):  # 20 m with the camera on, while no directive runs
        stamp = 0.1 * step
        facts.sight = Stamp(stamp)
        facts.take_pose(np.array([0.1 * step, 0.0, 0.0]), Stamp(stamp), stamp)
    blind = []
    for step in range(200, 300):  # at 1 m/s without an image
        facts.take_pose(np.array([0.1 * step, 0.0, 0.0]), Stamp(0.1 * step), 0.1 * step)
        blind.append(evidence.is_blind())
    first = 0.1 * (blind.index(True) + 1)
    assert first == pytest.approx(RECOVERY_DRIVE_BLIND + RECOVERY_DRIVE_BLIND_WAY, abs=0.3)


def test_a_vector_that_does_not_come_is_asked_for_again_also_in_the_next_directive():
    world = World(answers={"frontier": exploring((8.0, 8.0, 0.0), (2.0, 8.0, 0.0))})
    world.targets.missing = ("red chair",)
    for _ in range(2):
        before = len(world.of(EmbedPhrases))
        world.loop.start(find(), world.now)
        end = world.now + 12.0
        while world.now < end:
            world.advance()
        world.loop.cancel(world.now)
        world.advance()
        assert 1 <= len(world.of(EmbedPhrases)) - before <= 4


@given(st.lists(st.lists(st.integers(1, 5), max_size=3), max_size=8))
def test_what_was_found_last_is_last_and_told_once(found):
    world = World()
    world.loop.start(find(), 0.0)
    run = world.loop._context.run
    for some in found:
        run.note_found(some)
        if some:
            assert run.found[-1] == list(dict.fromkeys(some))[-1]
    assert sorted(run.found) == sorted({one for some in found for one in some})


def test_an_endless_directive_keeps_the_newest_answers_alone():
    world = World(step=1.0)
    asked = Step(StepKind.ASK, thing("mug"), question="where is the mug?")
    world.loop.start(Directive("for ever", (asked,), times=UNTIL_CANCELLED), 0.0)
    world.run(600.0)
    assert world.result is None
    run = world.loop._context.run
    assert len(run.unanswered) == MAX_SENTENCES
    world.loop.cancel(world.now)
    assert len(world.of(AskMemory)) > MAX_SENTENCES + 20


# --- outside the map
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", [(-3.0, 5.0), (50.0, 50.0), (12.0, 5.0), (5.0, -1.0), (5.0, 9e5)])
def test_a_pose_off_the_map_is_refused_in_words_and_nothing_moves(place):
    world = World()
    world.loop.start(do(Step(StepKind.GO, pose=Pose(*place))), 0.0)
    world.run(60.0)
    assert world.result.error_code is ErrorCode.NAVIGATION_FAILED and not world.of(SendGoal)
    assert "outside the map" in world.result.error_msg


def test_a_pose_at_the_edge_is_gone_to_as_near_as_the_map_goes():
    world = World()
    world.loop.start(do(Step(StepKind.GO, pose=Pose(9.99, 5.0))), 0.0)
    world.run(60.0)
    assert world.result.success and world.of(SendGoal)[0].goal[0] < 10.0


def test_a_pose_off_the_map_is_gone_to_once_the_map_has_grown():
    world = World()
    world.loop.start(do(Step(StepKind.GO, pose=Pose(12.0, 5.0))), 0.0)
    world.run(5.0)
    assert world.result is None and not world.of(RequestProposals)
    world.loop.on_grid(room(15.0))
    world.run(60.0)
    assert world.result.success
