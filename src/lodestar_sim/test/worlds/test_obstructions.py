"""Tests of obstructions on a robot's path, and of muted sensors."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from lodestar_sim.simulator import SimConfig, Simulator
from lodestar_sim.worlds import Event, World, WorldError
from lodestar_sim.worlds.checks import check_world
from lodestar_sim.worlds.obstructions import (
    LOW,
    crate,
    door_leaf,
    doorways,
    folding_screen,
    free_id,
    glass_pane,
    standing_person,
)
from lodestar_sim.worlds.truth import truth_of


@pytest.fixture
def world(make_world) -> World:
    return make_world("apartment", 1)


def _with(world: World, *events: Event) -> World:
    changed = replace(world, events=events)
    check_world(changed)
    return changed


def test_a_door_that_closes_parts_two_rooms_until_it_opens(world):
    parted = 0
    for doorway in doorways(world):
        leaf = door_leaf(world, doorway)
        changed = _with(world, Event(10.0, "add", leaf.id, object=leaf), Event(20.0, "remove", leaf.id))
        cell = tuple(truth_of(world).grid.cells_of(np.array([doorway.center]))[0])
        occupied = [truth_of(changed.at(time)).grid.occupied[cell] for time in (5.0, 15.0, 25.0)]
        assert occupied == [False, True, False]
        reached = [
            np.isfinite(truth_of(changed.at(time)).lengths(world.start[:2])).sum() for time in (5.0, 15.0)
        ]
        parted += reached[1] < 0.98 * reached[0]
    assert parted >= 1  # other doors have a detour


def test_the_openings_are_as_wide_as_doors(world):
    found = doorways(world)
    assert found and all(0.6 <= doorway.width <= 2.6 and doorway.height > 1.8 for doorway in found)


def _ahead(world: World, metres: float) -> tuple[tuple[float, float], float]:
    x, y, yaw = world.start
    return (round(x + metres * math.cos(yaw), 3), round(y + metres * math.sin(yaw), 3)), yaw


def test_a_pane_of_glass_is_felt_and_not_seen(world):
    xy, yaw = _ahead(world, 1.2)
    pane = glass_pane(world, xy, yaw, 1.0)
    there = replace(world, objects=(*world.objects, pane))
    plain, glazed = (Simulator(one, SimConfig(), 3) for one in (world, there))
    assert np.array_equal(plain.render(rgb=False).depth_mm, glazed.render(rgb=False).depth_mm)
    assert np.array_equal(plain.lidar(), glazed.lidar())
    for simulator in (plain, glazed):
        for _ in range(200):
            simulator.set_command(0.5, 0.0, 0.0)
            simulator.step()
    assert glazed.collisions >= 1 and glazed.path_length < 1.0 < plain.path_length


@pytest.mark.parametrize("make", [standing_person, folding_screen])
def test_a_person_and_a_screen_are_seen(world, make):
    xy, yaw = _ahead(world, 1.5)
    thing = make(world, xy, yaw)
    seen = Simulator(replace(world, objects=(*world.objects, thing)), SimConfig(), 3).render(rgb=False)
    assert thing.category in {entry["class"] for entry in seen.label_table.values()}


def test_a_low_box_touches_the_body_and_is_below_the_camera(world):
    xy, yaw = _ahead(world, 1.0)
    box = crate(world, xy, yaw, 0.5, LOW)
    simulator = Simulator(replace(world, objects=(*world.objects, box)), SimConfig(), 3)
    for _ in range(200):
        simulator.set_command(0.5, 0.0, 0.0)
        simulator.step()
    assert simulator.collisions >= 1


def test_a_new_id_is_nobodys(world):
    first = standing_person(world, (0.0, 0.0), 0.0)
    changed = replace(world, events=(Event(1.0, "add", first.id, object=first),))
    assert free_id(changed) == first.id + 1
    assert first.id not in {thing.id for thing in world.objects}


def test_a_label_is_swapped_from_then_on(world):
    thing = world.objects[0]
    changed = _with(world, Event(5.0, "relabel", thing.id, category="bin", caption="green bin"))
    assert changed.labels(4.9)[thing.id]["class"] == thing.category
    assert changed.labels(5.0)[thing.id] == {"class": "bin", "caption": "green bin"}
    assert changed.objects_at(9.0)[0].pose == thing.pose


def test_localisation_jumps_and_is_mended(world):
    jump = Event(1.0, "shift", pose=(0.6, -0.8, 0.0, 0.5))
    simulator = Simulator(_with(world, jump, Event(2.0, "mend")), SimConfig(), 3)

    def error() -> float:
        return float(np.hypot(*(simulator.map_from_base[:2, 3] - simulator.true_pose[:2])))

    simulator.step(0.9)
    assert error() == pytest.approx(0.0, abs=1e-6)
    simulator.step(0.2)
    assert error() == pytest.approx(1.0, abs=1e-6)
    simulator.step(1.0)
    assert error() == pytest.approx(0.0, abs=1e-6)


def test_sensors_fall_silent_and_come_back(world):
    changed = _with(
        world,
        Event(1.0, "mute", sensor="camera"),
        Event(2.0, "mute", sensor="ranges"),
        Event(3.0, "unmute", sensor="camera"),
    )
    assert [changed.muted(time) for time in (0.5, 1.5, 2.5, 3.5)] == [
        frozenset(), {"camera"}, {"camera", "ranges"}, {"ranges"}
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("event", "said"),
    [
        (Event(1.0, "shift"), "by which localisation jumps"),
        (Event(1.0, "shift", pose=(math.nan, 0.0, 0.0, 0.0)), "by which localisation jumps"),
        (Event(1.0, "mute", sensor="nose"), "sensor must be one of camera, ranges"),
        (Event(1.0, "relabel", 1), "give the category and the caption"),
        (Event(1.0, "relabel", 60000, category="bin", caption="bin"), "there is no object 60000"),
    ],
)
def test_an_event_that_says_too_little_is_refused(world, event, said):
    with pytest.raises(WorldError, match=said):
        _with(world, event)


def test_a_world_with_every_event_survives_its_file(world, tmp_path):
    pane = glass_pane(world, (0.0, 0.0), 0.0, 1.0)
    changed = replace(
        world,
        events=(
            Event(1.0, "add", pane.id, object=pane),
            Event(2.0, "relabel", world.objects[0].id, category="bin", caption="green bin"),
            Event(3.0, "shift", pose=(1.0, 0.0, 0.0, 0.1)),
            Event(4.0, "mend"),
            Event(5.0, "mute", sensor="ranges"),
        ),
    )
    changed.save(tmp_path / "world.json")
    assert World.load(tmp_path / "world.json") == changed
