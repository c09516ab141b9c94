"""Tests of buildings of two storeys: their flight of stairs, and the robot on it."""

import math

import numpy as np
import pytest

from lodestar_sim.floor_tasks import floor_task, meant_in, shortest_over, storey_of
from lodestar_sim.simulator import Simulator
from lodestar_sim.worlds import WorldError, world_from_spec
from lodestar_sim.worlds.flights import Flight
from lodestar_sim.worlds.terrain import CLIMB
from lodestar_sim.worlds.truth import truth_of


@pytest.fixture(
    scope="module",
    params=[("apartment?storeys=2", 21), ("apartment?storeys=2", 22), ("office?storeys=2", 22)],
)
def world(request):
    return world_from_spec(*request.param)


def heading(flight: Flight) -> np.ndarray:
    return np.array([0.0, 1.0]) if flight.along == "y" else np.array([1.0, 0.0])


def test_a_robot_walks_over_the_flight_and_is_handed_over(world):
    flight = world.flights[0]
    up = heading(flight)
    yaw = math.atan2(up[1], up[0])
    for storey, (x, y, _), sign in ((0, flight.foot, 1.0), (1, flight.head, -1.0)):
        start = np.array([x, y]) - sign * 1.0 * up
        sim = Simulator(world, seed=1, start=(*start, yaw if sign > 0 else yaw + math.pi), storey=storey)
        heights = []
        for _ in range(1500):
            sim.set_command(0.3, 0.0, 0.0)
            sim.step()
            heights.append(sim.robot.ground_height)
            if abs((sim.true_pose[:2] - start) @ up) > 6.8:
                break
        assert sim.storey == 1 - storey and not sim.falls and not sim.collisions
        assert abs(heights[-1] - world.storeys[1 - storey].height) < 0.01
        assert max(abs(np.diff(heights))) < 0.05


def test_both_storeys_lie_one_above_the_other_and_all_of_both_can_be_come_to(world):
    lower, upper = (storey.world for storey in world.storeys)
    x0, y0, x1, y1 = (f(a, b) for f, a, b in zip((max, max, min, min), lower.bounds, upper.bounds))
    shared = (x1 - x0) * (y1 - y0)
    assert shared > 0.5 * (lower.bounds[2] - lower.bounds[0]) * (lower.bounds[3] - lower.bounds[1])
    flight = world.flights[0]
    up = heading(flight)
    for storey, (x, y, _), sign in ((lower, flight.foot, -1.0), (upper, flight.head, 1.0)):
        truth = truth_of(storey)
        row, column = truth.grid.cells_of(np.array([[x, y]]) + sign * 0.75 * up)[0]
        assert np.isfinite(truth.lengths(storey.start[:2])[row, column])


def test_a_thing_has_one_id_in_the_building_and_stands_on_its_storey(world):
    ids = [thing.id for thing in world.objects]
    assert len(set(ids)) == len(ids) and world.flights[0].id not in ids
    for thing in world.objects:
        floors = [
            number for number, storey in enumerate(world.storeys) if storey.height <= thing.pose[2] + 0.1
        ]
        assert storey_of(world, thing.id) == floors[-1]


def test_tasks_lead_over_the_flight_and_name_what_is_on_one_storey():
    for seed in (21, 22):
        world = world_from_spec("apartment?storeys=2", seed)
        task = floor_task(world, seed)
        (target,) = {storey_of(world, i) for i in task.target_ids}
        assert (task.storey, target) == ((seed // 2) % 2, seed % 2)
        assert target in {storey_of(world, i) for i in meant_in(world, task.directive)}
        length = shortest_over(world, task.start, task.storey, task.target_ids)
        assert 5.0 < length < 80.0


def test_steep_flights_and_options_that_do_not_fit_are_refused():
    with pytest.raises(WorldError, match="too steep"):
        Flight(1, 0.0, 0.0, 1.4, 5.0, 0.0, 18 * (CLIMB + 0.01), 18)
    for spec in ("warehouse?storeys=2", "apartment?storeys=2&stairs=1", "laboratory?storeys=2"):
        with pytest.raises(WorldError):
            world_from_spec(spec, 1)
