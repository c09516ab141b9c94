"""In which order to visit stops so that what they show is seen as early as possible on the way.

The sum over stops of mass x distance driven until the stop is the weighted latency of a route. Divided by the
mass, it is the distance after which a target is expected to be seen that lies anywhere in proportion to mass:
exploring a floor early on and finding a thing soon are one objective. The rest of a best route stays best while
the robot drives along it and nothing new is learnt, so it gives no reason to turn back half way.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def _latency(costs, masses, order):
    total, arrival, here = 0.0, 0.0, 0
    for stop in order:
        arrival += costs[here, stop + 1]
        total += masses[stop] * arrival
        here = stop + 1
    return total


@njit(cache=True)
def _greedy(costs, masses, first, by_mass):
    """Next is always the stop of most mass per metre (by_mass), or the nearest."""
    count = len(masses)
    order = np.empty(count, np.int64)
    left = np.ones(count, np.bool_)
    here = 0
    for k in range(count):
        best, best_rate = -1, -1.0
        for stop in range(count):
            if not left[stop]:
                continue
            rate = (masses[stop] if by_mass else 1.0) / (costs[here, stop + 1] + 1e-3)
            if rate > best_rate:
                best, best_rate = stop, rate
        if k == 0 and first >= 0:
            best = first
        order[k] = best
        left[best] = False
        here = best + 1
    return order


@njit(cache=True)
def _improve(costs, masses, order, fixed):
    """Reverse and move runs of stops while that lowers the latency; the first `fixed` stops stay."""
    count = len(order)
    best = _latency(costs, masses, order)
    trial = order.copy()
    improved = True
    while improved:
        improved = False
        for i in range(fixed, count - 1):
            for j in range(i + 1, count):
                for kind in range(3):  # reverse i..j, move i behind j, move j before i
                    trial[:] = order
                    if kind == 0:
                        for k in range(i, j + 1):
                            trial[k] = order[i + j - k]
                    elif kind == 1:
                        trial[i:j] = order[i + 1 : j + 1]
                        trial[j] = order[i]
                    else:
                        trial[i + 1 : j + 1] = order[i:j]
                        trial[i] = order[j]
                    value = _latency(costs, masses, trial)
                    if value < best * (1.0 - 1e-9):
                        best = value
                        order[:] = trial
                        improved = True
    return best


def best_route(costs: np.ndarray, masses: np.ndarray, first: int = -1) -> tuple[np.ndarray, float]:
    """The order (K,) in which to visit stops, and its latency (metres x mass).

    costs: (K + 1, K + 1) metres; row 0 is the robot, row k + 1 stop k. masses: (K,) >= 0. first: a stop that the
    route begins with, or -1. The better of two greedy routes after local search (2-opt and or-opt); the exact one
    for almost all small K, O(K^3) a round.
    """
    costs = np.ascontiguousarray(costs, np.float64)
    masses = np.ascontiguousarray(masses, np.float64)
    fixed = 1 if first >= 0 else 0
    routes = []
    for by_mass in (True, False):
        order = _greedy(costs, masses, first, by_mass)
        routes.append((float(_improve(costs, masses, order, fixed)), order))
    latency, order = min(routes, key=lambda route: route[0])
    return order, latency
