"""Tests of the floor that one camera's views have left for a step's thing."""

from __future__ import annotations

import math

import numpy as np
import pytest
from expert_worlds import CAMERA, camera_pose, furnished, red_chair, request, thing

from lodestar.experts.unseen_floor import UNSEEN_ALIKE, UNSEEN_BESIDE_LEFT, UnseenFloor
from lodestar.grid.config import LookConfig
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import SceneDelta

CHAIR = (5.0, 4.0)
RED = thing(1, *CHAIR, "red chair")
MANY = tuple(thing(k, 1.0 + 0.9 * k, 7.2, "red chair") for k in range(1, UNSEEN_ALIKE + 2))


@pytest.mark.parametrize(
    "eyes, things, relation, again",
    [
        ("nanodet", (RED,), "NextTo", True),  # it overlooks every other desk
        ("", (RED,), "NextTo", False),  # a desk would have been seen
        ("nanodet", (RED,), None, False),  # no desk is needed
        ("nanodet", (thing(1, *CHAIR, "blue chair"),), "NextTo", False),
        ("nanodet", (), "NextTo", False),
        ("nanodet", MANY, "NextTo", False),  # any may be meant
    ],
)
def test_floor_beside_what_may_be_the_target_is_looked_at_again_until_its_neighbour_would_have_been_seen(
    eyes, things, relation, again
):
    grid, mirror = furnished(*things), SceneMirror()
    mirror.apply(SceneDelta(0.0, 1, 0, things))
    floor = UnseenFloor(LookConfig(eyes=eyes), 0.45, math.radians(80.0))
    floor.set_grid(grid)
    asked = request((1.0, 1.0, 0.0), red_chair(relation))
    for views, unseen in ((1, again), (120, False)):
        for k in range(views):
            angle = 2.0 * math.pi * k / views
            pose = camera_pose(CHAIR[0] - 2.0 * math.cos(angle), CHAIR[1] - 2.0 * math.sin(angle), angle)
            floor.add_view(pose, CAMERA, 9.0)
        floor.begin(asked, mirror)
        left, _, _ = floor.left(asked, grid, mirror, beside=True)
        beside, far = (left[tuple(grid.cells_of(np.array([p]))[0])] for p in ((5.2, 5.0), (6.9, 5.9)))
        assert bool(beside == UNSEEN_BESIDE_LEFT) is unseen and far < 0.9, (beside, far)
        assert (
            floor.left(asked, grid, mirror)[0].max() <= 1.0 and (left[left < 1.0] <= UNSEEN_BESIDE_LEFT).all()
        )
