"""Traces are refused for what is malformed, unknown or contradicted by the geometry, with the reason."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from trace_builders import box, trace_to

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


def test_a_box_that_is_far_but_as_uncertain_is_near(world):
    world.entities[4] = replace(world.entities[4], covariance=np.eye(3) * 40.0)  # eq. 9: 17 m are 2.7 sigma
    assert TraceValidator(world).check(trace_to(beliefs=(on(3, 4, "Near"),))).accepted


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


def test_without_a_grid_the_goal_is_not_judged(world):
    world.grid = None
    assert TraceValidator(world).check(trace_to(goal=(5.0, 0.1, 0.0))).accepted


@pytest.mark.parametrize(("predicate", "one", "other", "holds"), [
    ("On", (5, 5, 0.86), (5, 5, 0.4), True),
    ("On", (5, 5, 1.4), (5, 5, 0.4), False),  # it floats
    ("On", (7, 5, 0.86), (5, 5, 0.4), False),  # it stands beside it
    ("On", (5, 5, 0.5), (5, 5, 0.4), True),  # the support's box takes it in
    ("Inside", (5, 5, 0.4), (5, 5, 0.4), True),
    ("Inside", (5.9, 5, 0.4), (5, 5, 0.4), False),
    ("Above", (5, 5, 0.2), (5, 5, 0.4), False),
])  # fmt: skip
def test_relations_of_boxes(world, predicate, one, other, holds):
    world.entities.update({1: box(1, other, (1.2, 0.8, 0.8)), 2: box(2, one, (0.1, 0.1, 0.12))})
    assert TraceValidator(world).check(trace_to(beliefs=(on(2, 1, predicate),))).accepted is holds


@pytest.mark.parametrize("field", ["chi_square", "near", "contact", "slack", "max_age", "max_beliefs"])
def test_limits_must_be_above_zero(field):
    with pytest.raises(ValueError, match="above 0"):
        ValidationConfig(**{field: 0})
