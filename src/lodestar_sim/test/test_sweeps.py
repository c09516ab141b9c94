"""A robot that turns while it walks touches nothing of which the plan shows a part."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from navigator_drives import RESOLUTION, free_room

from lodestar.grid.occupancy import OCCUPIED
from lodestar_sim.path_follower import Clearance, FollowerConfig, PathFollower, rolled_out

#: Share of a cell that a thing fills from which the plan has it; a few returns of an edge are none.
SHOWN = 0.2


def _with_box(low, high):
    """A free room with the cells that a box fills enough."""
    grid = free_room()
    rows, columns = grid.cells.shape
    filled = [
        np.clip(np.minimum(high[k], edge + RESOLUTION) - np.maximum(low[k], edge), 0.0, RESOLUTION)
        / RESOLUTION
        for k, edge in enumerate((RESOLUTION * np.arange(columns), RESOLUTION * np.arange(rows)))
    ]
    shown = filled[1][:, None] * filled[0][None] >= SHOWN
    return replace(grid, cells=np.where(shown, np.int8(OCCUPIED), grid.cells))


def _rim(low, high):
    """Points of the box's outline, a centimetre apart."""
    t = np.arange(0.0, 1.0, 0.02)[:, None]
    corners = np.array([low, (high[0], low[1]), high, (low[0], high[1]), low])
    return np.concatenate([a + t * (b - a) for a, b in itertools.pairwise(corners)])


def _touches(pose, rim):
    config, offsets, c, s = FollowerConfig(), rim - pose[:2], math.cos(pose[2]), math.sin(pose[2])
    along, across = offsets @ (c, s), offsets @ (-s, c)
    return bool(((np.abs(along) < config.length / 2.0) & (np.abs(across) < config.width / 2.0)).any())


@settings(max_examples=300, deadline=None)
@given(
    at=st.tuples(st.floats(3.5, 4.5), st.floats(2.5, 3.5)),
    size=st.tuples(st.floats(0.15, 0.6), st.floats(0.15, 0.6)),
    aside=st.tuples(st.floats(-0.9, 0.9), st.floats(-0.9, 0.9), st.floats(-3.1, 3.1)),
    goal=st.tuples(st.floats(1.0, 7.0), st.floats(1.0, 5.0), st.floats(-3.1, 3.1)),
)
def test_a_corner_that_is_swept_touches_no_edge_in_the_cell_beside(at, size, aside, goal):
    low, high = np.array(at), np.array(at) + size
    pose, rim = np.array([*(low + high) / 2.0, 0.0]) + aside, _rim(low, high)
    clearance, follower = Clearance(_with_box(low, high), FollowerConfig()), PathFollower(FollowerConfig())
    assume(not _touches(pose, rim) and not clearance.covered(pose[None])[0, 0])
    path = pose[:2] + np.linspace(0.0, 1.0, 40)[:, None] * (np.array(goal[:2]) - pose[:2])
    follower.take(path)
    command, _ = follower.follow(path, np.array(goal), pose, np.zeros(3), clearance)
    assume(command is not None and command[2] and command[:2].any())
    for then in rolled_out(pose, command, np.arange(1, 7) * 0.1):
        assert not _touches(then, rim), f"touched at {then} by {command}"
