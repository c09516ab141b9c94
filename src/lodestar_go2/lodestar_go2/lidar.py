"""Processing of LiDAR clouds: transform to base_link, removal of the robot's body, deskewing, planar scan."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from lodestar.geometry.poses import make_transform, transform_points

SCAN_STEP = math.radians(0.5)  # rad between two beams of the scan; chosen
SCAN_RANGE_MIN = 0.3  # m, least range of the scan; chosen
SCAN_RANGE_MAX = 20.0  # m, largest range of the scan; chosen
SCAN_ANGLE = -math.pi + SCAN_STEP / 2.0  # rad, of the first beam: the middle of its sector


@dataclass(frozen=True)
class ScanConfig:
    """Box of the robot's body, whose points are removed, and height band of the scan; both in base_link."""

    body_length: float = 0.76  # m, of the box around base_link whose points are the robot's own; chosen
    body_width: float = 0.42  # m, of that box; chosen
    body_height: float = 0.60  # m, of that box; chosen
    scan_low: float = -0.15  # m above base_link, lower end of the scan's band; chosen: above the floor
    scan_high: float = 0.25  # m above base_link, upper end; chosen: chair legs and people

    def __post_init__(self) -> None:
        if self.scan_low >= self.scan_high:
            raise ValueError("scan_low lies below scan_high")


@dataclass(frozen=True)
class CloudScanConfig:
    """Parameters of the scan from a simulator's cloud, and frames that the simulator does not publish."""

    scan: ScanConfig = field(default_factory=ScanConfig)  # of the cloud, in base_link
    # "parent=child": published as a transform without translation and rotation, so that a frame has a second name
    equal_frames: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.pairs()

    def pairs(self) -> list[tuple[str, str]]:
        """Return (parent, child) of `equal_frames`. Raises ValueError for one that is not "parent=child"."""
        found = []
        for text in self.equal_frames:
            parent, sign, child = (part.strip().lstrip("/") for part in text.partition("="))
            if not (parent and sign and child) or parent == child:
                raise ValueError(f'equal_frames has {text!r}; write "parent=child", two names of frames')
            found.append((parent, child))
        return found


@dataclass(frozen=True)
class LidarConfig(ScanConfig):
    """Topic and mounting pose of the LiDAR, by default the built-in one, and the parameters of its scan."""

    topic: str = "utlidar/cloud"  # its PointCloud2; the built-in L1 (Unitree); "livox/lidar" for a Mid-360
    # Pose of the built-in L1 in base_link (go2_description's joint `radar`): it looks forwards and down, upside down.
    x: float = 0.28945  # m (go2_description)
    y: float = 0.0  # m (go2_description)
    z: float = -0.046825  # m (go2_description)
    roll: float = 0.0  # rad (go2_description)
    pitch: float = 2.8782  # rad (go2_description)
    yaw: float = 0.0  # rad (go2_description)

    @property
    def base_from_sensor(self) -> np.ndarray:
        """Return the pose of the sensor in base_link, (4, 4)."""
        return make_transform(_rotation(self.roll, self.pitch, self.yaw), (self.x, self.y, self.z))

    @property
    def base_from_lidar(self) -> np.ndarray:
        """Return the pose of `lidar_link` in base_link, (4, 4): at the sensor, with the axes of base_link."""
        return make_transform(np.eye(3), (self.x, self.y, self.z))


def _rotation(roll: float, pitch: float, yaw: float) -> np.ndarray:
    cr, sr, cp, sp, cy, sy = (f(a) for a in (roll, pitch, yaw) for f in (math.cos, math.sin))
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def deskewed(points: np.ndarray, ages: np.ndarray, velocity: tuple[float, float, float]) -> np.ndarray:
    """Return the points (N, 3) as seen at the end of the sweep.

    points: (N, 3) in base_link at the time of their measurement. ages: (N,) seconds before the end of the sweep.
    velocity: x, y m/s and yaw rate rad/s of base_link, assumed constant during the sweep.
    """
    x, y, turn = velocity
    angle = turn * ages
    cos, sin = np.cos(angle), np.sin(angle)
    with np.errstate(divide="ignore", invalid="ignore"):
        along = np.where(np.abs(angle) < 1e-6, ages, np.sin(angle) / turn if turn else ages)
        aside = np.where(np.abs(angle) < 1e-6, 0.0, (1.0 - np.cos(angle)) / turn if turn else 0.0)
    # (dx, dy, angle): the robot's motion since the measurement, in its pose at the measurement.
    dx, dy = x * along - y * aside, x * aside + y * along
    out = np.array(points, np.float64)
    px, py = out[:, 0] - dx, out[:, 1] - dy
    out[:, 0], out[:, 1] = cos * px + sin * py, -sin * px + cos * py
    return out


def in_base(points: np.ndarray, config: LidarConfig) -> np.ndarray:
    """Return the sensor's points (N, 3) in base_link."""
    return transform_points(config.base_from_sensor, points)


def without_body(points: np.ndarray, config: ScanConfig) -> np.ndarray:
    """Return the points (N, 3) in base_link that are not on the robot's body."""
    half = np.array([config.body_length, config.body_width, config.body_height]) / 2.0
    return points[(np.abs(points) > half).any(axis=1)]


def scan_of(points: np.ndarray, config: ScanConfig) -> np.ndarray:
    """Return ranges (M,) float32, metres, of a planar scan that starts at -pi; inf without a point in the height band.

    points: (N, 3) in base_link; beams start at base_link.
    """
    count = round(2.0 * math.pi / SCAN_STEP)
    ranges = np.full(count, np.inf, np.float32)
    band = points[(points[:, 2] >= config.scan_low) & (points[:, 2] <= config.scan_high)]
    distance = np.hypot(band[:, 0], band[:, 1])
    near = (distance >= SCAN_RANGE_MIN) & (distance <= SCAN_RANGE_MAX)
    beam = np.floor((np.arctan2(band[near, 1], band[near, 0]) + math.pi) / SCAN_STEP).astype(int)
    np.minimum.at(ranges, np.clip(beam, 0, count - 1), distance[near].astype(np.float32))
    return ranges
