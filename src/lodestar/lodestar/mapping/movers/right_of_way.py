"""Right of way of people: bounds the robot's velocity by the movers around it."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from lodestar.grid.config import Footprint
from lodestar.mapping.movers.mover_tracks import MoverTrack

ARM = (
    0.7  # m between the bodies within which the robot does not move towards a mover; chosen: an arm's length
)
TOUCH = 0.3  # m between the bodies within which the robot stops, so that a mover can pass; chosen
FRESH = 0.5  # s since a track's stamp after which it has no effect; chosen: two turns of the range sensor
# s from a mover's motion to the robot's braking, chosen: a turn, and the periods of commands; m/s^2, chosen: a
# quarter of the simulated base's
_DELAY, _BRAKING = 0.4, 1.0
_BODY = 0.25  # m, least radius of a mover; chosen: half the shoulders of an adult
_STEPS = np.array([[0.0], [0.01], [0.2], [0.4]])  # s ahead at which gaps are compared; chosen
_STILL = 0.02  # m/s below which a gap does not change; chosen

Velocity = tuple[float, float, float]


def permitted(
    velocity: Velocity, pose: np.ndarray, movers: Iterable[MoverTrack], now: float, body: Footprint
) -> tuple[Velocity, str]:
    """Return the velocity (vx, vy, wz) scaled down so that the robot yields to movers, and the reason.

    The reason is "" if the velocity is unchanged. The velocity is low enough that the robot can stop at ARM
    metres from an approaching mover. Within ARM it does not move towards a mover, and moves only away from an
    approaching one; within TOUCH it stops. Tracks that are old or not finite have no effect. pose: (3,) x, y,
    yaw in map. now: seconds. body: outline of the robot.
    """
    rows = [(*m.place[:2], *m.velocity, max(m.size[:2]) / 2.0, m.stamp) for m in movers]
    known = np.array(rows, np.float64).reshape(-1, 6)
    known = known[np.isfinite(known).all(axis=1) & (abs(now - known[:, 5]) <= FRESH)]
    if not len(known) or not any(velocity):
        return velocity, ""
    places, radius = known[:, :2] + known[:, 2:4] * (now - known[:, 5:]), np.maximum(known[:, 4], _BODY)
    (vx, vy, turn), c, s = velocity, np.cos(pose[2]), np.sin(pose[2])
    ahead = body.gaps(pose + _STEPS * (c * vx - s * vy, s * vx + c * vy, turn), places) - radius
    later = body.gaps(pose[None], places + _STEPS[1] * known[:, 2:4])[0] - radius
    nears = ((ahead[0] - ahead[1:]) / _STEPS[1:]).max(axis=0)  # m/s, closing speed by the robot's motion
    comes = np.maximum((ahead[0] - later) / _STEPS[1], 0.0)  # m/s, closing speed by the mover's motion
    room, lag = np.maximum(ahead[0] - ARM - _DELAY * comes, 0.0), _DELAY + comes / _BRAKING
    bound = _BRAKING * (np.sqrt(lag**2 + 2.0 * room / _BRAKING) - lag)
    shares = np.where(nears > 0.0, np.minimum(bound / np.maximum(nears, 1e-9), 1.0), 1.0)
    shares[(ahead[0] <= TOUCH) | (ahead[0] <= ARM) & (comes > _STILL) & (nears > -_STILL)] = 0.0
    share, away = float(shares.min()), max(float(ahead[0, shares.argmin()]), 0.0)
    why = f"yields to a person {away:.1f} m away" if share < 1.0 else ""
    return (share * vx, share * vy, share * turn), why
