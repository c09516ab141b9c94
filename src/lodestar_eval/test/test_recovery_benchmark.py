"""Tests of the benchmark of induced failures: scenarios, judgement and tables."""

from __future__ import annotations

import argparse
import math
from dataclasses import fields, is_dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest

from lodestar.agent.facts.errors import ErrorCode
from lodestar.agent.loop.machine import PartKinds
from lodestar.worldmodel.outcomes import Cause
from lodestar_eval.ablations import ROW_KINDS
from lodestar_eval.recovery_runs import judge, variant
from lodestar_eval.recovery_scenarios import CAUSES, scenario_of
from lodestar_eval.recovery_trips import NEAREST, SHORTEST, Trip, length_of, trip_of
from lodestar_eval.registry import BadOptions
from lodestar_eval.settings import EpisodeSettings
from lodestar_eval.studies.recovery import BENCHMARK, FULL, NO_EVENT, ROWS
from lodestar_sim.worlds.checks import check_world
from lodestar_sim.worlds.truth import truth_of

SEED = 3  # every third seed is an apartment


@pytest.fixture(scope="module")
def trip() -> Trip:
    """Return the trip with the path of a robot at 0.5 m/s."""
    found = trip_of(SEED)
    way = truth_of(found.world).way(found.task.start[:2], found.thing)
    steps = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(way, axis=0), axis=1))])
    ends = np.arctan2(*(np.array(found.thing.xy) - way[-1])[::-1])
    return replace(found, path=np.column_stack([steps / 0.5, way, np.full(len(way), ends)]))


def test_a_trip_is_long_enough_and_its_thing_is_hidden_from_the_start(trip):
    truth = truth_of(trip.world)
    assert truth.shortest_path(trip.task.start[:2], trip.thing) >= SHORTEST
    assert trip.thing.movable and truth.seen(trip.thing, np.array([trip.task.start]))[0] == 0.0
    assert trip_of(SEED).task == trip.task


@pytest.mark.parametrize("cause", CAUSES)
def test_a_scenario_is_the_same_for_the_same_seed_and_its_world_is_valid(trip, cause):
    scenario = scenario_of(trip, cause)
    assert scenario is not None, "this trip has no place for it"
    assert scenario_of(trip, cause) == scenario
    assert scenario.cause is cause and 0.0 <= scenario.at <= trip.path[-1, 0]
    assert scenario.targets or scenario.codes
    check_world(scenario.world)
    added = [event.object for event in scenario.world.events if event.kind == "add"]
    for thing in added:  # no added object stands on the robot
        index = int(np.searchsorted(trip.path[:, 0], scenario.at))
        here = trip.path[min(index, len(trip.path) - 1), 1:3]
        apart = math.dist(here, thing.xy)
        assert apart >= NEAREST - 0.3 or cause in (Cause.TARGET_OCCLUDED, Cause.GOAL_OCCUPIED)


def test_every_cause_but_unknown_is_induced():
    assert set(CAUSES) == set(Cause) - {Cause.UNKNOWN}


def _run(success: bool, code: ErrorCode = ErrorCode.NONE, pose=(0.0, 0.0, 0.0), world=None):
    result = SimpleNamespace(success=success, error_code=code, error_msg="as the test says")
    return SimpleNamespace(
        result=result, path=np.array([[9.0, *pose]]), world=world, outcome=SimpleNamespace(duration=9.0)
    )


def test_a_code_counts_only_where_the_scenario_names_it(trip):
    gone = scenario_of(trip, Cause.TARGET_REMOVED)
    assert judge(gone, _run(False, ErrorCode.TARGET_GONE)).success
    assert not judge(gone, _run(False, ErrorCode.TARGET_NOT_FOUND)).success


def test_with_a_battery_that_fails_only_a_robot_at_the_charger_counts(trip):
    dead = scenario_of(trip, Cause.OUT_OF_ENERGY)
    start = np.array(trip.task.start)
    assert judge(dead, _run(False, ErrorCode.ENERGY, start)).success
    assert not judge(dead, _run(False, ErrorCode.ENERGY, start + np.array([1.5, 0.0, 0.0]))).success
    assert not judge(dead, _run(True, pose=start)).success, "it claims the thing"
    way = length_of(trip.path[:, 1:3])
    back = length_of(trip.path[trip.path[:, 0] <= dead.at, 1:3])
    assert back + 2.0 <= dead.battery < way + (way - back), (
        "it lasts for the way back, not for the thing and back"
    )


def test_a_claim_counts_only_before_the_thing(trip):
    moved = scenario_of(trip, Cause.TARGET_MOVED)
    world = moved.world
    facing = truth_of(world.at(1e9)).views(world.at(1e9).object(trip.thing.id), 0.2, 0.8)[0]
    assert judge(moved, _run(True, pose=facing, world=replace(world, events=_early(world)))).success
    assert not judge(moved, _run(True, pose=trip.task.start, world=world)).success
    gone = scenario_of(trip, Cause.TARGET_REMOVED)
    assert not judge(gone, _run(True, pose=facing, world=gone.world)).success


