"""Tests of causes with probabilities from measured facts, by a table of rules as data."""

from __future__ import annotations

import copy
import math

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from lodestar.agent.recovery.outcomes import RECOVERY_SURE
from lodestar.worldmodel.cause_table import FILE, BadTable, Recovery, cause_table, read_table
from lodestar.worldmodel.diagnosis import Evidence, diagnose, recovery_of
from lodestar.worldmodel.outcomes import Cause, ConstraintState, Discrepancy, Look
from lodestar.worldmodel.records import Phase

STATE = ConstraintState(Phase.AT, "entity:7")
NOTHING = Discrepancy(STATE, ConstraintState(Phase.INTERRUPTED, "entity:7"))
STOPPED = {"stopped_on_way": True, "arrived": False, "navigator_silent": False, "battery_low": False}
ARRIVED = {**STOPPED, "stopped_on_way": False, "arrived": True}


def _of(facts: dict[str, bool], looks: tuple[Look, ...] = ()):
    return diagnose(Evidence(NOTHING, facts, (1.0, 2.0), looks), RECOVERY_SURE)


@pytest.mark.parametrize(
    ("facts", "cause", "recovery"),
    [
        (ARRIVED | {"target_gone": True, "twin_appeared": False}, Cause.TARGET_REMOVED, Recovery.SEARCH_ELSEWHERE),
        (ARRIVED | {"target_gone": True, "twin_appeared": True}, Cause.TARGET_MOVED, Recovery.TAKE_NEW_PLACE),
        (
            ARRIVED | {"target_gone": False, "target_relabelled": True, "target_seen": True},
            Cause.TARGET_MISLABELLED,
            Recovery.NEXT_CANDIDATE,
        ),
        (
            ARRIVED | {"target_gone": False, "target_seen": False, "sight_newly_blocked": True},
            Cause.TARGET_OCCLUDED,
            Recovery.OTHER_SIDE,
        ),
        (
            ARRIVED | {"target_gone": False, "target_seen": True, "twin_appeared": True},
            Cause.DUPLICATE_APPEARED,
            Recovery.TELL,
        ),
        (
            STOPPED | {"planner_refused": True, "way_newly_blocked": True, "blocked_in_opening": True,
                       "opening_filled": True, "mover_in_way": False},
            Cause.DOOR_CLOSED,
            Recovery.GO_ROUND,
        ),
        (
            STOPPED | {"way_newly_blocked": True, "blocked_in_opening": False, "opening_filled": False,
                       "mover_in_way": False, "thing_in_way": True},
            Cause.WAY_BLOCKED_STATIC,
            Recovery.GO_ROUND,
        ),
        (
            STOPPED | {"way_newly_blocked": True, "mover_in_way": True, "opening_filled": False},
            Cause.WAY_BLOCKED_MOVING,
            Recovery.WAIT_THEN_GO_ROUND,
        ),
        (
            STOPPED | {"controller_stuck": True, "contact_felt": True, "contact_unseen": True,
                       "way_newly_blocked": False},
            Cause.UNSEEN_OBSTACLE,
            Recovery.GO_ROUND,
        ),
        (STOPPED | {"goal_covered": True, "goal_refused": True}, Cause.GOAL_OCCUPIED, Recovery.OTHER_SIDE),
        (STOPPED | {"goal_covered": False, "goal_refused": True}, Cause.GOAL_OCCUPIED, Recovery.OTHER_SIDE),
        ({"pose_jumped": True, "map_contradicts": True}, Cause.LOCALISATION_LOST, Recovery.RELOCALISE),
        ({"battery_low": True}, Cause.OUT_OF_ENERGY, Recovery.GO_TO_CHARGER),
        (STOPPED | {"navigator_silent": True}, Cause.NAVIGATOR_DOWN, Recovery.WAIT_FOR_NAVIGATOR),
        (ARRIVED | {"images_old": True, "target_seen": False}, Cause.SENSOR_FAULT, Recovery.WAIT_FOR_SENSORS),
    ],
)  # fmt: skip
def test_the_facts_of_a_cause_lead_to_it_and_to_its_recovery(facts, cause, recovery):
    diagnosis = _of(facts)
    assert diagnosis.cause is cause
    assert recovery_of(diagnosis) is recovery


def test_without_evidence_nothing_is_known_and_the_experts_are_asked_again():
    diagnosis = _of({})
    assert diagnosis.cause is Cause.UNKNOWN
    assert recovery_of(diagnosis) is Recovery.ASK_AGAIN


@given(st.dictionaries(st.sampled_from(sorted(cause_table().facts)), st.booleans()))
def test_probabilities_add_up_to_one_and_come_in_order(facts):
    diagnosis = _of(facts)
    shares = [one.probability for one in diagnosis.causes]
    assert math.isclose(sum(shares), 1.0) and all(0.0 <= share <= 1.0 for share in shares)
    assert shares == sorted(shares, reverse=True)
    assert {one.cause for one in diagnosis.causes} == set(Cause)


@given(st.dictionaries(st.sampled_from(sorted(cause_table().facts)), st.booleans()))
def test_a_look_that_was_made_is_not_named_again(facts):
    made: tuple[Look, ...] = ()
    for _ in Look:
        look = _of(facts, made).look
        assert look not in made
        if look is Look.NONE:
            return
        made = (*made, look)
    raise AssertionError("looks never end")


def test_causes_that_cannot_be_told_apart_name_the_look_that_would():
    """An obstacle is in the path, and it is unknown whether it moves by itself."""
    diagnosis = _of(STOPPED | {"way_newly_blocked": True})
    assert diagnosis.look is Look.WAIT
    assert diagnosis.look_at == (1.0, 2.0)
    sure = _of(STOPPED | {"way_newly_blocked": True, "mover_in_way": True})
    assert sure.look is Look.NONE and sure.look_at is None


def test_the_words_name_the_cause_and_the_facts_for_it():
    text = _of(STOPPED | {"way_newly_blocked": True, "mover_in_way": True}).text
    assert text.startswith("WAY_BLOCKED_MOVING (") and "a thing that moves by itself was seen there" in text


def test_a_fact_that_the_table_lacks_is_refused():
    with pytest.raises(ValueError, match="'ghost'"):
        _of({"ghost": True})


def _data():
    return yaml.safe_load(FILE.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda d: d["causes"].pop("DOOR_CLOSED"), "no row for DOOR_CLOSED"),
        (lambda d: d["causes"]["DOOR_CLOSED"]["weights"].update(ghost=[1, 0]), "DOOR_CLOSED: 'ghost'"),
        (lambda d: d["causes"]["DOOR_CLOSED"].update(prior=float("nan")), "DOOR_CLOSED, prior"),
        (lambda d: d["causes"]["DOOR_CLOSED"].update(recovery="pray"), "'pray' is none of take_new_place"),
        (lambda d: d["causes"]["DOOR_CLOSED"]["weights"].update(door_in_way=[1]), "two numbers"),
        (lambda d: d["causes"]["DOOR_CLOSED"].update(extra=1), "exactly prior, recovery and weights"),
        (lambda d: d["causes"].update(GREMLINS=d["causes"]["UNKNOWN"]), "'GREMLINS' is none of"),
        (lambda d: d["looks"].update(WAIT=["ghost"]), "looks, WAIT: 'ghost'"),
        (lambda d: d.pop("looks"), "exactly facts, looks and causes"),
    ],
)
def test_a_bad_row_is_named(change, said):
    data = copy.deepcopy(_data())
    change(data)
    with pytest.raises(BadTable, match=said):
        read_table(data)
