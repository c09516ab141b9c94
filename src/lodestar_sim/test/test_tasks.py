"""Tests that default tasks are neither trivial nor ambiguous by ground truth, and tests of the judge."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest

from lodestar.geometry.camera import PinholeCamera
from lodestar.geometry.poses import (
    BODY_FROM_OPTICAL,
    inverse,
    make_transform,
    planar_transform,
    transform_points,
)
from lodestar.language.directive import DirectiveError
from lodestar_sim.judge import judge_find, shortest_path_length, valid_targets
from lodestar_sim.reference_truth import Scene, confusable, has_attribute, is_class
from lodestar_sim.tasks import Task, default_task
from lodestar_sim.worlds import World, WorldError, world_from_spec
from lodestar_sim.worlds.truth import truth_of

CASES = [("apartment", seed) for seed in range(1, 11)] + [
    ("office", 1),
    ("office", 2),
    ("warehouse", 1),
    ("warehouse", 2),
]


@lru_cache(maxsize=32)
def prepared(spec: str, seed: int) -> tuple[World, Task]:
    world = world_from_spec(spec, seed)
    return world, default_task(world, seed)


@pytest.fixture(params=CASES, ids=lambda p: f"{p[0]}-{p[1]}")
def case(request) -> tuple[World, Task]:
    return prepared(*request.param)


def test_it_means_exactly_one_thing(case):
    world, task = case
    assert len(task.target_ids) == 1
    assert valid_targets(world, task.directive) == task.target_ids


def test_something_of_its_class_stands_elsewhere(case):
    world, task = case
    target = world.object(task.target_ids[0])
    others = [t for t in world.objects if t.category == target.category and t.id != target.id]
    assert any(math.dist(t.xy, target.xy) >= 2.0 for t in others)


def test_the_start_is_far_by_path_and_free(case):
    world, task = case
    assert 5.0 <= shortest_path_length(world, task.start, task.target_ids) < math.inf


def test_the_target_is_not_in_view_from_the_start(case):
    """No sampled point of the target is both inside the camera image and in line of sight."""
    world, task = case
    target = world.object(task.target_ids[0])
    pitch = math.radians(-10.0)
    up = np.array([[math.cos(pitch), 0, math.sin(pitch)], [0, 1, 0], [-math.sin(pitch), 0, math.cos(pitch)]])
    camera = PinholeCamera(640, 480, 380.0, 380.0, 319.5, 239.5)
    pose = planar_transform(*task.start) @ make_transform(up, (0.30, 0.0, 0.45)) @ BODY_FROM_OPTICAL
    points = transform_points(inverse(pose), truth_of(world).points_of(target).astype(np.float64))
    _, inside = camera.project(points)
    seen = truth_of(world).seen(target, np.array([task.start]))[0]
    assert seen == 0.0 or not inside.any()


def test_the_target_can_be_found(case):
    world, task = case
    target = world.object(task.target_ids[0])
    views = truth_of(world).views(target, 0.2, 0.8)
    assert len(views)
    for pose in views[:5]:
        assert judge_find(world, pose, task.target_ids).success
    assert max(target.size) >= 0.3


def test_the_start_is_no_success(case):
    world, task = case
    verdict = judge_find(world, task.start, task.target_ids)
    assert not verdict.success
    assert verdict.distance_m > 1.0
    assert verdict.message


def test_tasks_repeat_and_vary():
    world, task = prepared("apartment", 1)
    assert default_task(world, 1) == task
    directives = [prepared("apartment", seed)[1].directive for seed in range(1, 11)]
    assert len(set(directives)) >= 8
    related = [d for d in directives if " next to " in d or " on the " in d]
    assert len(related) >= 3


def test_a_world_without_a_task_says_so():
    world, _ = prepared("apartment", 1)
    with pytest.raises(WorldError, match="give a directive"):
        default_task(replace(world, objects=world.objects[:1]), 1)


# -- the judge --------------------------------------------------------------------------------------------------


def facing(world: World, target, distance: float) -> np.ndarray:
    """Return the reachable pose that sees the target at a distance nearest to `distance` metres."""
    poses, _ = truth_of(world).facing_poses(target, world.start[:2])
    poses = poses[truth_of(world).seen(target, poses) > 0.2]
    low, high = world.box(target)
    gap = np.linalg.norm(np.clip(poses[:, :2], low[:2], high[:2]) - poses[:, :2], axis=1)
    return poses[int(np.argmin(np.abs(gap - 0.35 - distance)))]


def test_turning_away_fails_on_bearing():
    world, task = prepared("apartment", 1)
    pose = facing(world, world.object(task.target_ids[0]), 0.4)
    assert judge_find(world, pose, task.target_ids).success
    turned = pose + np.array([0.0, 0.0, math.radians(35.0)])
    verdict = judge_find(world, turned, task.target_ids)
    assert not verdict.success and "degrees" in verdict.message
    assert verdict.bearing == pytest.approx(-math.radians(35.0), abs=0.02)


def test_stepping_back_fails_on_distance():
    world, task = prepared("apartment", 1)
    pose = facing(world, world.object(task.target_ids[0]), 0.9)
    back = pose - [1.0 * math.cos(pose[2]), 1.0 * math.sin(pose[2]), 0.0]
    verdict = judge_find(world, back, task.target_ids)
    assert not verdict.success and verdict.distance_m > 1.0


def test_a_wall_between_fails_on_sight():
    from lodestar_sim.worlds import Wall

    world, task = prepared("apartment", 1)
    target = world.object(task.target_ids[0])
    pose = facing(world, target, 0.8)
    eye = pose[:2] + 0.45 * np.array([math.cos(pose[2]), math.sin(pose[2])])
    screen = Wall(eye[0] - 0.02, eye[1] - 2.0, eye[0] + 0.02, eye[1] + 2.0, 0.0, 2.5)
    if abs(math.sin(pose[2])) > 0.7:
        screen = Wall(eye[0] - 2.0, eye[1] - 0.02, eye[0] + 2.0, eye[1] + 0.02, 0.0, 2.5)
    verdict = judge_find(replace(world, walls=(*world.walls, screen)), pose, task.target_ids)
    assert not verdict.success and not verdict.in_sight and "out of sight" in verdict.message


def test_no_target_is_no_success():
    world, task = prepared("apartment", 1)
    for ids in ((), (60000,)):
        verdict = judge_find(world, task.start, ids)
        assert not verdict.success and verdict.distance_m == math.inf
        assert shortest_path_length(world, task.start, ids) == math.inf


def test_a_locked_room_has_no_shortest_path():
    world = world_from_spec("apartment?locked=1", 1)
    lengths = truth_of(world).lengths(world.start[:2])
    behind = []
    for room in world.rooms:
        x0, y0, x1, y1 = room.rect
        (r0, c0), (r1, c1) = truth_of(world).grid.cells_of(np.array([[x0, y0], [x1, y1]]))
        if not np.isfinite(lengths[r0:r1, c0:c1]).any():
            behind = [t.id for t in world.objects if x0 < t.pose[0] < x1 and y0 < t.pose[1] < y1]
    assert behind
    assert shortest_path_length(world, world.start, behind) == math.inf
    assert shortest_path_length(world, world.start, [t.id for t in world.objects]) < math.inf


# -- valid targets ---------------------------------------------------------------------------------------------


def thing(
    object_id: int,
    category: str,
    color: str,
    x: float,
    y: float,
    z: float = 0.0,
    size=(0.5, 0.5, 0.5),
    **more,
):
    from lodestar_sim.worlds import WorldObject

    return WorldObject(
        object_id,
        category,
        f"{color} {category}",
        color,
        "wood",
        size,
        "param:box/plain",
        (x, y, z, 0.0),
        **more,
    )


@pytest.fixture
def room() -> World:
    """Return a world with a kitchen (x < 0) and a study (x > 0), 5 x 5 m each."""
    from lodestar_sim.worlds import Room

    things = (
        thing(1, "chair", "red", -4.0, 1.0),
        thing(2, "chair", "red", 1.0, 1.0),
        thing(3, "chair", "blue", 4.5, 4.5),
        thing(4, "desk", "brown", 1.8, 1.0, size=(0.8, 1.4, 0.75)),
        thing(5, "mug", "red", 1.8, 1.2, 0.75, (0.1, 0.1, 0.1), supported_by=4),
        thing(6, "mug", "red", -4.0, -2.0, 0.0, (0.1, 0.1, 0.1)),
        thing(7, "bookshelf", "white", 3.0, -2.0, size=(0.4, 1.0, 1.8)),
        thing(8, "book", "green", 3.0, -2.0, 0.8, (0.2, 0.2, 0.2), supported_by=7, contained_in=7),
        thing(9, "armchair", "red", -1.0, -1.0, size=(0.8, 0.8, 0.8)),
    )
    rooms = (
        Room(1, "kitchen", ((-5, -2.5), (0, -2.5), (0, 5), (-5, 5))),
        Room(2, "study", ((0, -2.5), (5, -2.5), (5, 5), (0, 5))),
    )
    return World("rooms", "custom", 0, (-5, -2.5, 5, 5), (0, 3, 0), rooms=rooms, objects=things)


@pytest.mark.parametrize(
    ("directive", "targets"),
    [
        ("find the desk", {4}),
        ("find the blue chair", {3}),
        ("find the red chair next to the desk", {2}),
        ("find the red chair in the kitchen", {1, 9}),
        ("find the mug on the desk", {5}),
        ("find the book in the bookshelf", {8}),
        ("find the chair closest to the desk", {2}),
        ("find the armchair", {9}),
        ("find the unicorn", set()),
        ("find the blue chair next to the desk", set()),
        ("find the desk, then the blue chair", {3}),
        ("find the green book or the blue chair", {3, 8}),
    ],
)
def test_what_is_meant(room, directive, targets):
    assert set(valid_targets(room, directive)) == targets


def test_negation(room):
    assert set(valid_targets(room, "find a chair that is not next to a desk")) == {1, 3, 9}


def test_what_names_nothing_is_refused(room):
    for text in ("", "explore the building"):
        with pytest.raises(DirectiveError):
            valid_targets(room, text)


def test_classes_and_attributes(room):
    chair, armchair = room.object(1), room.object(9)
    assert is_class(chair, "chairs") and is_class(armchair, "chair") and not is_class(chair, "armchair")
    assert has_attribute(chair, "red") and has_attribute(chair, "wooden") and not has_attribute(chair, "blue")
    assert confusable("armchair", "chair") and confusable("desk", "table") and not confusable("desk", "chair")


def test_what_stands_between_the_legs_of_a_table_is_under_it():
    scene = Scene(world_from_spec("laboratory"))
    table, under, on_top, beside = (scene.world.object(i) for i in (10, 20, 21, 40))
    assert scene.holds("Below", [under, table])
    assert not scene.holds("Below", [on_top, table]) and not scene.holds("Below", [beside, table])
    assert not scene.holds("Below", [table, under])


def test_relations_do_not_pass_walls(room):
    scene = Scene(replace(room, objects=(*room.objects, thing(20, "desk", "black", -0.3, 1.0))))
    assert not scene.holds("NextTo", [scene.world.object(2), scene.world.object(20)])
    assert scene.holds("NextTo", [scene.world.object(2), scene.world.object(4)])
