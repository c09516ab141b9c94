"""Records of the states that the Go2 publishes."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

LEGS = ("FR", "FL", "RR", "RL")  # order of the motors and of the feet
LEG_LINK = 0.213  # m, length of thigh and calf (go2_description)
CALF_LARGEST = -0.5  # rad; the joint's range ends at -0.84 (go2_description)
LIMP = 1001  # error_code of a limp robot
JOINTS = tuple(f"{leg}_{joint}_joint" for leg in LEGS for joint in ("hip", "thigh", "calf"))


@dataclass(frozen=True)
class SportState:
    """State of the sport service.

    stamp: seconds of the robot's clock. position: (3,) metres in a frame at the place where the robot was switched on.
    quaternion: (4,) w, x, y, z of the body. body_height: metres above the floor, 0 = unknown.
    foot_force: (4,) raw, in the order of LEGS.
    """

    stamp: float
    position: np.ndarray
    quaternion: np.ndarray
    gyroscope: np.ndarray  # (3,) rad/s
    accelerometer: np.ndarray  # (3,) m/s^2
    body_height: float = 0.0
    error_code: int = 0  # the robot's state, such as 1001 limp and 1002 joints locked; not an error
    mode: int = 0
    foot_force: tuple[int, ...] = (0, 0, 0, 0)


@dataclass(frozen=True)
class LowState:
    """State of motors and battery. positions, velocities, torques: (12,) rad, rad/s, N m, in the order of JOINTS."""

    tick: int  # ms of the robot controller's clock
    positions: np.ndarray
    velocities: np.ndarray
    torques: np.ndarray
    temperatures: tuple[int, ...] = ()  # degrees Celsius of each motor
    charge: float = float("nan")  # battery charge in [0, 1]
    voltage: float = float("nan")  # volts
    current: float = float("nan")  # amperes, negative while discharging
    lost: tuple[int, ...] = field(default=())  # packets lost per motor

    @property
    def leg_height(self) -> float:
        """Return the median height of the hips above the feet, metres; NaN if no angles are reported."""
        thighs, calves = self.positions[1::3], self.positions[2::3]
        if not (calves < CALF_LARGEST).all():  # a robot that reports no angles sends zeros
            return float("nan")
        return float(np.median(LEG_LINK * (np.cos(thighs) + np.cos(thighs + calves))))
