"""Simulated sensor data with noise, computed from ray-cast hits."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numba as nb
import numpy as np

from lodestar.geometry.camera import PinholeCamera
from lodestar.geometry.poses import BODY_FROM_OPTICAL, make_transform
from lodestar_sim.raycast import MISS, Hits, RaycastWorld, rays_from

# Depth error of an active stereo camera: it grows with the square of the range and fails at edges.
SCAN_SIGMA = 0.01  # m, standard deviation of a range of the scan; chosen
DEPTH_NOISE_NEAR = 0.15  # m, least depth; chosen
DEPTH_NOISE_FAR = 8.0  # m, largest depth; chosen
DEPTH_NOISE_SIGMA = 0.0012  # m at 0.4 m (Nguyen et al. 2012, axial noise)
DEPTH_NOISE_SIGMA_SQUARE = 0.0019  # 1/m, times (z - 0.4)^2 (Nguyen et al. 2012)
DEPTH_NOISE_DROPOUT = 0.002  # share of pixels lost anywhere; chosen
# m, depth from which the lost share rises, to DEPTH_NOISE_FADE at DEPTH_NOISE_FAR; chosen
DEPTH_NOISE_FADE_FROM = 5.0
DEPTH_NOISE_FADE = 0.6  # share of pixels lost at DEPTH_NOISE_FAR; chosen
DEPTH_NOISE_EDGE_STEP = 0.05  # jump to an adjacent pixel, share of the depth, at an edge; chosen
DEPTH_NOISE_EDGE_DROPOUT = 0.5  # share of edge pixels lost; chosen
DEPTH_NOISE_GRAZING = 0.17  # cosine of the incidence below which pixels are lost; chosen
LIDAR_RINGS = 24  # beams of the LiDAR one above the other; chosen
LIDAR_AZIMUTHS = 360  # beams per ring; chosen
LIDAR_LOWEST = math.radians(-35.0)  # rad, elevation of the lowest ring; chosen
LIDAR_HIGHEST = math.radians(30.0)  # rad, elevation of the highest ring; chosen
LIDAR_NEAR = 0.15  # m, least range; chosen
LIDAR_FAR = 20.0  # m, largest range; chosen
LIDAR_SIGMA = 0.015  # m, standard deviation of the range; chosen
LIDAR_DROPOUT = 0.01  # share of returns lost; chosen


@dataclass(frozen=True)
class CameraConfig:
    """A depth camera with depth registered to colour. All values are assumptions."""

    width: int = 640  # pixels
    height: int = 480  # pixels
    fx: float = 380.0  # pixels at this width
    fy: float = 380.0  # pixels, likewise
    cx: float = 319.5  # pixels, the image centre
    cy: float = 239.5  # pixels, the image centre
    x: float = 0.30  # m, ahead of base_link
    z: float = 0.45  # m, above the ground between the feet
    pitch_up: float = math.radians(10.0)  # rad

    def pinhole(self, width: int | None = None, height: int | None = None) -> PinholeCamera:
        """Return the intrinsics for images of this size."""
        camera = PinholeCamera(self.width, self.height, self.fx, self.fy, self.cx, self.cy)
        return camera if width is None or height is None else camera.scaled(width, height)

    @property
    def base_from_camera_link(self) -> np.ndarray:
        """Return the transform (4, 4) base_link <- camera_link, which has body axes, x along the view."""
        c, s = math.cos(self.pitch_up), math.sin(self.pitch_up)
        return make_transform(np.array([[c, 0.0, -s], [0.0, 1.0, 0.0], [s, 0.0, c]]), (self.x, 0.0, self.z))

    @property
    def base_from_optical(self) -> np.ndarray:
        """Return the transform (4, 4) base_link <- camera_optical_frame, which has optical axes."""
        return self.base_from_camera_link @ BODY_FROM_OPTICAL


@dataclass(frozen=True)
class LidarConfig:
    """Mounting position of a spinning LiDAR on the robot's back. All values are assumptions."""

    x: float = 0.0  # m, ahead of base_link
    z: float = 0.50  # m, above the ground between the feet


@dataclass(frozen=True)
class ScanConfig:
    """A planar scan: each beam has the nearest return over several heights. All values are assumptions."""

    beams: int = 720  # per turn
    z: float = 0.28  # m, height of scan_link above the ground between the feet
    heights: tuple[float, ...] = (0.11, 0.20, 0.32, 0.44, 0.54)  # m, whose nearest return counts
    near: float = 0.10  # m, least range
    far: float = 20.0  # m, largest range


@dataclass(frozen=True)
class SensorConfig:
    """Configuration of all sensors of the robot: camera, LiDAR and planar scan."""

    camera: CameraConfig = field(default_factory=CameraConfig)
    lidar: LidarConfig = field(default_factory=LidarConfig)
    scan: ScanConfig = field(default_factory=ScanConfig)


