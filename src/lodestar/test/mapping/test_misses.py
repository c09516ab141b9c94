"""Tests that an object in clear view without a mask counts as missed, and a hidden one does not."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lodestar.mapping.semantic_voxels import SemanticVoxelMap


def drive(world, poses, voxels):
    """Fuse one frame per pose, 0.25 s apart; return the deltas."""
    return [voxels.fuse(*world.frame(0.25 * (i + 1), *pose)) for i, pose in enumerate(poses)]


@pytest.fixture
def chair(box):
    return box("chair", (-0.25, -0.25, 0.0), (0.25, 0.25, 0.9), "a red chair")


@pytest.fixture
def misses_of(box_world, chair, orbit, segment_nothing):
    """Return the misses of a mapped chair in 12 frames without detections, 1 s apart, from `poses`."""

    def look(poses=None, hidden_by=None, spoil=None):
        world, voxels = box_world([chair]), SemanticVoxelMap()
        drive(world, orbit((0, 0), 2.0, -40, 40, 10), voxels)
        (known,) = voxels.instances().values()
        if hidden_by is not None:
            world.boxes.append(hidden_by)
        misses = []
        for i, pose in enumerate(poses or orbit((0, 0), 2.0, -20, 20, 12)):
            frame, _ = world.frame(20.0 + i, *pose)
            if spoil is not None:
                frame.depth[...] = spoil(frame.depth)
            delta = voxels.fuse(frame, segment_nothing(frame))
            assert not delta.absences
            misses += delta.misses
        assert {miss.instance_id for miss in misses} <= {known.id}
        return misses

    return look


def test_a_thing_in_clear_view_that_is_not_detected_is_missed(misses_of):
    misses = misses_of()
    assert len(misses) == 12
    assert min(m.clear_share for m in misses) > 0.9 and min(m.pixels for m in misses) > 8000
    assert [m.stamp for m in misses] == [20.0 + i for i in range(12)]


@pytest.mark.parametrize(
    "low, high",
    [((0.8, -1.0, 0.0), (0.9, 1.0, 2.0)), ((0.8, -1.0, 0.0), (1.2, 1.0, 0.75))],
    ids=["wall", "sofa"],
)
def test_what_stands_behind_something_is_not_missed(misses_of, box, low, high):
    assert misses_of(hidden_by=box("sofa", low, high)) == []


def test_what_the_edge_of_the_image_cuts_or_is_far_away_is_not_missed(misses_of):
    at_the_edge = [(2.0, 0.0, math.pi + math.radians(a)) for a in (41.0, -41.0, 60.0, 180.0)]
    assert misses_of(poses=at_the_edge) == []
    assert misses_of(poses=[(4.5, 0.0, math.pi)] * 3) == []


@pytest.mark.parametrize("value", [0.0, np.nan, np.inf])
def test_where_depth_measured_nothing_nothing_is_missed(misses_of, value):
    middle = np.abs(np.arange(160) - 80) < 50
    assert misses_of(spoil=lambda depth: np.where(middle, np.float32(value), depth)) == []


def test_what_was_detected_is_not_missed(box_world, chair, orbit):
    deltas = drive(box_world([chair]), orbit((0, 0), 2.0, 0, 360, 30), SemanticVoxelMap())
    assert not [m for d in deltas for m in d.misses]
