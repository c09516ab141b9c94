"""Mappers of other projects, for comparison with ours."""

from __future__ import annotations

import numpy as np
import open3d as o3d
import open3d.core as o3c

from lodestar.mapping.config import GeometryConfig
from lodestar.perception.frames import RgbdFrame

_DEFAULTS = GeometryConfig()


class Open3dVolume:
    """Open3D's VoxelBlockGrid on the CPU: distance and weight in blocks of `side` voxels, with our grid's settings.

    capacity: reserved blocks of 8^3 voxels, so that its hash map never grows during a measurement.
    """

    def __init__(self, side: int, config: GeometryConfig = _DEFAULTS, capacity: int = 40_000):
        self.config = config
        self._grid = o3d.t.geometry.VoxelBlockGrid(
            ("tsdf", "weight"), (o3c.float32, o3c.float32), ((1), (1)), config.voxel, side,
            max(1, capacity * 8**3 // side**3), o3c.Device("CPU:0"),
        )  # fmt: skip
        self._truncation = config.truncation / config.voxel

    def convert(self, frame: RgbdFrame) -> tuple[o3d.t.geometry.Image, o3c.Tensor, o3c.Tensor]:
        """Return the arguments of `integrate`: the depth image in metres, intrinsics, extrinsics."""
        camera = frame.camera
        depth = np.nan_to_num(frame.depth, nan=0.0, posinf=0.0, neginf=0.0)
        matrix = np.array([[camera.fx, 0, camera.cx], [0, camera.fy, camera.cy], [0, 0, 1.0]])
        extrinsic = np.linalg.inv(frame.map_from_camera)
        return o3d.t.geometry.Image(o3c.Tensor(depth)), o3c.Tensor(matrix), o3c.Tensor(extrinsic)

    def integrate(self, depth: o3d.t.geometry.Image, intrinsic: o3c.Tensor, extrinsic: o3c.Tensor) -> None:
        """Integrate the frame."""
        near = (depth, intrinsic, extrinsic, 1.0, self.config.far, self._truncation)
        blocks = self._grid.compute_unique_block_coordinates(*near)
        self._grid.integrate(blocks, *near)

    def surface(self) -> np.ndarray:
        """Return points (N, 3) float32 on the surfaces, metres."""
        return self._grid.extract_point_cloud(weight_threshold=1.0).point.positions.numpy()
