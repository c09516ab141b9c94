"""Detection of absences (a frame sees through an instance) and misses (a visible instance without a mask)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lodestar.geometry.camera import PinholeCamera
from lodestar.geometry.poses import inverse, transform_points
from lodestar.mapping.config import (
    SAMPLE_NEAR,
    VOXEL_ABSENCE_VOXELS,
    VOXEL_CONFIRM,
    VOXEL_MARGIN,
    VOXEL_MARGIN_PER_METRE,
    VOXEL_SIZE,
)
from lodestar.mapping.instances.records import Absence, Miss
from lodestar.mapping.instances.registry import InstanceRegistry
from lodestar.mapping.instances.tracks import Track
from lodestar.mapping.voxels.voxel_store import VoxelStore
from lodestar.perception.measured_noise import WIDTH

# least share of an instance's voxels that must be in the image and not hidden, to find it absent; chosen
VOXEL_ABSENCE_INSIDE = 0.6
VOXEL_ABSENCE_FREE = 0.6  # least share of those voxels that must be seen empty, to find it absent; chosen
VOXEL_ABSENCE_INTERVAL = 0.5  # seconds between two absences, and between two tests for a miss; chosen
# largest distance, metres, to an instance that is missed; chosen: detectors overlook objects farther away
VOXEL_MISS_RANGE = 3.0
VOXEL_MISS_CLEAR = 0.6  # share of an instance that must be in clear view to be missed, 0..1; chosen
VOXEL_MISS_PIXELS = 150  # pixels of an instance that must be in clear view to be missed; chosen


@dataclass(frozen=True)
class Looks:
    """Numbers of voxels per instance id in one depth image, (ids,) int32 each.

    inside: in the image. empty: seen empty. hidden: behind a surface.
    """

    inside: np.ndarray
    empty: np.ndarray
    hidden: np.ndarray


@dataclass(frozen=True)
class View:
    """A depth image, (H, W) float32, metres, 0 = invalid, and its camera pose, (4, 4)."""

    depth: np.ndarray
    camera: PinholeCamera
    voxels_from_camera: np.ndarray


def find_absences(registry: InstanceRegistry, looks: Looks, stamp: float, seen: set[int]) -> list[Absence]:
    """Return the absences of a frame, and count them in the tracks.

    An absence is a clear view through a confirmed instance that no mask of the frame shows. Voxels that were
    removed since the instance was last seen count as seen empty, because the depth of the remaining ones,
    near the floor and along edges, is the least accurate.
    """
    absences = []
    for identity in np.flatnonzero(looks.inside >= VOXEL_ABSENCE_VOXELS):
        track = registry.tracks.get(int(identity))
        if track is None or track.id in seen or track.observation_count < VOXEL_CONFIRM:
            continue
        known = registry.instances.get(track.id)
        if known is None or 0.0 <= stamp - track.last_absence < VOXEL_ABSENCE_INTERVAL:
            continue
        carved = max(track.size - known.voxel_count, 0)
        unhidden = int(looks.inside[identity] - looks.hidden[identity]) + carved
        empty = int(looks.empty[identity]) + carved
        if empty < VOXEL_ABSENCE_VOXELS or unhidden < VOXEL_ABSENCE_INSIDE * max(
            track.size, known.voxel_count
        ):
            continue
        share = empty / unhidden
        if share >= VOXEL_ABSENCE_FREE:
            track.last_absence = stamp
            track.absence_count += 1
            absences.append(Absence(track.id, stamp, share))
    return absences


def find_misses(
    registry: InstanceRegistry,
    store: VoxelStore,
    looks: Looks,
    view: View,
    stamp: float,
    explained: set[int],
    far: float,
) -> list[Miss]:
    """Return misses: confirmed instances near the camera that are in clear view but shown by no mask of the frame.

    explained: ids that this frame shows or finds absent; they are skipped. far: metres of depth. An instance that is
    hidden, cut by the edge of the image or too small in it is not missed. The run time depends on the voxels of the
    instances in view.
    """
    camera_at = view.voxels_from_camera[:3, 3]
    misses = []
    for identity in np.flatnonzero(looks.inside - looks.hidden > 0).tolist():
        track = registry.tracks.get(identity)
        if track is None or identity in explained or track.observation_count < VOXEL_CONFIRM:
            continue
        if 0.0 <= stamp - track.last_miss < VOXEL_ABSENCE_INTERVAL:
            continue
        if np.linalg.norm((track.box_min + track.box_max) / 2.0 - camera_at) > VOXEL_MISS_RANGE:
            continue
        track.last_miss = stamp
        share, pixels = _clear_view(track, store, view, far)
        if share >= VOXEL_MISS_CLEAR and pixels >= VOXEL_MISS_PIXELS:
            misses.append(Miss(identity, stamp, share, round(pixels * (WIDTH / view.camera.width) ** 2)))
    return misses


def _clear_view(track: Track, store: VoxelStore, view: View, far: float) -> tuple[float, int]:
    """Return the share of an instance in clear view and the approximate number of its pixels; see `Miss`."""
    camera = view.camera
    centres = (store.coords[store.members(np.array([track.id]))[0]] + 0.5) * VOXEL_SIZE
    local = transform_points(inverse(view.voxels_from_camera), centres)
    pixels, inside = camera.project(local)
    inside &= (local[:, 2] >= SAMPLE_NEAR) & (local[:, 2] <= far)
    column, row = np.rint(np.where(inside[:, None], pixels, 0.0)).astype(int).T
    z, measured = local[:, 2], view.depth[row, column].astype(np.float64)
    inside &= np.isfinite(measured) & (measured > 0.0)
    margin = VOXEL_MARGIN + VOXEL_MARGIN_PER_METRE * z
    clear = inside & (measured >= z - margin)
    before = np.flatnonzero(inside & ~clear)
    surface = local[before] * (measured[before] / z[before])[:, None]
    surface = transform_points(view.voxels_from_camera, surface)
    own = ((surface >= track.box_min - VOXEL_MARGIN) & (surface <= track.box_max + VOXEL_MARGIN)).all(axis=1)
    judged = len(centres) - int(own.sum())
    if judged == 0 or not clear.any():
        return 0.0, 0
    size = max(int(VOXEL_SIZE * camera.fx / float(np.median(z[clear]))), 1)  # side of a voxel in pixels
    cells = np.unique(np.stack([row[clear], column[clear]]) // size, axis=1).shape[1]
    return float(clear.sum()) / judged, cells * size * size
