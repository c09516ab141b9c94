"""Ray casting against the world, with one tree for static geometry and one per moving body."""

from __future__ import annotations

from dataclasses import dataclass

import numba as nb
import numpy as np
import open3d as o3d

from lodestar_sim.worlds.geometry import Geometry

MISS = 0xFFFFFFFF  # Open3D's primitive id of a ray that hit nothing


@dataclass(frozen=True)
class Hits:
    """Hits of N rays.

    distance: (N,) float32, in units of the length of the ray's direction vector, inf = no hit.
    triangle: (N,) uint32, index into the per-triangle arrays of `RaycastWorld`, MISS = no hit.
    normal: (N, 3) float32, unit, world frame, not oriented.
    """

    distance: np.ndarray
    triangle: np.ndarray
    normal: np.ndarray


@nb.njit(cache=True)
def _camera_rays(directions, rotation, origin, rays):
    for i in range(directions.shape[0]):
        x, y, z = directions[i, 0], directions[i, 1], directions[i, 2]
        rays[i, 0] = origin[0]
        rays[i, 1] = origin[1]
        rays[i, 2] = origin[2]
        rays[i, 3] = rotation[0, 0] * x + rotation[0, 1] * y + rotation[0, 2] * z
        rays[i, 4] = rotation[1, 0] * x + rotation[1, 1] * y + rotation[1, 2] * z
        rays[i, 5] = rotation[2, 0] * x + rotation[2, 1] * y + rotation[2, 2] * z


@nb.njit(cache=True)
def _rays_near(rays, center, radius):
    """Return the indices of the rays whose half-line passes through a sphere."""
    count = 0
    indices = np.empty(rays.shape[0], np.int64)
    for i in range(rays.shape[0]):
        ox, oy, oz = center[0] - rays[i, 0], center[1] - rays[i, 1], center[2] - rays[i, 2]
        dx, dy, dz = rays[i, 3], rays[i, 4], rays[i, 5]
        along = ox * dx + oy * dy + oz * dz
        offset = ox * ox + oy * oy + oz * oz
        length = dx * dx + dy * dy + dz * dz
        if offset <= radius * radius or (along > 0.0 and offset - along * along / length <= radius * radius):
            indices[count] = i
            count += 1
    return indices[:count]


@nb.njit(cache=True)
def _between(triangle, distance, normal, rays, height, width):
    """Interpolate pixels whose four cast neighbours hit the same triangle; return the indices of the others.

    Cast pixels have an even row and an even column. All arrays cover the whole image, row by row.
    """
    left = np.empty(height * width, np.int64)
    count = 0
    for row in range(height):
        above = row - row % 2
        below = above + 2 if row % 2 else above
        for column in range(width):
            if row % 2 == 0 and column % 2 == 0:
                continue
            before = column - column % 2
            after = before + 2 if column % 2 else before
            index = row * width + column
            left[count] = index
            count += 1
            if below >= height or after >= width:
                continue
            near = above * width + before
            hit = triangle[near]
            if (
                hit != triangle[above * width + after]
                or hit != triangle[below * width + before]
                or hit != triangle[below * width + after]
            ):
                continue
            if hit != MISS:
                nx, ny, nz = normal[near, 0], normal[near, 1], normal[near, 2]
                across = rays[index, 3] * nx + rays[index, 4] * ny + rays[index, 5] * nz
                if abs(across) < np.float32(1e-6):
                    continue
                # both rays share an origin: the distance to the plane scales with the cosines
                along = rays[near, 3] * nx + rays[near, 4] * ny + rays[near, 5] * nz
                distance[index] = distance[near] * along / across
                normal[index, 0], normal[index, 1], normal[index, 2] = nx, ny, nz
            triangle[index] = hit
            count -= 1
    return left[:count]


def rays_from(directions: np.ndarray, world_from_sensor: np.ndarray) -> np.ndarray:
    """Return rays (N, 6) float32 (origin, direction) in the world, for directions (N, 3) float32 of a sensor."""
    rays = np.empty((len(directions), 6), np.float32)
    matrix = world_from_sensor.astype(np.float32)
    _camera_rays(directions, matrix[:3, :3], matrix[:3, 3], rays)
    return rays


def _scene_of(vertices: np.ndarray, triangles: np.ndarray) -> o3d.t.geometry.RaycastingScene:
    scene = o3d.t.geometry.RaycastingScene()
    if len(triangles):
        scene.add_triangles(
            o3d.core.Tensor(np.ascontiguousarray(vertices, np.float32)),
            o3d.core.Tensor(np.ascontiguousarray(triangles, np.uint32)),
        )
    return scene


def _nothing(count: int) -> Hits:
    """Return `count` hits that are all misses."""
    return Hits(
        np.full(count, np.inf, np.float32), np.full(count, MISS, np.uint32), np.zeros((count, 3), np.float32)
    )


