"""States that the Go2 publishes, as records."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

LEGS = ("FR", "FL", "RR", "RL")  # order of the motors and of the feet
JOINTS = tuple(f"{leg}_{joint}_joint" for leg in LEGS for joint in ("hip", "thigh", "calf"))


@dataclass(frozen=True)
class SportState:
    """State of the sport service.

    stamp: seconds of the robot's clock. position: (3,) metres in a frame that begins where the robot was switched on.
    quaternion: (4,) w, x, y, z of the body. body_height: metres above the floor, 0 = not given.
    foot_force: (4,) raw, in the order of LEGS.
    """

    stamp: float
    position: np.ndarray
    quaternion: np.ndarray
    gyroscope: np.ndarray  # (3,) rad/s
    accelerometer: np.ndarray  # (3,) m/s^2
    body_height: float = 0.0
    error_code: int = 0  # a Go2 tells its state in it, such as 1001 limp and 1002 joints locked: no error
    mode: int = 0
    foot_force: tuple[int, ...] = (0, 0, 0, 0)


@dataclass(frozen=True)
class LowState:
    """State of motors and battery. positions, velocities, torques: (12,) rad, rad/s, N m, in the order of JOINTS."""

    tick: int  # ms of the robot's controller
    positions: np.ndarray
    velocities: np.ndarray
    torques: np.ndarray
    temperatures: tuple[int, ...] = ()  # degrees Celsius, of the motors
    charge: float = float("nan")  # [0, 1]
    voltage: float = float("nan")  # V
    current: float = float("nan")  # A, negative while it discharges
    lost: tuple[int, ...] = field(default=())  # packets lost per motor
