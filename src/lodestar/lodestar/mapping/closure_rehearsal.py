"""Compile the functions of a loop closure at start-up, by closing a loop in a tiny map.

Loading compiled functions takes tenths of a second, compiling them several seconds; all other threads of the
process are blocked during that time.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from lodestar.geometry.camera import PinholeCamera
from lodestar.geometry.map_correction import MapCorrection
from lodestar.geometry.poses import BODY_FROM_OPTICAL, planar_transform
from lodestar.mapping.closures import bend_voxels
from lodestar.mapping.config import VOXEL_PRIOR, VOXEL_SIZE, VOXEL_VOTE, GeometryConfig, OctoMapConfig
from lodestar.mapping.instances.extraction import SurfacePoints, extract
from lodestar.mapping.occupancy.octomap import OctoMapper
from lodestar.mapping.voxels.tsdf import TsdfVolume
from lodestar.mapping.voxels.voxel_store import VoxelStore

_SHIFT = 0.3  # metres between the loop's end and its start; chosen, some voxels
_LENGTH = 12  # nodes out and as many back, half a metre apart: long enough for a loop; chosen
_VOXELS = 1024  # capacity of the tiny store; chosen


@cache
def rehearse_plan(config: OctoMapConfig) -> None:
    """Close a 12 m loop in a throwaway occupancy map of this configuration; runs once per process."""
    mapper = OctoMapper(config)
    out = [planar_transform(0.5 * k, 0.0, 0.0, z=0.5) for k in range(_LENGTH)]
    poses = [*out, *out[::-1]]
    along = np.arange(-1.0, 1.0, 0.1)
    walls = np.array([(x, side, z) for x in along for side in (-1.0, 1.0) for z in (-0.5, 0.0)])
    for stamp, pose in enumerate(poses):
        mapper.follow(np.eye(4), pose, float(stamp))
        mapper.insert_points(walls, pose, planar_transform(pose[0, 3], 0.0, 0.0))
    mapper.project(0.0)
    mapper.follow(planar_transform(0.0, _SHIFT, 0.0), poses[-1], float(len(poses)))
    mapper.project(1.0)


@cache
def rehearse_voxels(geometry: GeometryConfig) -> None:
    """Apply a loop closure to throwaway surfaces and voxels of this configuration; runs once per process."""
    moves = np.stack([np.eye(4), planar_transform(_SHIFT, 0.0, 0.0)])
    correction = MapCorrection(moves[1], np.array([0, 40]), np.array([0.0, 40.0]), np.zeros((2, 3)), moves)
    camera = PinholeCamera(64, 48, 60.0, 60.0, 31.5, 23.5)
    surfaces, depth = TsdfVolume(geometry), np.full((48, 64), 1.5, np.float32)
    for node in ((0, 0), (40, 30)):  # the second node begins a new submap
        surfaces.integrate(depth, camera, BODY_FROM_OPTICAL, None, node)
    surfaces.bend(correction)
    store = VoxelStore(VOXEL_SIZE, _VOXELS, VOXEL_PRIOR)
    points = SurfacePoints(_VOXELS)
    coords = np.stack(np.meshgrid(*[np.arange(4, dtype=np.int32)] * 3), axis=-1).reshape(-1, 3)
    for number in (1, 41):
        places = store.vote(
            coords + 4 * number, np.ones(len(coords), np.int32), VOXEL_VOTE, 4, 8, number, number
        )
        middles = ((coords + 4 * number + 0.5) * store.size).astype(np.float32)
        points.add(store, places, middles, np.ones(len(coords), np.float32))
    bend_voxels(store, points, correction)
    extract(store, points, np.ones(1, np.int64), np.eye(4))
