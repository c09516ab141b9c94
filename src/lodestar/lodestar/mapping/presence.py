"""Absences and misses of instances in a frame."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lodestar.geometry.camera import PinholeCamera
from lodestar.geometry.poses import inverse, transform_points
from lodestar.mapping.config import VoxelConfig
from lodestar.mapping.records import Absence, Miss
from lodestar.mapping.registry import InstanceRegistry
from lodestar.mapping.tracks import Track
from lodestar.mapping.voxel_store import VoxelStore


@dataclass(frozen=True)
class Looks:
    """Voxels of each instance id inside a depth image, seen empty in it, and hidden in it; (ids,) int32 each."""

    inside: np.ndarray
    empty: np.ndarray
    hidden: np.ndarray


@dataclass(frozen=True)
class View:
    """A depth image, (H, W) float32, metres, 0 = invalid, and its camera pose, (4, 4)."""

    depth: np.ndarray
    camera: PinholeCamera
    voxels_from_camera: np.ndarray


def find_absences(
    registry: InstanceRegistry, looks: Looks, stamp: float, seen: set[int], config: VoxelConfig
) -> list[Absence]:
    """Return and count the clear looks through confirmed instances that no mask of this frame showed.

    Voxels that were carved since the instance was last seen count as seen empty: the remaining ones, near the floor and
    along edges, are those that depth measures least accurately.
    """
    absences = []
    for identity in np.flatnonzero(looks.inside >= config.absence_voxels):
        track = registry.tracks.get(int(identity))
        if track is None or track.id in seen or track.observation_count < config.confirm:
            continue
        known = registry.instances.get(track.id)
        if known is None or stamp - track.last_absence < config.absence_interval:
            continue
        carved = max(track.size - known.voxel_count, 0)
        unhidden = int(looks.inside[identity] - looks.hidden[identity]) + carved
        empty = int(looks.empty[identity]) + carved
        if empty < config.absence_voxels or unhidden < config.absence_inside * max(
            track.size, known.voxel_count
        ):
            continue
        share = empty / unhidden
        if share >= config.absence_free:
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
    config: VoxelConfig,
) -> list[Miss]:
    """Return the confirmed instances near the camera that are in clear view and that no mask of the frame shows.

    explained: ids that this frame shows or finds absent; they are skipped. An instance that is hidden, cut by the
    edge of the image or too small in it is not missed. The time depends on the voxels of the instances in view.
    """
    camera_at = view.voxels_from_camera[:3, 3]
    misses = []
    for identity in np.flatnonzero(looks.inside - looks.hidden > 0).tolist():
        track = registry.tracks.get(identity)
        if track is None or identity in explained or track.observation_count < config.confirm:
            continue
        if stamp - track.last_miss < config.absence_interval:
            continue
        if np.linalg.norm((track.box_min + track.box_max) / 2.0 - camera_at) > config.miss_range:
            continue
        track.last_miss = stamp
        share, pixels = _clear_view(track, store, view, config)
        if share >= config.miss_clear and pixels >= config.miss_pixels:
            misses.append(Miss(identity, stamp, share, pixels))
    return misses


def _clear_view(track: Track, store: VoxelStore, view: View, config: VoxelConfig) -> tuple[float, int]:
    """Return the share of an instance in clear view and the approximate number of its pixels; see `Miss`."""
    camera = view.camera
    centres = (store.coords[store.members(np.array([track.id]))[0]] + 0.5) * config.voxel
    local = transform_points(inverse(view.voxels_from_camera), centres)
    pixels, inside = camera.project(local)
    inside &= (local[:, 2] >= config.samples.near) & (local[:, 2] <= config.samples.far)
    column, row = np.rint(np.where(inside[:, None], pixels, 0.0)).astype(int).T
    z, measured = local[:, 2], view.depth[row, column].astype(np.float64)
    inside &= np.isfinite(measured) & (measured > 0.0)
    margin = config.margin + config.margin_per_metre * z
    clear = inside & (measured >= z - margin)
    before = np.flatnonzero(inside & ~clear)
    surface = local[before] * (measured[before] / z[before])[:, None]
    surface = transform_points(view.voxels_from_camera, surface)
    own = ((surface >= track.box_min - config.margin) & (surface <= track.box_max + config.margin)).all(
        axis=1
    )
    judged = len(centres) - int(own.sum())
    if judged == 0 or not clear.any():
        return 0.0, 0
    size = max(int(config.voxel * camera.fx / float(np.median(z[clear]))), 1)  # pixels of a voxel's side
    cells = np.unique(np.stack([row[clear], column[clear]]) // size, axis=1).shape[1]
    return float(clear.sum()) / judged, cells * size * size
