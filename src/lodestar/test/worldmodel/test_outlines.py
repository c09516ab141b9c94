"""Tests of area outlines: accepted ones have one interior, by exact arithmetic and by the winding number."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.grid.fence import inside
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.worldmodel.amendment_checks import outline_fault

SQUARE = [(0, 0), (4, 0), (4, 4), (0, 4)]
STAR = [(0.0, 3.0), (-1.8, -2.4), (2.9, 0.9), (-2.9, 0.9), (1.8, -2.4)]
CORNERS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=3, max_size=9)


def shared(one, other):
    """Return the ends of the common part of two segments, exactly; () = none."""
    (p, p1), (q, q1) = one, other
    r, s, d = [(b[0] - a[0], b[1] - a[1]) for a, b in ((p, p1), (q, q1), (p, q))]
    cross = r[0] * s[1] - r[1] * s[0]
    if cross:
        t = Fraction(d[0] * s[1] - d[1] * s[0], cross)
        u = Fraction(d[0] * r[1] - d[1] * r[0], cross)
        return ((p[0] + t * r[0], p[1] + t * r[1]),) if 0 <= t <= 1 and 0 <= u <= 1 else ()
    if d[0] * r[1] - d[1] * r[0]:
        return ()
    low, high = max(min(p, p1), min(q, q1)), min(max(p, p1), max(q, q1))  # by x, then by y, along one line
    return () if low > high else (low,) if low == high else (low, high)


def is_simple(corners):
    """Return whether edges share only the corners between neighbours."""
    edges = list(zip(corners, [*corners[1:], corners[0]], strict=True))
    for (i, one), (j, other) in combinations(enumerate(edges), 2):
        common = {*one} & {*other} if j - i in (1, len(edges) - 1) else set()
        if {*shared(one, other)} != common or (j - i in (1, len(edges) - 1) and len(common) != 1):
            return False
    return len({*corners}) == len(corners)


@settings(max_examples=400, deadline=None)
@given(CORNERS)
def test_an_outline_is_taken_exactly_where_its_edges_meet_at_its_corners_alone(corners):
    assert (outline_fault(corners) == "") == is_simple(corners)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.floats(-4.5, 4.5), st.floats(-4.5, 4.5)), min_size=3, max_size=7))
def test_every_place_that_a_taken_outline_winds_around_is_closed(corners):
    if outline_fault(corners):
        return
    grid = OccupancyGrid2D(np.zeros((100, 100), np.int8), 0.1, (-5.0, -5.0))
    places = grid.points_of(np.argwhere(np.ones((100, 100), bool)))
    to = np.array(corners)[None] - places[:, None]
    angle = np.arctan2(to[..., 1], to[..., 0])
    turn = (np.roll(angle, -1, axis=1) - angle + np.pi) % (2 * np.pi) - np.pi
    around = np.abs(turn.sum(axis=1)) > np.pi
    begin, step = np.array(corners), np.roll(corners, -1, axis=0) - np.array(corners)
    long = np.maximum((step**2).sum(axis=1), 1e-12)
    share = np.clip(((places[:, None] - begin) * step).sum(axis=2) / long, 0.0, 1.0)
    edge = np.linalg.norm(places[:, None] - begin - share[..., None] * step, axis=2).min(axis=1)
    clear = edge > 0.2  # excludes cells at the edge, which is drawn wide and has corners on cells
    np.testing.assert_array_equal(inside(corners, grid).ravel()[clear], around[clear])


@pytest.mark.parametrize("corners", [SQUARE * 2, [*SQUARE, SQUARE[0]]])
def test_corners_given_twice_are_refused(corners):
    assert "in one place" in outline_fault(corners)


@pytest.mark.parametrize(
    "corners", [STAR, [(0, 0), (4, 4), (4, 0), (0, 4)], [(0, 0), (4, 0), (2, 0), (2, 3)]]
)
def test_an_outline_that_crosses_or_folds_over_itself_is_refused(corners):
    assert "crosses itself" in outline_fault(corners)
    assert outline_fault(SQUARE) == ""