@dataclass(frozen=True)
class CameraFrame:
    """One frame of the camera.

    depth_mm: (H, W) uint16, 0 = invalid; depth: the same in metres, float32. labels: (H, W) uint16,
    0 = nothing, numbered per frame; label_table: value -> {"class", "caption"} of each object in view.
    odom_from_camera, map_from_odom: (4, 4), the robot's estimates at `stamp`. rgb: (H, W, 3) uint8 or None.
    """

    stamp: float
    camera: PinholeCamera
    depth_mm: np.ndarray
    depth: np.ndarray
    labels: np.ndarray
    label_table: dict[int, dict[str, str]]
    odom_from_camera: np.ndarray
    map_from_odom: np.ndarray
    rgb: np.ndarray | None = None


@dataclass(frozen=True)
class ScanFrame:
    """One planar scan in scan_link. ranges: (N,) float32, metres, inf = no return."""

    stamp: float
    ranges: np.ndarray
    angle_min: float
    angle_increment: float
    range_max: float
    range_min: float = 0.0


@nb.njit(inline="always")
def _hash(value, seed):
    h = np.uint32((value * np.uint32(0x9E3779B1)) ^ seed)
    h = np.uint32((h ^ (h >> np.uint32(16))) * np.uint32(0x85EBCA6B))
    h = np.uint32((h ^ (h >> np.uint32(13))) * np.uint32(0xC2B2AE35))
    return np.uint32(h ^ (h >> np.uint32(16)))


@nb.njit(inline="always")
def _normal(bits):
    """Return an approximately standard normal number from 32 random bits: sum of four bytes, cut at 3.4 sigma."""
    total = (bits & 255) + ((bits >> 8) & 255) + ((bits >> 16) & 255) + (bits >> 24)
    return (np.float32(total) - np.float32(510.0)) * np.float32(1.0 / 147.8)


@nb.njit(cache=True)
def _measure_depth(distance, normal, directions, seed, near, far, sigma, square, dropout, fade_from, fade,
                   edge_step, edge_dropout, grazing):  # fmt: skip
    height, width = distance.shape
    depth_mm = np.zeros((height, width), np.uint16)
    for row in range(height):
        for column in range(width):
            z = distance[row, column]
            if not (z >= near and z <= far):
                continue
            index = row * width + column
            lost = dropout
            if z > fade_from:
                lost += fade * (z - fade_from) / (far - fade_from)
            step = edge_step * z + np.float32(0.02)
            if (
                (column > 0 and abs(distance[row, column - 1] - z) > step)
                or (column < width - 1 and abs(distance[row, column + 1] - z) > step)
                or (row > 0 and abs(distance[row - 1, column] - z) > step)
                or (row < height - 1 and abs(distance[row + 1, column] - z) > step)
            ):
                lost += edge_dropout
            dx, dy, dz = directions[index, 0], directions[index, 1], directions[index, 2]
            dot = dx * normal[index, 0] + dy * normal[index, 1] + dz * normal[index, 2]
            cosine = abs(dot) / math.sqrt(dx * dx + dy * dy + dz * dz)
            if cosine < grazing:
                lost += (grazing - cosine) / grazing
            if _hash(np.uint32(index), seed ^ np.uint32(0x5BD1E995)) * np.float32(2.0**-32) < lost:
                continue
            z += _normal(_hash(np.uint32(index), seed)) * (sigma + square * (z - 0.4) * (z - 0.4))
            depth_mm[row, column] = np.uint16(min(max(z * 1000.0 + 0.5, 0.0), 65535.0))
    return depth_mm


@nb.njit(cache=True)
def _objects_in_view(triangle, object_of_triangle, rank_of_object, labels):
    """Fill `labels` with ranks (1, 2 ...) in order of first appearance; return the object ids by rank."""
    seen = np.empty(65535, np.int32)
    count = 0
    for i in range(triangle.size):
        hit = triangle[i]
        rank = 0
        if hit != MISS:
            which = object_of_triangle[hit]
            if which > 0:
                rank = rank_of_object[which]
                if rank == 0:
                    seen[count] = which
                    count += 1
                    rank = count
                    rank_of_object[which] = rank
        labels[i] = rank
    for i in range(count):
        rank_of_object[seen[i]] = 0
    return seen[:count]


@nb.njit(cache=True)
def _rename(labels, values):
    for i in range(labels.size):
        labels[i] = values[labels[i]]


