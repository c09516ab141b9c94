"""Colour images of a building from any pose, with the object id of every pixel."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from lodestar.geometry.poses import planar_transform
from lodestar_sim.raycast import MISS, RaycastWorld, rays_from
from lodestar_sim.sensors import CameraConfig
from lodestar_sim.shader import DAYLIGHT, Light, Shader
from lodestar_sim.worlds.world import World

RANDOM_LIGHT = 0.25  # standard deviation of the logarithm of the light's strength; chosen
RANDOM_TINT = 0.06  # standard deviation of the logarithm of each channel's strength; chosen
RANDOM_TILT = math.radians(1.5)  # rad, standard deviation of the camera's pitch and roll; chosen
RANDOM_LIFT = 0.02  # m, standard deviation of the camera's height; chosen


@dataclass(frozen=True)
class View:
    """An image and its ground truth.

    rgb: (H, W, 3) uint8. ids: (H, W) int32, object or decal id, 0 = structure or nothing. depth: (H, W) uint16, mm
    along the optical axis without error, 0 = nothing.
    """

    rgb: np.ndarray
    ids: np.ndarray
    depth: np.ndarray


class Camera:
    """The simulated robot's camera in a building, with images of a given size in pixels."""

    def __init__(self, world: World, width: int, height: int) -> None:
        config = CameraConfig()
        self.pinhole = config.pinhole(width, height)
        self._base_from_optical = config.base_from_optical
        self._terrain = world.terrain
        self._scene = RaycastWorld(world.geometry(sensed=True))
        self._shader = Shader(world)
        self._directions = np.ascontiguousarray(self.pinhole.rays().reshape(-1, 3))

    def view(self, pose: np.ndarray, light: Light = DAYLIGHT, shake: np.ndarray | None = None) -> View:
        """Return the view from a pose (3,) x, y, yaw. shake: (3,) pitch, roll (rad) and lift (m) of the camera."""
        pitch, roll, lift = (0.0, 0.0, 0.0) if shake is None else shake
        ground = 0.0 if self._terrain is None else float(self._terrain.nearest(pose[None, :2])[0])
        world_from_base = planar_transform(pose[0], pose[1], pose[2], ground + lift) @ _tilted(pitch, roll)
        rays = rays_from(self._directions, world_from_base @ self._base_from_optical)
        size = (self.pinhole.height, self.pinhole.width)
        hits = self._scene.cast_image(rays, *size)
        hit = hits.triangle != MISS
        ids = np.zeros(len(hits.triangle), np.int32)
        ids[hit] = self._scene.objects[hits.triangle[hit]]
        depth = np.where(hit, hits.distance, 0.0)
        depth_mm = np.minimum(depth * 1000.0 + 0.5, 65535.0).astype(np.uint16)
        rgb = self._shader.shade(hits, rays, self._scene, self.pinhole, light)
        return View(rgb, ids.reshape(size), depth_mm.reshape(size))


def random_light(rng: np.random.Generator) -> Light:
    """Return light of random strength and tint."""
    strength = np.exp(rng.normal(size=2) * RANDOM_LIGHT)
    tint = np.exp(rng.normal(size=3) * RANDOM_TINT)
    lamp, ambient = (np.array(part) for part in (DAYLIGHT.lamp, DAYLIGHT.ambient))
    return Light(tuple(lamp * tint * strength[0]), tuple(ambient * tint * strength[1]))


def random_shake(rng: np.random.Generator) -> np.ndarray:
    """Return a random displacement (3,) of the camera: pitch and roll, rad, and lift, m."""
    return rng.normal(size=3) * (RANDOM_TILT, RANDOM_TILT, RANDOM_LIFT)


def _tilted(pitch: float, roll: float) -> np.ndarray:
    (cp, sp), (cr, sr) = ((math.cos(a), math.sin(a)) for a in (pitch, roll))
    tilted = np.eye(4)
    tilted[:3, :3] = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]]) @ np.array(
        [[1, 0, 0], [0, cr, -sr], [0, sr, cr]]
    )
    return tilted
