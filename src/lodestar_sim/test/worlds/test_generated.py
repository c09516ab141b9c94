"""Tests of every generated world: no overlaps, all objects supported, all objects reachable."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lodestar.grid.footprint import footprint_free
from lodestar.grid.success_pose import is_facing
from lodestar_sim.worlds import World, world_from_spec
from lodestar_sim.worlds.apartment import apartment_plan
from lodestar_sim.worlds.catalogue import CATALOGUE
from lodestar_sim.worlds.checks import check_world, overlaps
from lodestar_sim.worlds.office import office_plan
from lodestar_sim.worlds.references import load_shape
from lodestar_sim.worlds.truth import Truth, truth_of
from lodestar_sim.worlds.warehouse import warehouse_site

HIGHEST = 1.7  # m, highest base of an object


def test_it_passes_the_checks_of_world_files(generated: World):
    check_world(generated)


def test_boxes_do_not_overlap(generated: World):
    """Objects on or in another are exempt: the supporting object's box may reach above its surface."""
    things = generated.objects
    low = np.array([generated.box(t)[0] for t in things]) + 0.003
    high = np.array([generated.box(t)[1] for t in things]) - 0.003
    for i, thing in enumerate(things):
        meets = ((low[i] < high) & (high[i] > low)).all(axis=1)
        for j in np.flatnonzero(meets):
            other = things[j]
            related = thing.id in (other.supported_by, other.contained_in) or other.id in (
                thing.supported_by,
                thing.contained_in,
            )
            assert i == j or related, f"{thing.caption} {thing.id} and {other.caption} {other.id}"


def test_meshes_do_not_meet(generated: World):
    assert list(overlaps(generated, 0.002)) == []


def test_the_overlap_check_can_fail(make_world):
    world = make_world("apartment", 1)
    sofa = next(t for t in world.objects if t.category == "sofa")
    moved = [replace(t, pose=sofa.pose, supported_by=0) for t in world.objects if t.category == "armchair"][
        :1
    ]
    moved = moved or [replace(next(t for t in world.objects if t.category == "chair"), pose=sofa.pose)]
    rest = tuple(t for t in world.objects if t.id != moved[0].id)
    pairs = list(overlaps(replace(world, objects=(*rest, *moved))))
    assert any({sofa.id, moved[0].id} == set(pair) for pair in pairs)


def test_supports_are_physical(generated: World):
    """Objects stand exactly on a surface of their support, within its edges; else on the floor or a wall."""
    for thing in generated.objects:
        if not thing.supported_by:
            assert thing.mounted or thing.pose[2] == 0.0
            continue
        owner = generated.object(thing.supported_by)
        shape = load_shape(owner.mesh, owner.size, owner.color, owner.material)
        turn = -owner.pose[3]
        dx, dy = thing.pose[0] - owner.pose[0], thing.pose[1] - owner.pose[1]
        x, y = dx * np.cos(turn) - dy * np.sin(turn), dx * np.sin(turn) + dy * np.cos(turn)
        yaw = thing.pose[3] - owner.pose[3]
        half_x = (thing.size[0] * abs(np.cos(yaw)) + thing.size[1] * abs(np.sin(yaw))) / 2
        half_y = (thing.size[0] * abs(np.sin(yaw)) + thing.size[1] * abs(np.cos(yaw))) / 2
        good = [
            s
            for s in shape.surfaces
            if abs(owner.pose[2] + s.z - thing.pose[2]) < 1e-6
            and s.x0 - 1e-6 <= x - half_x
            and x + half_x <= s.x1 + 1e-6
            and s.y0 - 1e-6 <= y - half_y
            and y + half_y <= s.y1 + 1e-6
            and thing.size[2] <= s.headroom
            and s.inside == bool(thing.contained_in)
        ]
        assert good, f"{thing.caption} on {owner.caption}"


def test_every_object_can_be_walked_up_to_and_seen(generated: World):
    truth = Truth(generated)
    for thing in generated.objects:
        if thing.id == generated.charging_station:
            continue
        views = truth.views(thing)
        assert len(views), thing.caption
        low, high = generated.box(thing)
        assert all(is_facing(pose, low, high) for pose in views)
        assert all(footprint_free(truth.grid, pose) for pose in views)
        cells = truth.grid.cells_of(views[:, :2])
        assert np.isfinite(truth.lengths(generated.start[:2])[cells[:, 0], cells[:, 1]]).all()
        assert low[2] <= HIGHEST


