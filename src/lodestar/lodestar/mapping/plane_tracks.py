"""Bodies that move in the plane: a Kalman filter of constant velocity, and gated association."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lodestar.perception.config import MoverConfig

LONGEST = 1.0  # s of one step of prediction; after a longer gap the place is as uncertain as after that
_COAST = 0.7  # s in which the velocity of an unseen body halves: who is hidden may stand


@dataclass(eq=False, kw_only=True)
class PlaneTrack:
    """One body in odom. mean: x, y, vx, vy, metres and m/s; covariance: (4, 4); first_seen, last_seen: s."""

    mean: np.ndarray
    covariance: np.ndarray
    first_seen: float
    last_seen: float
    sights: int = 1
    misses: int = 0

    def predict(self, step: float, config: MoverConfig) -> None:
        """Move it on by `step` seconds."""
        move = np.eye(4)
        move[0, 2] = move[1, 3] = step
        push = np.array([[step**2 / 2, 0.0], [0.0, step**2 / 2], [step, 0.0], [0.0, step]])
        self.mean = move @ self.mean
        self.covariance = move @ self.covariance @ move.T + push @ push.T * config.acceleration**2

    def update(self, place: np.ndarray, stamp: float, config: MoverConfig) -> None:
        """Correct it by a sight at place (2,)."""
        gain = self.covariance[:, :2] @ np.linalg.inv(self.covariance[:2, :2] + np.eye(2) * config.noise**2)
        self.mean = self.mean + gain @ (place - self.mean[:2])
        self.covariance = self.covariance - gain @ self.covariance[:2]
        speed = float(np.linalg.norm(self.mean[2:]))
        self.mean[2:] *= min(1.0, config.fastest / max(speed, 1e-9))
        self.last_seen, self.sights, self.misses = stamp, self.sights + 1, 0

    def coast(self, step: float) -> None:
        """Slow it down by `step` seconds without a sight."""
        self.mean[2:] *= 0.5 ** (step / _COAST)


def new_belief(place: np.ndarray, config: MoverConfig) -> tuple[np.ndarray, np.ndarray]:
    """Return mean (4,) and covariance (4, 4) of a body that was seen once, at place (2,)."""
    spread = np.diag([config.noise**2] * 2 + [(config.fastest / 2.0) ** 2] * 2)
    return np.array([*place, 0.0, 0.0]), spread


def associate(tracks: Sequence[PlaneTrack], places: np.ndarray, config: MoverConfig) -> list[tuple[int, int]]:
    """Return pairs of track and place, of places (N, 2), within the gate, the nearest first (nearest neighbour)."""
    if not tracks or not len(places):
        return []
    cost = np.empty((len(tracks), len(places)))
    for row, track in enumerate(tracks):
        spread = track.covariance[:2, :2] + np.eye(2) * config.noise**2
        off = places - track.mean[:2]
        cost[row] = np.einsum("ij,jk,ik->i", off, np.linalg.inv(spread), off)
    pairs = list[tuple[int, int]]()
    while float(cost.min()) <= config.gate:
        row, column = (int(i) for i in np.unravel_index(int(cost.argmin()), cost.shape))
        pairs.append((row, column))
        cost[row], cost[:, column] = np.inf, np.inf
    return pairs
