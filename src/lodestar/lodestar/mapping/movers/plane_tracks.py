"""Tracks of bodies that move in the plane: constant-velocity Kalman filter and gated association."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

MOVER_NOISE = 0.15  # m, standard deviation of a place in plan; chosen: a step, and what the mask lacks
# m/s^2, standard deviation of the constant-velocity model; chosen: a person who turns
MOVER_ACCELERATION = 2.0
MOVER_FASTEST = 2.5  # m/s, largest speed of a track; chosen: people indoors walk
# squared Mahalanobis distance of a sight that may be a track's: 99 percent of chi2 with 2 degrees of freedom
MOVER_GATE = 9.21
MOVER_MISSES = 3  # clear views of a track's place without it after which the track ends; chosen
LONGEST = 1.0  # s, longest prediction step: uncertainty does not grow further in a longer gap
_COAST = 0.7  # s in which the velocity of an unseen body halves: a hidden person may have stopped


@dataclass(eq=False, kw_only=True)
class PlaneTrack:
    """Kalman state of one body in odom.

    mean: x, y, vx, vy, metres and m/s. covariance: (4, 4). first_seen, last_seen: stamps, seconds.
    """

    mean: np.ndarray
    covariance: np.ndarray
    first_seen: float
    last_seen: float
    sights: int = 1
    misses: int = 0

    def predict(self, step: float) -> None:
        """Predict the state `step` seconds ahead."""
        move = np.eye(4)
        move[0, 2] = move[1, 3] = step
        push = np.array([[step**2 / 2, 0.0], [0.0, step**2 / 2], [step, 0.0], [0.0, step]])
        self.mean = move @ self.mean
        self.covariance = move @ self.covariance @ move.T + push @ push.T * MOVER_ACCELERATION**2

    def update(self, place: np.ndarray, stamp: float) -> None:
        """Correct the state by an observation at place (2,)."""
        gain = self.covariance[:, :2] @ np.linalg.inv(self.covariance[:2, :2] + np.eye(2) * MOVER_NOISE**2)
        self.mean = self.mean + gain @ (place - self.mean[:2])
        self.covariance = self.covariance - gain @ self.covariance[:2]
        speed = float(np.linalg.norm(self.mean[2:]))
        self.mean[2:] *= min(1.0, MOVER_FASTEST / max(speed, 1e-9))
        self.last_seen, self.sights, self.misses = stamp, self.sights + 1, 0

    def coast(self, step: float) -> None:
        """Reduce the velocity for `step` seconds without an observation."""
        self.mean[2:] *= 0.5 ** (step / _COAST)


def new_belief(place: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return mean (4,) and covariance (4, 4) of a body after one observation at place (2,)."""
    spread = np.diag([MOVER_NOISE**2] * 2 + [(MOVER_FASTEST / 2.0) ** 2] * 2)
    return np.array([*place, 0.0, 0.0]), spread


def associate(tracks: Sequence[PlaneTrack], places: np.ndarray) -> list[tuple[int, int]]:
    """Return pairs of indices (track, place) whose distance lies within the gate, assigned nearest first.

    places: (N, 2), metres in odom.
    """
    if not tracks or not len(places):
        return []
    cost = np.empty((len(tracks), len(places)))
    for row, track in enumerate(tracks):
        spread = track.covariance[:2, :2] + np.eye(2) * MOVER_NOISE**2
        off = places - track.mean[:2]
        cost[row] = np.einsum("ij,jk,ik->i", off, np.linalg.inv(spread), off)
    pairs = list[tuple[int, int]]()
    while float(cost.min()) <= MOVER_GATE:
        row, column = (int(i) for i in np.unravel_index(int(cost.argmin()), cost.shape))
        pairs.append((row, column))
        cost[row], cost[:, column] = np.inf, np.inf
    return pairs
