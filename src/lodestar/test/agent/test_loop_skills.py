"""Tests of DO: a user's skill is validated, carried out, confirmed or rolled back, and ends with its errand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from agent_fakes import FACING, TARGET, World, entity, find, towards_target
from arm_world import CHAIR, DONE, ArmWorld, directive, do, ends_of

from lodestar.agent.decisions.admission import SKILL
from lodestar.agent.errands.commands import RecordTrace, RunSkill, SkillEnd, State
from lodestar.agent.facts.config import LoopConfig
from lodestar.agent.facts.errors import ErrorCode, SkillRefused
from lodestar.grid.energy import EnergyBudget
from lodestar.language.directive import Item, Step, StepKind
from lodestar.language.grammar import parse_directive
from lodestar.worldmodel.amendments import Change
from lodestar.worldmodel.outcomes import Result
from lodestar.worldmodel.records import Phase

# --- successful skills -------------------------------------------------------------------------------------------


def test_a_thing_is_found_and_the_skill_is_done_with_it_as_the_words_say() -> None:
    world = ArmWorld(answers={"semantic_map": towards_target})
    world.mirror.put(TARGET)
    world.targets.scores = {7: 0.9}
    spoken = parse_directive("find the red chair and pick it up")
    assert spoken.steps[0].unable, "without the skill it is what the robot cannot do"
    world.loop.start(spoken, world.now)
    world.run()
    assert world.result.error_code is ErrorCode.NONE, world.result.error_msg
    (run,) = world.begun
    assert run.trace.action.arguments == ("entity:7",) and run.trace.proposer == SKILL
    assert ends_of(world) == [Result.COMMITTED] and world.changes[0] is Change.DOUBT
    assert "pick it up" in world.result.report


def test_nothing_moves_the_robot_and_the_constraint_state_is_the_skills_phase() -> None:
    world = ArmWorld(arm=lambda trace: None)
    world.stand_before_the_chair()
    world.loop.start(directive(do("Pick", CHAIR)), world.now)
    world.run(until=lambda: world.begun)
    world.advance()
    assert world.loop.state is State.WAITING and not world.loop.motion_allowed
    assert world.loop._context.constraint.state.phase is Phase.AT
    assert world.table.rule(world.begun[0].trace.action.skill).phase is Phase.AT
    assert "Doing it" in world.loop.feedback().text
    world.loop.on_skill(world.begun[0].ticket, DONE)
    world.run()
    assert world.result.error_code is ErrorCode.NONE


def test_a_skill_without_a_thing_is_done_where_the_robot_stands() -> None:
    world = ArmWorld()
    world.loop.start(directive(do("Wave")), world.now)
    world.run()
    assert world.result.error_code is ErrorCode.NONE and world.begun[0].trace.action.arguments == ()


def cup_on_table(world: ArmWorld, away: float = 0.0) -> None:
    table = entity(1, 8.0, 5.0, "wooden table")
    cup = entity(2, 8.0 + away, 5.0, "blue cup")
    up = np.array([0.0, 0.0, 0.4])
    cup = replace(cup, mean=cup.mean + up, box_min=cup.box_min + up, box_max=cup.box_max + up)
    world.mirror.put(table, cup)
    world.targets.scores = {1: 0.9, 2: 0.9}
    world.pose = np.array(FACING)
    world.loop.on_pose(world.pose, 0.0)


def test_what_it_should_bring_about_is_measured_before_it_counts_as_done() -> None:
    world = ArmWorld()
    cup_on_table(world)
    world.loop.start(directive(do("Place", "blue cup", "wooden table")), world.now)
    world.run()
    assert world.result.error_code is ErrorCode.NONE, world.result.error_msg
    assert world.begun[0].trace.action.arguments == ("entity:2", "entity:1")
    assert world.changes[:2] == [Change.RESTORE, Change.RELATE]


def test_an_effect_that_the_camera_shows_late_is_waited_for() -> None:
    world = ArmWorld()
    cup_on_table(world, away=1.0)
    world.loop.start(directive(do("Place", "blue cup", "wooden table")), world.now)
    world.run(until=lambda: world.begun)
    world.run(seconds=2.0)
    assert world.result is None, "it is not seen on the table yet"
    cup_on_table(world)
    world.run()
    assert world.result.error_code is ErrorCode.NONE and ends_of(world) == [Result.COMMITTED]


# --- faults ------------------------------------------------------------------------------------------------------


def after(world: ArmWorld) -> None:
    """Check that the next directive is unaffected by the one before."""
    told, world.commands = list(world.begun), []
    world.arm = lambda trace: DONE
    world.stand_before_the_chair()
    world.loop.start(directive(do("Pick", CHAIR)), world.now)
    for late in told:
        world.loop.on_skill(late.ticket, SkillEnd(False, "of before"))
    world.run()
    assert world.result is not None and world.result.error_code is ErrorCode.NONE, world.result
    assert ends_of(world)[-1:] == [Result.COMMITTED]


def test_what_it_requires_does_not_hold() -> None:
    world = ArmWorld()
    world.stand_before_the_chair()
    world.pose = np.array([2.0, 2.0, 0.0])
    world.loop.on_pose(world.pose, 0.0)
    world.loop.start(directive(do("Pick", CHAIR)), world.now)
    world.run()
    assert world.result.error_code is ErrorCode.SKILL_REFUSED and "Near(robot" in world.result.error_msg
    assert not world.begun and not world.of(RecordTrace), "nothing began"
    after(world)


@pytest.mark.parametrize("end", [SkillEnd(False, "the gripper is\nstuck"), SkillEnd(False)])
def test_a_skill_that_fails_is_rolled_back_and_says_why(end: SkillEnd) -> None:
    world = ArmWorld(arm=lambda trace: end)
    world.stand_before_the_chair()
    world.loop.start(directive(do("Pick", CHAIR)), world.now)
    world.run()
    assert world.result.error_code is ErrorCode.SKILL_FAILED
    assert ("the gripper is stuck" if end.why else "no reason") in world.result.error_msg
    assert ends_of(world) == [Result.ROLLED_BACK] and world.changes == [] and not world.stopped
    after(world)


def test_a_skill_that_never_ends_is_stopped_after_its_patience() -> None:
    world = ArmWorld(arm=lambda trace: None)
    world.stand_before_the_chair()
    world.loop.start(directive(do("Pick", CHAIR)), world.now)
    world.run(until=lambda: world.begun)
    began = world.now
    world.run()
    assert world.result.error_code is ErrorCode.SKILL_FAILED and "20 s" in world.result.error_msg
    assert 19.0 <= world.now - began <= 21.0 and world.stopped == [world.begun[0].ticket]
    assert ends_of(world) == [Result.ROLLED_BACK]
    after(world)


def test_an_effect_that_is_not_seen_rolls_it_back() -> None:
    world = ArmWorld()
    cup_on_table(world, away=1.0)
    world.loop.start(directive(do("Place", "blue cup", "wooden table")), world.now)
    world.run()
    assert world.result.error_code is ErrorCode.SKILL_FAILED
    assert "On(entity:2, entity:1)" in world.result.error_msg
    assert ends_of(world) == [Result.ROLLED_BACK] and world.changes == []
    after(world)


def test_without_an_image_since_nothing_is_confirmed() -> None:
    world = ArmWorld()
    cup_on_table(world)
    world.loop.on_sight(0.05)
    world.loop.start(directive(do("Place", "blue cup", "wooden table")), world.now)
    world.run()
    assert world.result.error_code is ErrorCode.SKILL_FAILED and "no image" in world.result.error_msg
    assert world.changes == []


STOPS = {
    "cancel": lambda world: world.loop.cancel(world.now),
    "hold": lambda world: world.loop.hold(True, world.now),
    "clock": lambda world: world.loop.restart_clock(world.now),
    "battery": lambda world: world.loop.on_energy(EnergyBudget(8.0, charger=(2.0, 2.0), reserve=3.0)),
}


@pytest.mark.parametrize("how", STOPS)
def test_what_is_stopped_in_the_middle_ends_and_harms_nothing(how: str) -> None:
    world = ArmWorld(arm=lambda trace: None)
    world.stand_before_the_chair()
    world.loop.start(directive(do("Pick", CHAIR)), world.now)
    world.run(until=lambda: world.begun)
    world.run(seconds=1.0)
    STOPS[how](world)
    if how == "clock":
        world.loop.on_pose(world.pose, world.now)
    world.run(seconds=60.0)
    assert world.stopped == [world.begun[0].ticket], "the arm is told"
    assert len(world.begun) == 1 and Result.COMMITTED not in ends_of(world) and len(ends_of(world)) == 1
    assert world.changes == [] and world.result is not None
    if how == "hold":
        world.loop.hold(False, world.now)
    if how == "battery":
        world.loop.on_energy(EnergyBudget())
    after(world)


def test_a_stop_in_the_tick_in_which_it_was_to_begin_withdraws_it() -> None:
    world = ArmWorld()
    world.stand_before_the_chair()
    world.loop.start(directive(do("Pick", CHAIR)), world.now)
    for _ in range(10):
        commands = world.loop.tick(world.now)
        if any(isinstance(c, RunSkill) for c in commands):
            break
        context = world.loop._context
        if context.run is not None and context.run.under_way.skill is not None:
            break
    world.loop.cancel(world.now)
    assert not [c for c in world.loop.tick(world.now) if isinstance(c, RunSkill)]


def test_a_pause_stops_it_and_it_begins_anew_with_its_checks() -> None:
    world = ArmWorld(arm=lambda trace: None)
    world.stand_before_the_chair()
    world.loop.start(directive(do("Pick", CHAIR)), world.now)
    world.run(until=lambda: world.begun)
    assert world.loop.skill == "Pick"
    world.loop.pause(True, world.now)
    assert "Pick was stopped, and begins anew" in world.loop.feedback().text and world.loop.skill == ""
    world.advance()
    assert world.stopped == [world.begun[0].ticket]
    world.run(seconds=60.0)
    assert world.result is None and len(world.begun) == 1, "no time passes"
    world.loop.on_skill(world.begun[0].ticket, DONE)
    world.arm = lambda trace: DONE
    world.loop.pause(False, world.now)
    world.run()
    assert len(world.begun) == 2 and world.result.error_code is ErrorCode.NONE, "it began anew"
    assert ends_of(world) == [Result.CANCELLED, Result.COMMITTED]


def test_the_time_limit_ends_it_too() -> None:
    world = ArmWorld(arm=lambda trace: None)
    world.stand_before_the_chair()
    world.loop.start(directive(do("Pick", CHAIR)), world.now, time_limit=5.0)
    world.run()
    assert world.result.error_code is ErrorCode.TIME_LIMIT and world.stopped
    after(world)


def test_an_end_that_is_told_twice_or_of_another_errand_counts_once() -> None:
    world = ArmWorld(arm=lambda trace: None)
    world.stand_before_the_chair()
    world.loop.start(directive(do("Pick", CHAIR), do("Wave")), world.now)
    world.run(until=lambda: world.begun)
    first = world.begun[0].ticket
    world.loop.on_skill(first + 1000, SkillEnd(False, "of nobody"))
    world.loop.on_skill(first, DONE)
    world.loop.on_skill(first, SkillEnd(False, "changed its mind"))
    world.run(until=lambda: len(world.begun) == 2)
    world.loop.on_skill(first, SkillEnd(False, "late"))
    world.run(seconds=1.0)
    assert world.result is None, "the second skill is under way"
    world.loop.on_skill(world.begun[1].ticket, DONE)
    world.run()
    assert world.result.error_code is ErrorCode.NONE
    assert ends_of(world) == [Result.COMMITTED, Result.COMMITTED]


def test_a_thing_that_is_not_known_is_asked_to_be_found_first() -> None:
    world = ArmWorld()
    world.loop.start(directive(do("Pick", CHAIR)), world.now)
    world.run()
    assert world.result.error_code is ErrorCode.TARGET_NOT_FOUND and "find it first" in world.result.error_msg
    after(world)


def test_words_whose_meaning_is_not_known_yet_are_waited_for_and_not_for_ever() -> None:
    world = ArmWorld()
    world.stand_before_the_chair()
    world.targets.missing = (CHAIR,)
    world.loop.start(directive(do("Pick", CHAIR)), world.now)
    world.run(seconds=5.0)
    assert world.result is None
    world.targets.missing = ()
    world.run()
    assert world.result.error_code is ErrorCode.NONE
    world.commands, world.targets.missing = [], (CHAIR,)
    world.loop.start(directive(do("Pick", CHAIR)), world.now)
    world.run()
    assert world.result.error_code is ErrorCode.SKILL_REFUSED


def test_the_nearest_of_several_is_meant_unless_one_was_found() -> None:
    world = ArmWorld(answers={"semantic_map": towards_target})
    world.stand_before_the_chair()
    world.mirror.put(entity(9, 7.2, 5.6))
    world.targets.scores = {7: 0.9, 9: 0.7}
    world.loop.start(directive(do("Pick", CHAIR)), world.now)
    world.run()
    assert world.begun[0].trace.action.arguments == ("entity:9",)
    world.commands, world.targets.scores = [], {7: 0.9, 9: 0.7}
    world.loop.start(directive(*find(CHAIR).steps, do("Pick", CHAIR)), world.now)
    world.run()
    assert world.begun[-1].trace.action.arguments == (f"entity:{world.result.entity_ids[0]}",)


@pytest.mark.parametrize(
    ("step", "why"),
    [
        (do("Dance"), "there is no skill 'Dance'.*Pick, Place, Wave"),
        (do("GoTo", CHAIR), "the robot's own"),
        (do("Place", CHAIR), "needs 2 things, and 1"),
    ],
)
def test_a_step_that_cannot_be_done_anywhere_is_refused_before_the_robot_moves(step: Step, why: str) -> None:
    world = ArmWorld()
    with pytest.raises(SkillRefused, match=why):
        world.loop.start(directive(*find(CHAIR).steps, step), world.now)
    after(world)


def test_without_a_users_file_no_skill_is_known_and_words_stay_what_the_robot_cannot_do() -> None:
    world = World(answers={"semantic_map": towards_target})
    world.mirror.put(TARGET)
    world.targets.scores = {7: 0.9}
    with pytest.raises(SkillRefused, match="skills_file"):
        world.loop.start(directive(do("Wave")), world.now)
    world.loop.start(parse_directive("find the red chair and pick it up"), world.now)
    world.run()
    assert world.result.error_code is ErrorCode.UNABLE


def test_a_step_names_a_skill_or_none() -> None:
    with pytest.raises(ValueError, match="skill"):
        Step(StepKind.DO)
    with pytest.raises(ValueError, match="skill"):
        Step(StepKind.FIND, Item(), skill="Pick")
    assert LoopConfig().skill_confirm > 0.0
