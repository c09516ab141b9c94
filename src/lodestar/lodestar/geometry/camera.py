"""Pinhole camera without distortion; optical axes are x right, y down, z forward (REP 103)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# metres; larger depths are ignored. A D435i's error is 2 % at 2 m and grows with the square of depth
DEPTH_RANGE = 5.0


@dataclass(frozen=True)
class PinholeCamera:
    """Intrinsics of a pinhole camera."""

    width: int  # pixels
    height: int  # pixels
    fx: float  # focal length along x, pixels
    fy: float  # focal length along y, pixels
    cx: float  # principal point, pixels
    cy: float  # principal point, pixels

    def scaled(self, width: int, height: int) -> PinholeCamera:
        """Return the intrinsics of the same camera at another image size, pixels."""
        sx, sy = width / self.width, height / self.height
        return PinholeCamera(width, height, self.fx * sx, self.fy * sy, self.cx * sx, self.cy * sy)

    def rays(self, stride: int = 1) -> np.ndarray:
        """Return ray directions with z = 1 through every `stride`-th pixel: (h, w, 3) float32, optical frame."""
        u = (np.arange(0, self.width, stride, dtype=np.float32) - self.cx) / self.fx
        v = (np.arange(0, self.height, stride, dtype=np.float32) - self.cy) / self.fy
        rays = np.ones((v.size, u.size, 3), np.float32)
        rays[..., 0] = u[None, :]
        rays[..., 1] = v[:, None]
        return rays

    def backproject(self, depth: np.ndarray, pixels: np.ndarray | None = None) -> np.ndarray:
        """Return the points of a depth image in the optical frame: (N, 3) float32, metres.

        depth: (H, W) float32, metres along the optical axis, 0 = invalid.
        pixels: (N, 2) integer (column, row) to take, all by default (then invalid depth gives the origin).
        """
        if pixels is None:
            return (self.rays() * depth[..., None]).reshape(-1, 3)
        u, v = pixels[:, 0], pixels[:, 1]
        z = depth[v, u]
        points = np.empty((len(pixels), 3), np.float32)
        points[:, 0] = (u - self.cx) / self.fx * z
        points[:, 1] = (v - self.cy) / self.fy * z
        points[:, 2] = z
        return points

    def project(self, points_camera: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return pixels (N, 2) float (column, row) of points (N, 3), and (N,) bool: inside the image."""
        z = points_camera[:, 2]
        safe = np.where(z > 1e-6, z, 1.0)
        u = points_camera[:, 0] / safe * self.fx + self.cx
        v = points_camera[:, 1] / safe * self.fy + self.cy
        inside = (z > 1e-6) & (u >= 0) & (u <= self.width - 1) & (v >= 0) & (v <= self.height - 1)
        return np.stack([u, v], axis=1), inside
