"""Tests of the ablations: each replaces the part that it names and no other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from agent_fakes import TARGET, World, entity, exploring, find, proposal, room, towards_target

from lodestar.agent.errands.commands import NavigationEvent, NavigationKind, RecordOutcome, SendGoal, State
from lodestar.agent.facts.config import LoopConfig, RecoveryConfig
from lodestar.agent.facts.errors import ErrorCode
from lodestar.agent.recovery import outcomes
from lodestar.language.directive import Directive, Pose, Step, StepKind
from lodestar.scene.records import EntityState
from lodestar.worldmodel.outcomes import Cause, Result
from lodestar_eval.ablations import BLIND_RETRIES, ROW_KINDS

PHASE = {"stopped_on_way", "arrived"}
WAY = {"goal_covered", "way_newly_blocked"}
THINGS = {"mover_in_way", "door_in_way", "thing_in_way"}
TARGETS = {"target_gone", "target_seen", "target_doubted", "target_relabelled", "twin_appeared"}


@pytest.fixture
def measured(monkeypatch) -> list[Mapping[str, bool]]:
    """Return the list that collects the facts of each diagnosis."""
    seen: list[Mapping[str, bool]] = []
    diagnose = outcomes.diagnose

    def recorded(evidence, sure):
        seen.append(dict(evidence.facts))
        return diagnose(evidence, sure)

    monkeypatch.setattr(outcomes, "diagnose", recorded)
    return seen


def _world(row: str = "full", **recovery) -> World:
    """Return a room with a remembered red chair, and the robot on its path to it. row: name of the ablation."""
    config = LoopConfig(recovery=RecoveryConfig(search_time=20.0, **recovery))
    answers = {"semantic_map": towards_target, "frontier": exploring((2.0, 8.0, 0.0))}
    world = World(answers=answers, config=config, kinds=ROW_KINDS[row])
    world.mirror.put(replace(TARGET, first_seen=-100.0, last_seen=-100.0))
    world.targets.scores[7] = 0.9
    world.loop.start(find(), 0.0)
    world.run(until=lambda: world.loop.state is State.NAVIGATING)
    return world


def _stopped(world: World) -> None:
    """Put a person into the path, so that the planner finds no other."""
    world.run(until=lambda: world.pose[0] > 3.0)
    grid = room()
    grid.cells[30:58, 50:54] = 100
    world.loop.on_grid(grid)
    world.mirror.put(entity(30, 5.2, 4.8, "red person", first_seen=world.now))
    world.goal = None
    world.loop.on_navigation(NavigationEvent(NavigationKind.ABORTED, 208, "no way"))
    world.run(1.0)


def _gone(world: World) -> None:
    """Archive the chair while the robot drives to it."""
    world.run(until=lambda: world.pose[0] > 4.0)
    world.mirror.put(replace(world.mirror.entities[7], state=EntityState.ARCHIVED))
    world.targets.scores[7] = 0.0


def _outcomes(world: World):
    return [command.outcome for command in world.of(RecordOutcome)]


def test_the_whole_diagnosis_measures_the_phase_the_way_and_the_things(measured):
    world = _world()
    _stopped(world)
    assert PHASE | WAY | {"mover_in_way"} <= set(measured[0]) and not TARGETS & set(measured[0])
    assert _outcomes(world)[-1].diagnosis.cause is Cause.WAY_BLOCKED_MOVING


def test_without_the_constraint_state_way_and_target_are_measured_at_every_failure(measured):
    world = _world("no_constraint_state")
    _stopped(world)
    assert not PHASE & set(measured[0])
    assert WAY | {"mover_in_way", "target_gone", "planner_refused"} <= set(measured[0])
    world = _world("no_constraint_state")
    _gone(world)
    world.run(1.0)
    assert {"target_gone", "goal_covered"} <= set(measured[-1]) and not PHASE & set(measured[-1])


def test_without_the_scene_the_diagnosis_knows_no_thing(measured):
    world = _world("no_semantic_graph")
    _stopped(world)
    assert set(measured[0]) >= PHASE | WAY and not (THINGS | TARGETS) & set(measured[0])
    world = _world("no_semantic_graph")
    _gone(world)
    world.run(120.0)
    assert world.result.error_code is not ErrorCode.TARGET_GONE
    assert not any(TARGETS & set(facts) for facts in measured)


def test_without_the_scene_a_second_one_is_claimed_without_a_word():
    world = _world("no_semantic_graph")
    world.run(until=lambda: world.pose[0] > 5.0)
    world.mirror.put(entity(8, 8.0, 7.0, first_seen=world.now, last_seen=world.now))
    world.targets.scores[8] = 0.9
    world.run()
    assert world.result.success and "has appeared" not in world.result.report


def test_without_a_diagnosis_a_failure_is_noticed_and_its_goal_left_out(measured):
    world = _world("no_diagnosis")
    _stopped(world)
    assert not measured
    last = _outcomes(world)[-1]
    assert last.result is Result.ROLLED_BACK and last.diagnosis is None and not last.amendments
    world.run(until=lambda: len(world.of(SendGoal)) > 1)
    assert world.of(SendGoal)[1].goal != pytest.approx(world.of(SendGoal)[0].goal)
    world = _world("no_diagnosis")
    _gone(world)
    world.run(200.0)
    assert world.result is not None and world.result.error_code is not ErrorCode.TARGET_GONE
    assert all(one.diagnosis is None and not one.amendments for one in _outcomes(world))


def test_without_belief_correction_the_cause_is_named_and_nothing_is_amended():
    world = _world("no_belief_correction")
    _gone(world)
    world.run(200.0)
    found = [one.diagnosis.cause for one in _outcomes(world) if one.diagnosis is not None]
    assert found[0] is Cause.TARGET_REMOVED
    assert not any(one.amendments for one in _outcomes(world))
    assert world.result.error_code is not ErrorCode.TARGET_GONE


def test_blind_retry_sends_the_same_goal_again_so_many_times():
    world = _world("blind_retry", enabled=False)
    first = world.of(SendGoal)[0].goal
    for number in range(2, 2 + BLIND_RETRIES):
        world.goal = None
        world.loop.on_navigation(NavigationEvent(NavigationKind.ABORTED, 208, "no way"))
        world.run(5.0, until=lambda wanted=number: len(world.of(SendGoal)) == wanted)
        assert world.of(SendGoal)[-1].goal == pytest.approx(first)
    world.goal = None
    world.loop.on_navigation(NavigationEvent(NavigationKind.ABORTED, 208, "no way"))
    world.run(20.0, until=lambda: len(world.of(SendGoal)) == 2 + BLIND_RETRIES)
    assert world.of(SendGoal)[-1].goal != pytest.approx(first)
    assert all(one.diagnosis is None for one in _outcomes(world))


@pytest.mark.parametrize("validates", [True, False])
def test_without_validation_a_goal_in_a_wall_is_driven_to(validates):
    in_wall = proposal(5.0, 0.05)
    kinds = ROW_KINDS["full" if validates else "no_validation"]
    world = World(answers={"frontier": lambda request: in_wall}, kinds=kinds)
    world.loop.start(find(), 0.0)
    world.run(10.0, until=lambda: world.goal is not None)
    assert (world.goal is not None) != validates


@pytest.mark.parametrize("validates", [True, False])
def test_without_validation_a_pose_in_a_block_is_driven_to(validates):
    grid = room()
    grid.cells[50:90, 30:70] = 100
    world = World(grid=grid, kinds=ROW_KINDS["full" if validates else "no_validation"])
    world.loop.start(Directive("", (Step(StepKind.GO, pose=Pose(5.0, 7.0)),)), 0.0)
    world.run(10.0, until=lambda: world.goal is not None)
    assert (world.goal is not None) != validates