def _early(world):
    return tuple(replace(event, time=0.0) for event in world.events)


#: Parts of the decision loop that each row replaces, besides its different settings.
SWITCHED = {
    FULL: set(),
    "blind_retry": {"news"},
    "no_validation": {"validator"},
    "no_diagnosis": {"outcomes"},
    "no_belief_correction": {"outcomes", "diagnosing"},
    "no_constraint_state": {"outcomes"},
    "no_semantic_graph": {"outcomes"},
}


def _flat(config: object, name: str = "") -> dict[str, object]:
    if not is_dataclass(config):
        return {name: config}
    found: dict[str, object] = {}
    for one in fields(config):
        found |= _flat(getattr(config, one.name), f"{name}.{one.name}")
    return found


@pytest.mark.parametrize("row", ROWS)
def test_each_row_switches_off_what_it_names_and_nothing_else(row):
    def settings(name: str) -> dict[str, object]:
        return _flat(variant(EpisodeSettings(), name).robot)

    kinds, own = ROW_KINDS[row], PartKinds()
    assert {f.name for f in fields(own) if getattr(kinds, f.name) is not getattr(own, f.name)} == SWITCHED[
        row
    ]
    assert kinds not in [ROW_KINDS[other] for other in ROWS if other != row]
    ours, plain = settings(row), settings(FULL)
    assert ours.keys() == plain.keys()
    other = {
        name: value for name, value in ours.items() if not np.array_equal(value, plain[name], equal_nan=False)
    }
    expected = {}
    if row == "blind_retry":
        expected[".goal_selector.loop.recovery.enabled"] = False
    if row == "no_belief_correction":
        expected[".scene_dictionary.archive_moved"] = False
    assert other == expected


def _recorded(seed: int, row: str, cause: str, success: bool, diagnoses=(), recoveries=(), lost=math.nan):
    return {
        "seed": seed, "row_name": row, "cause": cause, "success": success, "diagnoses": " ".join(diagnoses),
        "recoveries": " ".join(recoveries), "lost_s": lost, "lost_m": lost / 2.0,
    }  # fmt: skip


DOOR, MOVED = Cause.DOOR_CLOSED.value, Cause.TARGET_MOVED.value


def test_the_numbers_are_counted_by_hand():
    found = [
        _recorded(1, FULL, NO_EVENT, True),
        _recorded(2, FULL, NO_EVENT, True, (DOOR,), ("go_round",)),
        _recorded(1, FULL, DOOR, True, (DOOR,), ("go_round",), 10.0),
        _recorded(2, FULL, DOOR, True, ("UNKNOWN", DOOR), ("go_round",), 30.0),
        _recorded(1, FULL, MOVED, True, (), (), 4.0),
        _recorded(2, FULL, MOVED, False, ("UNKNOWN",) * 5),
        _recorded(1, "blind_retry", DOOR, False),
        _recorded(2, "blind_retry", DOOR, True),
    ]
    result = BENCHMARK.result(found)
    metrics = result.metrics
    assert metrics["tsr.full"] == 0.75 and metrics[f"tsr.{DOOR}.full"] == 1.0
    assert metrics["tsr.blind_retry"] == 0.5
    assert metrics["cda.full"] == pytest.approx(1 / 3) and metrics["cda_3.full"] == pytest.approx(2 / 3)
    assert metrics[f"cda.{DOOR}"] == 0.5 and metrics[f"cda_3.{DOOR}"] == 1.0
    assert metrics[f"diagnosed.{MOVED}"] == 0.5
    assert metrics["false_recoveries"] == 0.5
    assert metrics["lost_s.full"] == 10.0
    assert metrics["tsr_over.blind_retry"] == 0.5  # one of the two pairs differs
    assert metrics["tsr_over.blind_retry_low"] == 0.0 and metrics["tsr_over.blind_retry_high"] == 1.0
    by_row, by_cause, confusion = (result.tables[k] for k in (0, 1, -1))
    assert [line[0] for line in by_row.rows] == [FULL, "blind_retry"]
    assert by_cause.rows[0][:4] == (DOOR, FULL, "2", "1.000 (0.16 to 1.00)")
    row = next(line for line in confusion.rows if line[0] == DOOR)
    assert row[confusion.columns.index(DOOR)] == "1" and row[confusion.columns.index("UNKNOWN")] == "1"
    assert "none" in confusion.columns


def _options(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    BENCHMARK.add_options(parser)
    return parser.parse_args(list(words))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--rows", "full,magic"), "no row 'magic'"),
        (("--causes", "GREMLINS"), "GREMLINS"),
        (("--causes", "UNKNOWN"), "UNKNOWN cannot be induced"),
    ],
)
def test_bad_options_say_what_there_is(words, said, tmp_path):
    with pytest.raises(BadOptions, match=said):
        BENCHMARK.run(_options(*words), tmp_path, print)
