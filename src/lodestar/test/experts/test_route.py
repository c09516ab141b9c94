"""Routes over stops."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.experts.route import best_route


def problem(seed: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Costs (K + 1, K + 1) between points of the plane and masses (K,)."""
    rng = np.random.default_rng(seed)
    points = rng.uniform(0.0, 20.0, (count + 1, 2))
    return np.linalg.norm(points[:, None] - points[None], axis=2), rng.uniform(0.5, 20.0, count)


def latency(costs, masses, order) -> float:
    arrivals = np.cumsum([costs[a, b] for a, b in itertools.pairwise([0, *(np.array(order) + 1)])])
    return float(masses[np.array(order)] @ arrivals)


@given(st.integers(0, 10_000), st.integers(1, 6))
@settings(max_examples=60, deadline=None)
def test_a_short_route_is_nearly_the_best_and_tells_its_latency(seed, count):
    costs, masses = problem(seed, count)
    order, value = best_route(costs, masses)
    assert sorted(order) == list(range(count))
    assert value == pytest.approx(latency(costs, masses, order))
    best = min(latency(costs, masses, o) for o in itertools.permutations(range(count)))
    assert best <= value * (1 + 1e-9) and value <= 1.1 * best


@given(st.integers(0, 10_000))
@settings(max_examples=40, deadline=None)
def test_the_rest_of_a_route_stays_best_while_it_is_driven(seed):
    costs, masses = problem(seed, 5)
    order = min(itertools.permutations(range(5)), key=lambda o: latency(costs, masses, o))
    half = costs.copy()  # half way to the first stop, on the straight line between
    first = order[0] + 1
    half[0, 1:] = half[1:, 0] = costs[0, first] / 2.0 + costs[first, 1:]
    half[0, first] = half[first, 0] = costs[0, first] / 2.0
    others = [latency(half, masses, o) for o in itertools.permutations(range(5))]
    assert latency(half, masses, order) == pytest.approx(min(others))


def test_much_mass_draws_the_route_and_a_forced_first_stop_stays_first():
    costs = np.array([[0.0, 2.0, 3.0], [2.0, 0.0, 5.0], [3.0, 5.0, 0.0]])
    assert best_route(costs, np.array([1.0, 10.0]))[0].tolist() == [1, 0]
    assert best_route(costs, np.array([10.0, 1.0]))[0].tolist() == [0, 1]
    order, value = best_route(costs, np.array([1.0, 10.0]), first=0)
    assert order.tolist() == [0, 1] and value == 2.0 + 70.0


def test_what_is_near_and_small_comes_before_what_is_far_and_large_only_if_it_pays():
    costs = np.array([[0.0, 0.2, 10.0], [0.2, 0.0, 10.0], [10.0, 10.0, 0.0]])
    assert best_route(costs, np.array([1.0, 30.0]))[0].tolist() == [0, 1]
    assert math.isclose(best_route(costs[:2, :2], np.array([3.0]))[1], 0.6)