def measure_depth(
    hits: Hits, rays: np.ndarray, camera: PinholeCamera, rng: np.random.Generator
) -> np.ndarray:
    """Return the depth image (H, W) uint16, mm, 0 = invalid, of hits whose rays have z = 1 in the optical frame."""
    seed = np.uint32(rng.integers(0, 2**32, dtype=np.uint32))
    f = np.float32
    return _measure_depth(
        hits.distance.reshape(camera.height, camera.width), hits.normal, rays[:, 3:], seed,
        f(DEPTH_NOISE_NEAR), f(DEPTH_NOISE_FAR), f(DEPTH_NOISE_SIGMA), f(DEPTH_NOISE_SIGMA_SQUARE),
        f(DEPTH_NOISE_DROPOUT), f(DEPTH_NOISE_FADE_FROM), f(DEPTH_NOISE_FADE), f(DEPTH_NOISE_EDGE_STEP),
        f(DEPTH_NOISE_EDGE_DROPOUT), f(DEPTH_NOISE_GRAZING),
    )  # fmt: skip


class Labeler:
    """Make label images whose numbers are valid for one frame only.

    descriptions: object id -> {"class", "caption"}. The numbers depend on the order in which objects appear
    in the image and on the generator alone, never on an id.
    """

    def __init__(self, descriptions: dict[int, dict[str, str]]):
        self._descriptions = descriptions
        self._ranks = np.zeros(max(descriptions, default=0) + 1, np.int32)

    def label(
        self, hits: Hits, world: RaycastWorld, camera: PinholeCamera, rng: np.random.Generator
    ) -> tuple[np.ndarray, dict[int, dict[str, str]]]:
        """Return the label image (H, W) uint16, 0 = nothing, and its table, value -> {"class", "caption"}."""
        labels = np.empty(hits.triangle.size, np.uint16)
        seen = _objects_in_view(hits.triangle, world.objects, self._ranks, labels)
        values = np.zeros(len(seen) + 1, np.uint16)
        values[1:] = rng.choice(65535, len(seen), replace=False) + 1
        _rename(labels, values)
        table = {int(value): self._descriptions[int(one)] for value, one in zip(values[1:], seen)}
        return labels.reshape(camera.height, camera.width), table


def lidar_directions() -> np.ndarray:
    """Return unit directions (rings * azimuths, 3) float32 in lidar_link, ring by ring from the lowest."""
    elevation = np.linspace(LIDAR_LOWEST, LIDAR_HIGHEST, LIDAR_RINGS)[:, None]
    azimuth = (np.arange(LIDAR_AZIMUTHS) * (2.0 * np.pi / LIDAR_AZIMUTHS) - np.pi)[None, :]
    directions = np.empty((LIDAR_RINGS, LIDAR_AZIMUTHS, 3), np.float32)
    directions[..., 0] = np.cos(elevation) * np.cos(azimuth)
    directions[..., 1] = np.cos(elevation) * np.sin(azimuth)
    directions[..., 2] = np.sin(elevation)
    return directions.reshape(-1, 3)


def measure_lidar(
    world: RaycastWorld, world_from_lidar: np.ndarray, directions: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Return the points (N, 3) float32 in lidar_link, metres, of the beams with a return."""
    distance = world.cast(rays_from(directions, world_from_lidar)).distance
    distance = distance + rng.standard_normal(len(distance), np.float32) * np.float32(LIDAR_SIGMA)
    back = (distance >= LIDAR_NEAR) & (distance <= LIDAR_FAR)
    back &= rng.random(len(distance), np.float32) >= LIDAR_DROPOUT
    return directions[back] * distance[back, None]


def scan_directions(config: ScanConfig) -> tuple[np.ndarray, float, float]:
    """Return the beam directions (beams, 3) float32 in the scan plane, the first angle and the angular step, rad."""
    step = 2.0 * math.pi / config.beams
    angles = -math.pi + np.arange(config.beams) * step
    directions = np.stack([np.cos(angles), np.sin(angles), np.zeros_like(angles)], axis=1).astype(np.float32)
    return directions, -math.pi, step


def measure_scan(
    world: RaycastWorld, world_from_base: np.ndarray, directions: np.ndarray, config: ScanConfig,
    rng: np.random.Generator,
) -> np.ndarray:  # fmt: skip
    """Return ranges (beams,) float32, metres: per beam the nearest over all scan heights, inf = no return."""
    rays = np.concatenate([rays_from(directions, world_from_base)] * len(config.heights))
    rays[:, 2] = np.repeat(np.asarray(config.heights, np.float32), len(directions)) + world_from_base[2, 3]
    distance = world.cast(rays).distance.reshape(len(config.heights), -1).min(axis=0)
    ranges = distance + rng.standard_normal(len(distance), np.float32) * np.float32(SCAN_SIGMA)
    ranges[(distance < config.near) | (distance > config.far)] = np.inf
    return np.maximum(ranges, np.float32(config.near), out=ranges)
