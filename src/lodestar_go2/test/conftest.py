"""Fixtures with states of a robot."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from lodestar_go2.states import SportState


@pytest.fixture
def state() -> Callable[..., SportState]:
    """Return a function that creates the state of a standing robot at x, y, yaw."""

    def make(stamp: float, x: float = 0.0, y: float = 0.0, yaw: float = 0.0, **changes) -> SportState:
        given = {
            "stamp": stamp,
            "position": np.array([x, y, 0.31 + 0.2]),  # its z has an arbitrary offset
            "quaternion": np.array([math.cos(yaw / 2.0), 0.0, 0.0, math.sin(yaw / 2.0)]),
            "gyroscope": np.zeros(3),
            "accelerometer": np.array([0.0, 0.0, 9.81]),
            "body_height": 0.31,
        }
        return SportState(**(given | changes))

    return make
