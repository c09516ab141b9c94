"""Turns of a range sensor with the poses at their stamps, as the chains take them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class LidarTurn:
    """Returns of a LiDAR. points: (N, 3), metres in its frame. Poses: (4, 4); that of the base is for a floor layer,
    which starts from the base's place.
    """

    stamp: float
    points: np.ndarray
    odom_from_sensor: np.ndarray
    map_from_odom: np.ndarray
    odom_from_base: np.ndarray | None = None


@dataclass(frozen=True)
class ScannerTurn:
    """A planar scan. ranges: (N,), metres; angles: the first and the step, rad. Poses: (4, 4)."""

    stamp: float
    ranges: np.ndarray
    angles: tuple[float, float]
    range_max: float
    odom_from_sensor: np.ndarray
    map_from_odom: np.ndarray


RangeTurn = LidarTurn | ScannerTurn
