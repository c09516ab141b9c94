"""Requests to the Go2's sport service, as records."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from enum import IntEnum

ID_BLOCK = 1 << 20  # request ids per process of go2_base: 14 hours of walking at 20 Hz


class SportApi(IntEnum):
    """Numbers of the sport service's requests (unitree_ros2, SportClient)."""

    DAMP = 1001  # motors go limp
    BALANCE_STAND = 1002
    STOP_MOVE = 1003
    STAND_UP = 1004
    STAND_DOWN = 1005  # lie down
    RECOVERY_STAND = 1006  # stand up from any posture
    MOVE = 1008
    # for firmware before "AI mode"; newer firmware refuses it and climbs with its own gait
    SWITCH_GAIT = 1011


@dataclass(frozen=True)
class SportRequest:
    """A request to the sport service. parameter: JSON, "" = none."""

    api: SportApi
    parameter: str = ""


STOP = SportRequest(SportApi.STOP_MOVE)
TROT, CLIMB = (SportRequest(SportApi.SWITCH_GAIT, json.dumps({"data": gait})) for gait in (1, 3))


def move(velocity: tuple[float, float, float]) -> SportRequest:
    """Return the request to walk with a velocity: m/s forwards, m/s to the left, rad/s counter-clockwise.

    Raises ValueError for a velocity that is not finite.
    """
    if not all(map(math.isfinite, velocity)):
        raise ValueError(f"velocity {velocity} is not finite")
    x, y, turn = velocity
    return SportRequest(SportApi.MOVE, json.dumps({"x": x, "y": y, "z": turn}))
