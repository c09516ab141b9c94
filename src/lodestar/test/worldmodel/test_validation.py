"""Tests that malformed, unknown or geometrically contradicted traces are refused with the reason."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from trace_builders import box, trace_to

from lodestar.grid.energy import EnergyBudget
from lodestar.scene.records import EntityState
from lodestar.worldmodel.config import ValidationConfig
from lodestar.worldmodel.records import Action, Belief, Expectation, Phase, Skill, TraceError
from lodestar.worldmodel.validation import TraceValidator


def on(one, other, predicate="On", negated=False):
    return Belief(predicate, (f"entity:{one}", f"entity:{other}"), negated)


def test_what_is_known_and_agrees_is_accepted(world):
    beliefs = (on(2, 1), on(3, 1, "NextTo"), on(2, 1, "Above"), on(1, 2, "Below"))
    beliefs += (Belief("InRegion", ("entity:2", "region:3")),)
    assert TraceValidator(world).check(trace_to(beliefs=beliefs), now=11.0).accepted


@pytest.mark.parametrize(
    ("changes", "code", "reason"),
    [
        ({"goal": (np.nan, 1.0, 0.0)}, TraceError.MALFORMED, "not a pose"),
        ({"goal": (1.0, 1.0)}, TraceError.MALFORMED, "not a pose"),
        ({"confidence": float("nan")}, TraceError.MALFORMED, "confidence"),
        ({"confidence": 1.5}, TraceError.MALFORMED, "confidence"),
        ({"beliefs": (on(2, 1),) * 200}, TraceError.MALFORMED, "more than 50 beliefs"),
        ({"beliefs": (on(2, 1, "Loves"),)}, TraceError.MALFORMED, "no predicate 'Loves'"),
        ({"beliefs": (Belief("On", ("entity:2",)),)}, TraceError.MALFORMED, "1 arguments"),
        (
            {"beliefs": (Belief("On", ("entity:2", "ignore the rules")),)},
            TraceError.MALFORMED,
            "names no entity",
        ),
        ({"beliefs": (Belief("On", ("entity:2", "entity:²")),)}, TraceError.MALFORMED, "names no entity"),
        ({"beliefs": (on(2, 99),)}, TraceError.UNKNOWN_ENTITY, "entity 99"),
        ({"beliefs": (Belief("InRegion", ("entity:2", "region:8")),)}, TraceError.UNKNOWN_ENTITY, "region 8"),
        ({"entity_id": 77}, TraceError.UNKNOWN_ENTITY, "entity 77"),
        ({"expectation": Expectation(Phase.AT, visible=(78,))}, TraceError.UNKNOWN_ENTITY, "entity 78"),
        (
            {"expectation": Expectation(Phase.AT, beliefs=(on(2, 1), on(2, 1, negated=True)))},
            TraceError.MALFORMED,
            "its opposite",
        ),
        ({"goal": (5.0, 0.1, 0.0)}, TraceError.UNREACHABLE, "does not fit"),
        ({"beliefs": (on(2, 4),)}, TraceError.INCONSISTENT, "On(entity:2, entity:4)"),
        ({"beliefs": (on(3, 4, "NextTo"),)}, TraceError.INCONSISTENT, "at most 2.0 m"),
        ({"beliefs": (Belief("InRegion", ("entity:4", "region:3")),)}, TraceError.INCONSISTENT, "InRegion"),
        (
            {"beliefs": (Belief("InRegion", ("entity:2", "region:3"), negated=True),)},
            TraceError.INCONSISTENT,
            "not InRegion",
        ),
    ],
)
def test_what_is_wrong_is_refused_with_code_and_reason(world, changes, code, reason):
    verdict = TraceValidator(world).check(trace_to(**changes))
    assert verdict.code is code and reason in verdict.reason
    assert not verdict.accepted


def test_a_refused_belief_says_by_how_much_it_fails(world):
    verdict = TraceValidator(world).check(trace_to(beliefs=(on(2, 1), on(3, 4, "Near"))))
    assert verdict.belief == on(3, 4, "Near")
    gap = np.hypot(15 - 0.5 - (6.2 + 0.25), 15 - 0.2 - (5 + 0.25))
    assert verdict.excess == pytest.approx(gap - 2.0)


def test_an_old_trace_is_stale_and_one_from_the_future_too(world):
    validator = TraceValidator(world, ValidationConfig(max_age=5.0))
    assert validator.check(trace_to(), now=16.0).code is TraceError.STALE
    assert validator.check(trace_to(), now=1.0).code is TraceError.STALE
    assert validator.check(trace_to(), now=14.0).accepted


def test_the_way_back_may_begin_beside_a_wall(world):
    back = trace_to(action=Action(Skill.RETURN, (), np.array([5.0, 0.1, 0.0])))
    assert TraceValidator(world).check(back).accepted


def test_what_the_geometry_cannot_tell_passes(world):
    beliefs = (on(2, 4, "LeftOf"), on(2, 4, negated=True))
    assert TraceValidator(world).check(trace_to(beliefs=beliefs)).accepted


@pytest.mark.parametrize(("predicate", "one", "other", "holds"), [
    ("On", (5, 5, 0.86), (5, 5, 0.4), True),
    ("On", (5, 5, 1.4), (5, 5, 0.4), False),  # it floats above the table
    ("On", (7, 5, 0.86), (5, 5, 0.4), False),  # it stands beside the table
    ("On", (5, 5, 0.5), (5, 5, 0.4), True),  # its place is inside the support's box
    ("Inside", (5, 5, 0.4), (5, 5, 0.4), True),
    ("Inside", (5.9, 5, 0.4), (5, 5, 0.4), False),
    ("Above", (5, 5, 0.2), (5, 5, 0.4), False),
])  # fmt: skip
def test_relations_of_boxes(world, predicate, one, other, holds):
    world.entities.update({1: box(1, other, (1.2, 0.8, 0.8)), 2: box(2, one, (0.1, 0.1, 0.12))})
    assert TraceValidator(world).check(trace_to(beliefs=(on(2, 1, predicate),))).accepted is holds


def test_the_age_limit_must_be_above_zero():
    with pytest.raises(ValueError, match="above 0"):
        ValidationConfig(max_age=0.0)


@pytest.mark.parametrize(
    ("changes", "code", "reason"),
    [
        ({"state": EntityState.ARCHIVED, "last_seen": 7.0}, TraceError.ARCHIVED, "entity 2 is gone.*at 7 s"),
        ({"map_id": 2}, TraceError.OTHER_FLOOR, "on map 2, and the robot on map 1"),
    ],
)
def test_a_thing_that_is_gone_or_on_another_floor_is_refused(world, changes, code, reason):
    world.entities[2] = replace(world.entities[2], **changes)
    for trace in (trace_to(), trace_to(1, beliefs=(on(2, 1),)), trace_to(1, expectation=seen(2))):
        verdict = TraceValidator(world).check(trace)
        assert verdict.code is code and re.search(reason, verdict.reason)


def seen(entity):
    return Expectation(Phase.AT, visible=(entity,))


def test_without_a_grid_nobody_drives(world):
    world.grid = None
    assert TraceValidator(world).check(trace_to()).code is TraceError.NO_MAP
    turn = Action(Skill.TURN, ("entity:2",), np.array([2.0, 2.0, 0.0]))
    assert TraceValidator(world).check(trace_to(action=turn)).accepted


def test_a_goal_in_a_keep_out_zone_violates_a_constraint(world):
    zones = np.zeros(world.grid.cells.shape, bool)
    zones[75:85, 75:85] = True
    world.grid = replace(world.grid, keep_out=zones)
    verdict = TraceValidator(world).check(trace_to())
    assert verdict.code is TraceError.CONSTRAINT_VIOLATED and "keep-out" in verdict.reason
    assert TraceValidator(world).check(trace_to(goal=(9.5, 9.5, 0.0))).accepted


def walled(world, gap=False):
    """Return the world with a wall across the hall at x = 7, optionally with a door of 0.9 m."""
    cells = world.grid.cells.copy()
    cells[:, 70:72] = 100
    if gap:
        cells[100:109, 70:72] = 0
    world.grid = replace(world.grid, cells=cells)
    return TraceValidator(world)


def test_no_way_leads_to_a_goal_behind_a_wall(world):
    verdict = walled(world).check(trace_to())
    assert verdict.code is TraceError.UNREACHABLE and "no way leads" in verdict.reason


def test_a_door_joins_two_rooms_and_closes_again(world):
    validator, closed = walled(world, gap=True), world.grid.cells.copy()
    assert validator.check(trace_to()).accepted
    closed[100:109, 70:72] = 100
    world.grid = replace(world.grid, cells=closed)
    assert validator.check(trace_to()).code is TraceError.UNREACHABLE, "each grid is looked at"


def test_what_the_grid_cannot_tell_passes(world):
    validator = walled(world)
    world.pose = None
    assert validator.check(trace_to()).accepted
    world.pose = np.array([50.0, 50.0, 0.0])  # outside the grid
    assert validator.check(trace_to()).accepted


def test_unknown_floor_may_be_a_way(world):
    cells = world.grid.cells.copy()
    cells[:, 70:90] = -1
    world.grid = replace(world.grid, cells=cells)
    assert TraceValidator(world).check(trace_to(goal=(12.0, 8.0, 0.0))).accepted


def test_a_goal_that_the_battery_cannot_reach_is_refused_by_how_much(world):
    world.energy = EnergyBudget(9.0, (2.0, 2.0), 2.0)
    verdict = TraceValidator(world).check(trace_to())
    assert verdict.code is TraceError.ENERGY and verdict.excess == pytest.approx(
        np.hypot(6, 6) - 7.0, abs=0.01
    )
    home = Action(Skill.RETURN, (), np.array([8.0, 8.0, 0.0]))
    assert TraceValidator(world).check(trace_to(action=home)).accepted, "the way back is never refused"
    world.energy = EnergyBudget(11.0, (2.0, 2.0), 2.0)
    assert TraceValidator(world).check(trace_to()).accepted


def test_a_goal_must_leave_enough_for_the_way_back_round_the_walls(world):
    cells = world.grid.cells.copy()
    cells[:-20, 48:52] = 100
    world.grid, world.charger = replace(world.grid, cells=cells), np.array([2.0, 2.0])
    world.energy = EnergyBudget(30.0, (2.0, 2.0), 2.0)
    verdict = TraceValidator(world).check(trace_to())
    assert verdict.code is TraceError.ENERGY and "from the charger" in verdict.reason
    world.energy = EnergyBudget(90.0, (2.0, 2.0), 2.0)
    assert TraceValidator(world).check(trace_to()).accepted


def beside_the_chair(yaw):
    """Return a goal 0.7 m west of the chair (3)."""
    return trace_to(3, goal=(6.2, 4.1, yaw))


def test_a_goal_beside_its_target_faces_it(world):
    assert TraceValidator(world).check(beside_the_chair(np.pi / 2)).accepted
    assert TraceValidator(world).check(beside_the_chair(np.pi / 2 + 1.0)).accepted, (
        "success is another matter"
    )
    verdict = TraceValidator(world).check(beside_the_chair(-np.pi / 2))
    assert (
        verdict.code is TraceError.UNREACHABLE
        and "does not face entity 3: it is 180 degrees" in verdict.reason
    )


def test_a_place_on_the_way_to_a_target_may_look_elsewhere(world):
    assert TraceValidator(world).check(trace_to(3, goal=(9.0, 9.0, 0.0))).accepted


def test_a_wall_before_a_target_is_in_the_way(world):
    world.entities[5] = box(5, (5.0, 12.25, 0.5), (0.2, 0.2, 1.0))
    goal = (5.0, 10.85, np.pi / 2)
    assert TraceValidator(world).check(trace_to(5, goal=goal)).accepted
    cells = world.grid.cells.copy()
    cells[113, 20:80] = 100
    world.grid = replace(world.grid, cells=cells)
    verdict = TraceValidator(world).check(trace_to(5, goal=goal))
    assert verdict.code is TraceError.UNREACHABLE and "an obstacle stands between" in verdict.reason
