"""Scans of a range sensor, each with the poses at its stamp (a "turn"), as inputs of the chains."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class LidarTurn:
    """Scan of one revolution of a LiDAR. points: (N, 3), metres in the LiDAR's frame. Poses: (4, 4).

    odom_from_base: locates the floor under the base, and the points that lie on the robot itself.
    """

    stamp: float
    points: np.ndarray
    odom_from_sensor: np.ndarray
    map_from_odom: np.ndarray
    odom_from_base: np.ndarray


@dataclass(frozen=True)
class ScannerTurn:
    """A planar scan. ranges: (N,), metres; angles: of the first beam, and step, rad. Poses: (4, 4)."""

    stamp: float
    ranges: np.ndarray
    angles: tuple[float, float]
    range_max: float
    odom_from_sensor: np.ndarray
    map_from_odom: np.ndarray
    odom_from_base: np.ndarray

    @property
    def points(self) -> np.ndarray:
        """Return the points (N, 3) that the beams hit, metres in the scanner's frame."""
        return scan_points(self.ranges, *self.angles)

    @property
    def unmet(self) -> np.ndarray:
        """Return (K, 3) points at `range_max` on beams without a return (+inf), metres, scanner's frame."""
        reach = np.where(np.isposinf(self.ranges), self.range_max, np.nan)
        return scan_points(reach, *self.angles)


def scan_points(ranges: np.ndarray, first: float, step: float) -> np.ndarray:
    """Return the points (N, 3) hit by a planar scan, metres in its frame. first, step: angles, rad."""
    told = np.isfinite(ranges)
    angles = first + step * np.flatnonzero(told)
    reach = np.asarray(ranges, np.float64)[told]
    return np.stack([np.cos(angles) * reach, np.sin(angles) * reach, np.zeros(len(reach))], axis=-1)


RangeTurn = LidarTurn | ScannerTurn
