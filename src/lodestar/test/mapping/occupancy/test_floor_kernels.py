"""Tests that the compiled walk and bridges equal their plain definitions, cell by cell."""

from __future__ import annotations

import numpy as np
import pytest
from floor_reference import bridged, walk
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.geometry.poses import planar_transform
from lodestar.mapping.occupancy.floor import FloorConfig, FloorMap
from lodestar.mapping.occupancy.octomap import OctoMapConfig, OctoMapper

BRIDGES = ((0.6, 4.0), (0.6, 0.0), (0.9, 3.0))  # m, widest gaps near the robot and far from it
SHAPES = st.tuples(st.integers(1, 60), st.integers(1, 60))


@settings(max_examples=60, deadline=None)
@given(SHAPES, st.integers(0, 2**32 - 1), st.sampled_from([0.01, 0.03, 0.1]), st.floats(0.0, 1.0))
def test_the_walk_equals_its_definition(shape, seed, rough, share):
    rng = np.random.default_rng(seed)
    hits = (rng.random(shape) < share).astype(np.uint8) * rng.integers(1, 4, shape, np.uint8)
    height = np.cumsum(rng.normal(0.0, rough, shape), axis=1).astype(np.float32)
    height[hits == 0] = np.nan
    face = (rng.random(shape) < 0.1).astype(np.uint8)
    floor = FloorMap(FloorConfig(), 0.1)
    floor.grow(shape, 0, 0)
    floor.height, floor.hits, floor.face = height, hits, face
    seeds = rng.random(shape) < 0.05
    found, reference = floor.walk(seeds)
    wanted, wanted_reference = walk(height, hits, face, seeds, 0.1)
    assert np.array_equal(found, wanted)
    assert np.array_equal(reference, wanted_reference, equal_nan=True)


@settings(max_examples=60, deadline=None)
@given(SHAPES, st.integers(0, 2**32 - 1), st.sampled_from([0.01, 0.05, 0.3, 0.9]), st.sampled_from(BRIDGES))
def test_the_bridges_equal_their_definition(shape, seed, share, widest):
    rng = np.random.default_rng(seed)
    seen, foot = rng.random(shape) < share, rng.random(shape) < 0.03
    foot &= ~seen
    distance = rng.random(shape) * 60.0
    distance[rng.random(shape) < 0.3] = np.inf
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lodestar.mapping.occupancy.floor_shapes.FLOOR_BRIDGE", widest[0])
        floor = FloorMap(FloorConfig(far_bridge=widest[1]), 0.1)
        floor.grow(shape, 0, 0)
        floor.closest = distance.astype(np.float32)
        wanted = bridged(seen, foot, floor.closest * np.float32(0.1), 0.1, widest[1])
        assert np.array_equal(floor.bridged(seen, foot), wanted)


def ground(rng: np.random.Generator, foot: np.ndarray, drop: float) -> np.ndarray:
    """Return hits (N, 3), frame of a sensor 0.5 m above its foot: ground that drops by `drop` metres at x = 2."""
    reach, angle = rng.uniform(0.4, 5.0, 1500), rng.uniform(-np.pi, np.pi, 1500)
    points = np.column_stack([reach * np.cos(angle), reach * np.sin(angle), np.full(1500, -0.5)])
    points[points[:, 0] + foot[0] > 2.0, 2] -= drop
    points[:300, 2] += rng.uniform(0.0, 1.5, 300)
    return points


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.3, -0.1]))
def test_columns_projected_one_after_another_equal_those_projected_at_once(seed, drop):
    """Only changed columns are projected again, with the result of projecting all."""
    rng = np.random.default_rng(seed)
    mapper = OctoMapper(OctoMapConfig())
    for k in range(4):
        base = planar_transform(0.3 * k, 0.1 * k, 0.2 * k)
        mapper.insert_points(
            ground(rng, base[:2, 3], drop), base @ planar_transform(0.0, 0.0, 0.0, 0.5), base
        )
        plan = mapper.project(float(k))
    again = OctoMapper.from_arrays(mapper.to_arrays(), mapper.config)
    again._dirty[:] = True
    whole = again.project(4.0)
    agree = plan.cells == whole.cells
    assert agree[plan.cells != -1].all()


@pytest.mark.parametrize("base_height", [0.0, 0.32])
def test_the_cells_under_the_body_are_floor_at_the_feet(base_height):
    config = FloorConfig(base_height=base_height)
    floor = FloorMap(config, 0.1)
    floor.grow((40, 40), 0, 0)
    floor.tread(planar_transform(2.0, 2.0, 0.7, 3.0 + base_height), np.array([0, 0]))
    cells = np.argwhere(floor.trodden)
    assert 15 <= len(cells) <= 30
    assert np.allclose(floor.height[floor.trodden], 3.0)
    assert np.hypot(*((cells + 0.5) * 0.1 - 2.0).T).max() <= 0.5