def test_rooms_are_joined_by_walkways(generated: World):
    """A circular robot of the turning radius (0.385 m) reaches every room from the start."""
    truth = Truth(generated)
    import cv2

    _, labels = cv2.connectedComponents((truth.clearance >= 0.385).astype(np.uint8), connectivity=4)
    row, column = truth.grid.cells_of(np.array([generated.start[:2]]))[0]
    around = labels[row - 4 : row + 5, column - 4 : column + 5]
    home = np.bincount(around[around > 0]).argmax()
    for room in generated.rooms:
        x0, y0, x1, y1 = room.rect
        (r0, c0), (r1, c1) = truth.grid.cells_of(np.array([[x0, y0], [x1, y1]]))
        assert (labels[r0:r1, c0:c1] == home).sum() * 0.05**2 > 0.5, room.label


def test_the_start_is_free(generated: World):
    assert footprint_free(truth_of(generated).grid, generated.start)
    assert generated.charging_station
    assert generated.object(generated.charging_station).category == "charging station"


def test_ids_and_labels(generated: World):
    labels = generated.labels()
    ids = [t.id for t in generated.objects] + [d.id for d in generated.decals]
    assert len(set(ids)) == len(ids) == len(labels)
    assert all(0 < i <= 65535 for i in ids)
    assert all(label["class"] in label["caption"] for label in labels.values())
    assert set(np.unique(generated.geometry().object_of_triangle)) == {0, *ids}


def test_geometry_is_bounded_and_sound(generated: World):
    geometry = generated.geometry()
    assert len(geometry.triangles) <= 60_000
    assert geometry.triangles.max() < len(geometry.vertices)
    assert np.isfinite(geometry.vertices).all()
    x0, y0, x1, y1 = generated.bounds
    assert (geometry.vertices[:, :2] >= np.array([x0, y0]) - 1e-3).all()
    assert (geometry.vertices[:, :2] <= np.array([x1, y1]) + 1e-3).all()
    without = generated.geometry(ceiling=False, without=frozenset({generated.objects[0].id}))
    assert len(without.triangles) < len(geometry.triangles)
    assert generated.objects[0].id not in without.object_of_triangle


@pytest.mark.parametrize("spec", ["apartment", "office", "warehouse"])
def test_the_same_seed_gives_the_same_world_and_another_seed_another(spec, make_world):
    assert world_from_spec(spec, 2) == make_world(spec, 2)
    assert make_world(spec, 1) != make_world(spec, 2)


def test_kinds_of_rooms(make_world):
    for seed in range(1, 7):
        labels = [room.label for room in make_world("apartment", seed).rooms]
        assert 6 <= len(labels) <= 8
        assert {"hall", "living room", "kitchen", "bathroom", "bedroom"} <= set(labels)
    assert {"open plan", "corridor", "office"} <= {room.label for room in make_world("office", 1).rooms}
    warehouse = make_world("warehouse", 1)
    assert sum(t.category == "box" for t in warehouse.objects) >= 25
    assert {"pallet rack", "loaded pallet"} <= {t.category for t in warehouse.objects}


def test_worlds_hold_many_kinds_between_them(make_world):
    seen = {t.category for spec, n in (("apartment", 6), ("office", 3), ("warehouse", 2)) for seed in range(1, n + 1)
            for t in make_world(spec, seed).objects}  # fmt: skip
    assert len(seen) >= 60
    assert seen <= set(CATALOGUE)


@pytest.mark.parametrize("seed", range(12))
def test_doors_are_wide_enough(seed):
    rng = np.random.default_rng(seed)
    for plan in (apartment_plan(rng), office_plan(rng), warehouse_site(rng).plan):
        for door in plan.doors:
            x0, y0, x1, y1 = door.rect
            assert max(x1 - x0, y1 - y0) >= 0.9 - 1e-9


@pytest.mark.parametrize("spec", ["apartment?locked=1", "office?locked=1", "warehouse?locked=1"])
def test_a_locked_room_cannot_be_entered_and_keeps_its_furniture(spec, make_world):
    world = make_world(spec, 1)
    lengths = truth_of(world).lengths(world.start[:2])
    closed = []
    for room in world.rooms:
        x0, y0, x1, y1 = room.rect
        (r0, c0), (r1, c1) = truth_of(world).grid.cells_of(np.array([[x0, y0], [x1, y1]]))
        if not np.isfinite(lengths[r0:r1, c0:c1]).any():
            closed.append(room)
    assert len(closed) == 1
    x0, y0, x1, y1 = closed[0].rect
    assert [t for t in world.objects if x0 < t.pose[0] < x1 and y0 < t.pose[1] < y1]
