"""Tests that surfaces and instances of a map stay in one frame."""

import math

import numpy as np
import pytest

from lodestar.geometry.poses import planar_transform, transform_points
from lodestar.mapping.semantic_voxels import SemanticVoxelMap


@pytest.fixture
def mapped(box_world, box, orbit):
    """Return a map of a crate and a plant, its world, and the poses of the views."""
    world = box_world(
        [box("crate", (-0.4, -0.4, 0.0), (0.4, 0.4, 0.8)), box("plant", (1.2, 1.2, 0), (1.5, 1.5, 0.6))]
    )
    voxels, poses = SemanticVoxelMap(), orbit((0.4, 0.4), 2.2, 0, 360, 24)
    for i, pose in enumerate(poses):
        frame, segmented = world.frame(0.25 * (i + 1), *pose)
        voxels.integrate_depth(frame)
        voxels.fuse(frame, segmented)
    return voxels, world, poses


def parts(voxels):
    """Return the mesh vertices by the label of their instance, "" = none."""
    mesh = voxels.mesh()
    labels = {i: one.votes[0].label for i, one in voxels.instances().items()}
    owners = voxels.instances_at(mesh.vertices)
    names = np.array([labels.get(i, "") for i in owners.tolist()])
    return {name: mesh.vertices[names == name] for name in ("crate", "plant", "")}


def test_the_mesh_of_an_instance_lies_on_its_box(mapped):
    found = parts(mapped[0])
    for box in mapped[1].boxes:
        vertices = found[box.label]
        assert len(vertices) > 100
        np.testing.assert_allclose(np.percentile(vertices, 2, axis=0), box.low, atol=0.09)
        np.testing.assert_allclose(np.percentile(vertices, 98, axis=0), box.high, atol=0.09)
    assert len(found[""]) > 1000  # floor and walls belong to no instance


def test_depth_alone_builds_surfaces_but_no_instances(box_world, box):
    world, voxels = box_world([box("crate", (-0.4, -0.4, 0.0), (0.4, 0.4, 0.8))]), SemanticVoxelMap()
    for i in range(3):
        voxels.integrate_depth(world.frame(1.0 + i, -2.0, 0.0, 0.0)[0])
    mesh = voxels.mesh()
    assert (
        len(mesh.vertices) > 500 and not voxels.instances() and not voxels.instances_at(mesh.vertices).any()
    )


def test_a_jump_moves_surfaces_and_instances_together(mapped):
    voxels, world, poses = mapped
    before = parts(voxels)
    jump = planar_transform(0.6, -2.8, math.radians(5))  # a jump too large for drift
    moved = np.linalg.inv(jump)
    voxels.integrate_depth(world.frame(50.0, *poses[0], map_from_odom=jump, true_from_map=moved)[0])
    after = parts(voxels)
    for name in ("crate", "plant"):
        expected = np.median(transform_points(jump, before[name].astype(float)), axis=0)
        np.testing.assert_allclose(np.median(after[name], axis=0), expected, atol=0.05)


def test_points_far_from_everything_belong_to_nobody(mapped):
    points = np.array([[50.0, 0, 0], [1e6, 1e6, 0], [0, 0, -30.0]])
    assert mapped[0].instances_at(points).tolist() == [0, 0, 0]
    assert mapped[0].instances_at(np.zeros((0, 3))).shape == (0,)
