"""A loop closure of a tiny map, so that the compiled loops of the first real one are there when it comes.

Loading them takes tenths of a second, and compiling them many, in which no other thread of the process runs.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from lodestar.geometry.camera import PinholeCamera
from lodestar.geometry.map_correction import MapCorrection
from lodestar.geometry.poses import BODY_FROM_OPTICAL, planar_transform
from lodestar.mapping.closures import bend_voxels
from lodestar.mapping.config import OctoMapConfig, VoxelConfig
from lodestar.mapping.extraction import SurfacePoints, extract
from lodestar.mapping.octomap import OctoMapper
from lodestar.mapping.tsdf import TsdfVolume
from lodestar.mapping.voxel_store import VoxelStore

_SHIFT = 0.3  # metres that the end is off; chosen, some voxels
_LENGTH = 12  # nodes out and back, half a metre each: just a loop; chosen
_VOXELS = 1024  # of the tiny store; chosen


@cache
def rehearse_plan(config: OctoMapConfig) -> None:
    """Close a loop of 12 m in an octree of this configuration, once per process."""
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
def rehearse_voxels(config: VoxelConfig) -> None:
    """Move surfaces and voxels of this configuration that were seen from two ends of a loop, once per process."""
    moves = np.stack([np.eye(4), planar_transform(_SHIFT, 0.0, 0.0)])
    correction = MapCorrection(moves[1], np.array([0, 40]), np.array([0.0, 40.0]), np.zeros((2, 3)), moves)
    camera = PinholeCamera(64, 48, 60.0, 60.0, 31.5, 23.5)
    surfaces, depth = TsdfVolume(config.geometry), np.full((48, 64), 1.5, np.float32)
    for node in ((0, 0), (40, 30)):  # the second begins another submap
        surfaces.integrate(depth, camera, BODY_FROM_OPTICAL, None, node)
    surfaces.bend(correction)
    store = VoxelStore(config.voxel, _VOXELS, config.prior)
    points = SurfacePoints(_VOXELS)
    coords = np.stack(np.meshgrid(*[np.arange(4, dtype=np.int32)] * 3), axis=-1).reshape(-1, 3)
    for number in (1, 41):
        places = store.vote(
            coords + 4 * number, np.ones(len(coords), np.int32), config.vote, 4, 8, number, number
        )
        middles = ((coords + 4 * number + 0.5) * store.size).astype(np.float32)
        points.add(store, places, middles, np.ones(len(coords), np.float32))
    bend_voxels(store, points, correction)
    solid = float(config.extraction.solid * config.vote)
    extract(store, points, np.ones(1, np.int64), np.eye(4), solid, config.extraction)