class Mover:
    """A rigidly moving body: its mesh is static in the body frame, and rays are transformed into that frame."""

    def __init__(self, geometry: Geometry, first_triangle: int):
        self.geometry = geometry
        self.first_triangle = first_triangle
        self.world_from_body = np.eye(4)
        low, high = geometry.vertices.min(axis=0), geometry.vertices.max(axis=0)
        self._center = (low + high) / 2.0
        self._radius = float(np.linalg.norm(high - low)) / 2.0
        self._scene = _scene_of(geometry.vertices, geometry.triangles)

    def merge(self, rays: np.ndarray, hits: Hits) -> None:
        """Replace the hits of `rays` (N, 6) for which this body is nearer."""
        rotation = self.world_from_body[:3, :3]
        center = rotation @ self._center + self.world_from_body[:3, 3]
        chosen = _rays_near(rays, center, self._radius)
        if not len(chosen):
            return
        local = np.empty((len(chosen), 6), np.float32)
        local[:, :3] = (rays[chosen, :3] - self.world_from_body[:3, 3].astype(np.float32)) @ rotation
        local[:, 3:] = rays[chosen, 3:] @ rotation
        answer = self._scene.cast_rays(o3d.core.Tensor.from_numpy(local))
        distance = answer["t_hit"].numpy()
        nearer = distance < hits.distance[chosen]
        index = chosen[nearer]
        hits.distance[index] = distance[nearer]
        hits.triangle[index] = answer["primitive_ids"].numpy()[nearer] + np.uint32(self.first_triangle)
        hits.normal[index] = answer["primitive_normals"].numpy()[nearer] @ rotation.T.astype(np.float32)


class RaycastWorld:
    """Cast rays against a static world with moving bodies.

    Open3D's scene cannot remove geometry, so `rebuild` creates a new scene when the static part changes (a few tens of
    milliseconds); a moving body costs only the rays that pass near it.
    """

    def __init__(self, still: Geometry, moving: dict[int, Geometry] | None = None):
        self.movers: dict[int, Mover] = {}
        self.rebuild(still, moving or {})

    def rebuild(self, still: Geometry, moving: dict[int, Geometry]) -> None:
        """Set the static geometry (world frame) and the moving bodies (own frame, at the identity)."""
        self.still = still
        self._scene = _scene_of(still.vertices, still.triangles)
        parts = [still, *moving.values()]
        self.objects = np.concatenate([part.object_of_triangle for part in parts]).astype(np.int32)
        self.colors = np.concatenate([part.color_of_triangle for part in parts]).astype(np.uint8)
        self.materials = np.concatenate([part.material_of_triangle for part in parts]).astype(np.uint8)
        poses = {key: mover.world_from_body for key, mover in self.movers.items()}
        self.movers = {}
        first = len(still.triangles)
        for key, geometry in moving.items():
            mover = Mover(geometry, first)
            mover.world_from_body = poses.get(key, mover.world_from_body)
            self.movers[key] = mover
            first += len(geometry.triangles)

    def cast(self, rays: np.ndarray) -> Hits:
        """Return the first hits of rays (N, 6) float32 in the world frame; directions need not be unit vectors."""
        hits = self._cast_still(rays)
        for mover in self.movers.values():
            mover.merge(rays, hits)
        return hits

    def cast_image(self, rays: np.ndarray, height: int, width: int) -> Hits:
        """Return the first hits of a camera's rays (height * width, 6) float32, row by row, from one origin.

        Every second pixel of every second row is cast, and each remaining pixel whose neighbours hit more than one
        triangle. Most of an image is walls and floors, so this saves time. Objects thinner than two pixels may lose
        pixels; otherwise the result equals `cast`.
        """
        image = rays.reshape(height, width, 6)
        sparse = self._cast_still(np.ascontiguousarray(image[::2, ::2]).reshape(-1, 6))
        hits = _nothing(len(rays))
        shape = ((height + 1) // 2, (width + 1) // 2)
        hits.distance.reshape(height, width)[::2, ::2] = sparse.distance.reshape(shape)
        hits.triangle.reshape(height, width)[::2, ::2] = sparse.triangle.reshape(shape)
        hits.normal.reshape(height, width, 3)[::2, ::2] = sparse.normal.reshape(*shape, 3)
        left = _between(hits.triangle, hits.distance, hits.normal, rays, height, width)
        rest = self._cast_still(rays[left])
        hits.distance[left], hits.triangle[left], hits.normal[left] = (
            rest.distance,
            rest.triangle,
            rest.normal,
        )
        for mover in self.movers.values():
            mover.merge(rays, hits)
        return hits

    def _cast_still(self, rays: np.ndarray) -> Hits:
        if not len(self.still.triangles):
            return _nothing(len(rays))
        answer = self._scene.cast_rays(o3d.core.Tensor.from_numpy(rays))
        return Hits(
            answer["t_hit"].numpy(), answer["primitive_ids"].numpy(), answer["primitive_normals"].numpy()
        )
