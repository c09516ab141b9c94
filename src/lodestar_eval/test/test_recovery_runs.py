"""Tests of failures in a toured building of two rooms, from the sensors to the outcome."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from quick_episodes import EXACT, QUICK

from lodestar.agent.facts.errors import ErrorCode
from lodestar.assembly.config import changed
from lodestar.storage.records import to_values
from lodestar.worldmodel.amendments import Change
from lodestar.worldmodel.outcomes import Cause, Result
from lodestar_eval.episode import EpisodeRunner
from lodestar_eval.episode_run import EpisodeRun
from lodestar_eval.phrase_book import phrase_book
from lodestar_eval.prior_map import explored
from lodestar_eval.recovery_runs import Faults
from lodestar_eval.recovery_scenarios import Scenario
from lodestar_eval.recovery_trips import Trip
from lodestar_eval.settings import robot_config
from lodestar_eval.tour import TourConfig
from lodestar_sim.tasks import Task
from lodestar_sim.worlds.furnish import Furnisher
from lodestar_sim.worlds.obstructions import (
    door_leaf,
    doorways,
    folding_screen,
    free_id,
    glass_pane,
    standing_person,
)
from lodestar_sim.worlds.plan import Plan
from lodestar_sim.worlds.world import Event, World, WorldObject

pytestmark = pytest.mark.slow

SETTINGS = replace(QUICK, time_limit=150.0, robot=EXACT)
START = (-4.0, 0.0, 0.0)
CHAIR, TABLE = 1, 2


def _thing(furnisher: Furnisher, identity: int, kind: str, color: str, x: float, y: float) -> WorldObject:
    made = furnisher.design(kind)
    return replace(
        made,
        id=identity,
        color=color,
        caption=f"{color} {kind}",
        pose=(x, y, 0.0, 0.0),
        movable=kind == "chair",
    )


@pytest.fixture(scope="module")
def world() -> World:
    """Return two rooms with one doorway between them; the red chair stands in the farther one."""
    plan = Plan.empty(112, 60)
    plan.carve("office", 2, 2, 53, 56)
    plan.carve("kitchen", 57, 2, 53, 56)
    plan.open(55, 25, 2, 10, (1, 2))
    furnisher = Furnisher(np.random.default_rng(4))
    return World(
        "two rooms", "office", 1, plan.bounds, START, tuple(plan.outlines()), tuple(plan.walls()),
        tuple(plan.slabs()),
        (
            _thing(furnisher, CHAIR, "chair", "red", 3.6, 1.2),
            _thing(furnisher, TABLE, "cabinet", "white", 5.0, -2.3),
            _thing(furnisher, 3, "plant", "green", -5.0, 2.2),
            _thing(furnisher, 4, "barrel", "blue", -1.6, -2.2),
        ),
    )  # fmt: skip


@pytest.fixture(scope="module")
def saved(world):
    tour = TourConfig(frame_interval=0.6, turn_rate=1.2, spacing=4.0, speed=1.0)
    return explored(world, 1, SETTINGS, phrase_book(), tour)


@pytest.fixture
def run(world, saved):
    """Return a function that runs the search for the red chair with given events."""

    def search(*events: Event, battery: float = np.inf, at: float = 0.0, course: int = 0) -> EpisodeRun:
        """course: another one starts within a centimetre of the others, with other noise."""
        changed = replace(world, events=events)
        moved = np.random.default_rng(course).uniform(-0.01, 0.01, 3) * (course > 0)
        seed = int(np.random.SeedSequence((1, course)).generate_state(1)[0]) if course else 1
        task = Task("find the red chair", (CHAIR,), tuple(START + moved))
        trip = Trip("two rooms", 1, world, task)
        faults = Faults(Scenario(Cause.UNKNOWN, trip, changed, at, (CHAIR,), battery=battery))
        return EpisodeRunner(phrase_book(), SETTINGS, observer=faults.observe).run(changed, task, seed, saved)

    return search


def _diagnosed(run: EpisodeRun) -> list[Cause]:
    return [one.diagnosis.cause for one in run.outcomes if one.diagnosis is not None]


def _changes(run: EpisodeRun) -> list[Change]:
    return [amendment.change for one in run.outcomes for amendment in one.amendments]


def test_without_an_event_nothing_is_diagnosed(run):
    done = run()
    assert done.outcome.success
    assert _diagnosed(done) == [] and done.outcomes[-1].result is Result.COMMITTED


@pytest.mark.parametrize("seed", [1, 2])
def test_where_nothing_fails_recovery_changes_no_decision(world, seed):
    """Searches an unknown building with mild noise; a robot without recovery makes the same decisions."""
    logs = []
    for enabled in (True, False):
        robot = changed(robot_config(), goal_selector__loop__recovery__enabled=enabled)
        runner = EpisodeRunner(phrase_book(), replace(SETTINGS, robot=robot))
        done = runner.run(world, Task("find the red chair", (CHAIR,), START), seed)
        assert done.outcome.success
        logs.append([to_values(decision) for decision in done.decisions])
    assert logs[0] == logs[1]


def test_a_chair_that_is_gone_is_gone(run):
    done = run(Event(3.0, "remove", CHAIR))
    assert done.outcome.error_code == ErrorCode.TARGET_GONE
    assert _diagnosed(done)[0] is Cause.TARGET_REMOVED and Change.ARCHIVE in _changes(done)
    assert "red chair" in done.result.error_msg and "% of the floor" in done.result.error_msg
    assert 0.3 < done.result.searched_share <= 1.0


def test_a_chair_that_moved_is_found(run):
    done = run(Event(3.0, "move", CHAIR, pose=(1.6, -2.0, 0.0, 0.0)))
    assert done.outcome.success


def test_a_door_that_stays_closed_makes_the_chair_unreachable(run, world):
    leaf = door_leaf(world, doorways(world)[0])
    done = run(Event(1.0, "add", leaf.id, object=leaf))
    assert done.outcome.error_code == ErrorCode.TARGET_UNREACHABLE
    assert Cause.DOOR_CLOSED in _diagnosed(done) and Change.CLOSE_WAY in _changes(done)


def test_a_person_in_the_doorway_is_waited_for(run, world):
    doorway = doorways(world)[0]
    person = standing_person(world, doorway.center, 3.14)
    done = run(Event(1.0, "add", person.id, object=person), Event(16.0, "remove", person.id))
    assert done.outcome.success
    assert Cause.WAY_BLOCKED_MOVING in _diagnosed(done)[:4]


@pytest.mark.parametrize("course", [0, 1, 2])
def test_a_pane_of_glass_is_felt_and_believed(run, world, course):
    """Each seed touches the pane at another place and looks for another chair elsewhere; the outcome is equal."""
    doorway = doorways(world)[0]
    pane = glass_pane(world, doorway.center, 0.0, 1.0)
    done = run(Event(0.5, "add", pane.id, object=pane), course=course)
    assert done.outcome.error_code == ErrorCode.TARGET_UNREACHABLE
    assert _diagnosed(done)[0] is Cause.UNSEEN_OBSTACLE and Change.CLOSE_WAY in _changes(done)
    assert done.outcome.collisions < 15  # the navigator alone would touch the pane fifty times
    assert done.outcome.duration < SETTINGS.time_limit, "it ends by itself"


def test_a_silent_camera_stops_the_robot(run):
    done = run(Event(3.0, "mute", sensor="camera"))
    assert done.outcome.error_code == ErrorCode.NO_EXPERT
    assert _diagnosed(done)[0] is Cause.SENSOR_FAULT
    assert done.outcome.duration < 40.0


def test_a_pose_that_jumped_is_noticed(run):
    done = run(Event(4.0, "shift", pose=(0.8, -1.0, 0.0, 0.4)))
    assert _diagnosed(done)[0] is Cause.LOCALISATION_LOST
    assert done.outcome.success or done.outcome.error_code == ErrorCode.TF_ERROR


def test_a_camera_that_comes_back_is_waited_for(run):
    done = run(Event(3.0, "mute", sensor="camera"), Event(9.0, "unmute", sensor="camera"))
    assert done.outcome.success and _diagnosed(done)[0] is Cause.SENSOR_FAULT


def test_a_second_chair_is_told_of(run, world):
    twin = replace(world.object(CHAIR), id=free_id(world), pose=(2.0, -1.5, 0.0, 0.0))
    done = run(Event(3.0, "add", twin.id, object=twin))
    assert done.result.success and _diagnosed(done) == [Cause.DUPLICATE_APPEARED]
    assert "Another one that fits has appeared" in done.result.report


def test_a_battery_that_fails_ends_the_search_in_time(run):
    done = run(battery=8.0, at=4.0)
    assert done.outcome.error_code == ErrorCode.ENERGY
    assert _diagnosed(done)[0] is Cause.OUT_OF_ENERGY


def test_a_chair_behind_a_screen_is_seen_from_another_side(run, world):
    path, (x, y) = run().path, world.object(CHAIR).xy
    heading = math.atan2(y - path[-1, 2], x - path[-1, 1])
    before = (x - 0.55 * math.cos(heading), y - 0.55 * math.sin(heading))
    screen = folding_screen(world, before, heading)
    done = run(Event(2.0, "add", screen.id, object=screen))
    assert done.outcome.success and done.outcome.duration < 90.0
    assert _diagnosed(done)[0] in (
        Cause.TARGET_OCCLUDED,
        Cause.GOAL_OCCUPIED,
    )  # the screen may stand at the robot's goal


def test_a_pose_that_turned_alone_is_noticed(run):
    done = run(Event(4.0, "shift", pose=(0.0, 0.0, 0.0, 0.5)), Event(11.0, "mend"))
    assert _diagnosed(done)[0] is Cause.LOCALISATION_LOST
    assert done.outcome.success


def test_a_small_jump_of_the_pose_is_noticed(run):
    done = run(Event(4.0, "shift", pose=(0.3, 0.25, 0.0, 0.0)), Event(11.0, "mend"))
    assert _diagnosed(done)[0] is Cause.LOCALISATION_LOST
    assert done.outcome.success
