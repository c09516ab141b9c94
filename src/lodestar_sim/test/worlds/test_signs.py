"""Tests of signs on walls: their effect on the world, placement and appearance."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from lodestar_sim.sign_painter import sign_texture
from lodestar_sim.simulator import Simulator
from lodestar_sim.tasks import default_task
from lodestar_sim.worlds import WorldError, world_from_spec
from lodestar_sim.worlds.signs import OCCUPANTS, make_sign
from lodestar_sim.worlds.world import World


@pytest.fixture(scope="module")
def office() -> World:
    return world_from_spec("office?signs=1", 3)


@pytest.mark.parametrize("kind", ["office", "warehouse", "apartment"])
def test_signs_change_nothing_of_a_building_but_its_colours(kind):
    plain, signed = world_from_spec(kind, 3), world_from_spec(f"{kind}?signs=1", 3)
    assert plain.signs == () and replace(signed, signs=()) == plain
    assert default_task(signed, 3) == default_task(plain, 3)


def test_signs_and_events_have_streams_of_their_own():
    plain, signed = world_from_spec("office?events=1", 4), world_from_spec("office?events=1&signs=1", 4)
    assert plain.events == signed.events != ()


def test_depth_labels_and_the_course_of_a_run_stay_as_they_were(office):
    runs = []
    for world in (replace(office, signs=()), office):
        simulator = Simulator(world, seed=5)
        simulator.set_command(0.3, 0.0, 0.1)
        frames = []
        for _ in range(3):
            simulator.step(0.5)
            frames.append((simulator.render(), simulator.lidar(), simulator.scan().ranges))
        runs.append((frames, simulator.true_pose))
    (plain, place), (signed, same_place) = runs
    assert np.array_equal(place, same_place)
    for (one, points, ranges), (other, other_points, other_ranges) in zip(plain, signed, strict=True):
        assert np.array_equal(one.depth_mm, other.depth_mm) and np.array_equal(one.labels, other.labels)
        assert one.label_table == other.label_table
        assert np.array_equal(points, other_points) and np.array_equal(ranges, other_ranges)


def views_of(world: World, index: int) -> tuple[np.ndarray, np.ndarray]:
    """Return two RGB views of a sign's place, without and with signs."""
    sign = world.signs[index]
    away = np.array(sign.center[:2]) + 1.6 * np.array(sign.normal[:2])
    pose = (*away, sign.yaw + math.pi)
    return tuple(Simulator(one).render_view(pose)[0] for one in (replace(world, signs=()), world))  # type: ignore[return-value]


def test_only_the_area_of_signs_looks_different(office):
    index = next(i for i, sign in enumerate(office.signs) if sign.kind == "number")
    plain, signed = views_of(replace(office, signs=office.signs[index : index + 1]), 0)
    changed = (plain != signed).any(axis=2)
    assert 200 < changed.sum() < 4000
    rows, columns = np.nonzero(changed)
    assert np.ptp(rows) < 40 and np.ptp(columns) < 90
    assert signed[changed].min() < 90  # dark ink


def test_rooms_have_plates_by_their_kind(office):
    label_of = {room.id: room.label for room in office.rooms}
    said = {(label_of[sign.room], sign.kind, sign.text) for sign in office.signs if sign.room}
    assert ("kitchenette", "room", "KITCHEN") in said
    numbers = [text for _, kind, text in said if kind == "number"]
    assert len(numbers) >= 4 and len(set(numbers)) == len(numbers)
    assert all(len(text) == 3 and text.startswith("2") for text in numbers)
    names = [text for _, kind, text in said if kind == "name"]
    assert set(names) <= set(OCCUPANTS) and len(set(names)) == len(names) > 0
    assert [sign.text for sign in office.signs if sign.kind == "exit"] == ["EXIT"]


@pytest.mark.parametrize("seed", range(1, 6))
def test_signs_hang_on_walls_and_face_their_corridor(seed):
    world = world_from_spec("office?signs=1", seed)
    for sign in world.signs:
        x, y = np.array(sign.center[:2]) - 0.03 * np.array(sign.normal[:2])
        assert any(
            w.x0 <= x <= w.x1 and w.y0 <= y <= w.y1 and w.z0 <= sign.center[2] <= w.z1 for w in world.walls
        )
        x, y = np.array(sign.center[:2]) + 0.2 * np.array(sign.normal[:2])
        assert not any(w.x0 < x < w.x1 and w.y0 < y < w.y1 and w.z0 < 1.0 for w in world.walls)


def test_signs_are_those_of_the_seed_and_last_in_a_file(office, tmp_path):
    assert world_from_spec("office?signs=1", 3).signs == office.signs
    assert world_from_spec("office?signs=1", 4).signs != office.signs
    office.save(tmp_path / "office.json")
    assert World.load(tmp_path / "office.json").signs == office.signs


def test_only_generated_buildings_have_signs():
    with pytest.raises(WorldError, match="signs"):
        world_from_spec("laboratory?signs=1")


def test_a_mirrored_sign_is_the_mirror_image():
    sign = make_sign("number", "204", (0.0, 0.0, 1.0), 0.0, 0.05)
    plain, turned = sign_texture(sign), sign_texture(replace(sign, mirrored=True))
    assert np.array_equal(plain[:, ::-1], turned) and not np.array_equal(plain, turned)


def test_a_sign_of_500_characters_and_right_to_left_text_are_painted():
    assert sign_texture(make_sign("notice", "X" * 500, (0.0, 0.0, 1.0), 0.0, 0.05)).shape[1] <= 4096
    assert (sign_texture(make_sign("notice", "\u05d7\u05d3\u05e8", (0.0, 0.0, 1.0), 0.0, 0.05)) < 60).any()
