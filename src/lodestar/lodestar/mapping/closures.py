"""Voxels and instances after a loop closure: each moves with its submap, and doubles become one (ADR 0095)."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from lodestar.geometry.boxes import box_iou
from lodestar.geometry.map_correction import MapCorrection, displacement
from lodestar.mapping.config import VoxelConfig
from lodestar.mapping.extraction import SurfacePoints, extract
from lodestar.mapping.sights import SightMemory
from lodestar.mapping.submaps import is_still
from lodestar.mapping.tracks import Track, Tracks
from lodestar.mapping.tsdf import TsdfVolume
from lodestar.mapping.voxel_store import GONE, VoxelStore
from lodestar.models.kinship import same_kind

_MET = 0.2  # share of an instance's voxels that meet another's, from which they are one; chosen: half a box apart
_OVERLAP = 0.2  # box IoU, likewise
_GAP = 0.3  # metres between centres, likewise; chosen: what a closure leaves of a Go2's drift, half a chair
_APART = 0.1  # metres by which two sides move differently; chosen, a jump
_GROWTH = 3.0  # ratio of the longest sides up to which two are one; chosen


def bend_map(
    store: VoxelStore,
    surface: SurfacePoints,
    sights: SightMemory,
    geometry: TsdfVolume,
    tracks: Tracks,
    correction: MapCorrection,
    config: VoxelConfig,
) -> list[tuple[int, int]]:
    """Move voxels, surfaces, views and the boxes of instances; return the pairs (loser, winner) that are one.

    correction: seen from the voxel frame.
    """
    with ThreadPoolExecutor(1) as beside:  # the kernels of both release the lock of the interpreter
        surfaces = beside.submit(geometry.bend, correction)
        before, _ = _measured(store, surface, tracks, config)
        met = bend_voxels(store, surface, correction)
        sights.move(correction)
        after, sizes = _measured(store, surface, tracks, config)
        for identity, (low, high) in after.items():
            tracks.place(tracks[identity], low, high)
        surfaces.result()
    moved = {i: (np.add(*after[i]) - np.add(*before[i])) / 2.0 for i in after if i in before}
    return doubles(tracks, met, sizes, moved, config.confirm)


def _measured(
    store: VoxelStore, surface: SurfacePoints, tracks: Tracks, config: VoxelConfig
) -> tuple[dict[int, tuple[np.ndarray, np.ndarray]], dict[int, int]]:
    """Return boxes (3,), (3,) in the voxel frame and numbers of voxels of the instances that have any, by id."""
    ids = np.array(list(tracks), np.int64)
    if not len(ids):
        return {}, {}
    solid = float(config.extraction.solid * config.vote)
    found = extract(store, surface, ids, np.eye(4), solid, config.extraction)
    known = [(row, identity) for row, identity in enumerate(ids.tolist()) if found.count[row]]
    boxes = {identity: (found.box_min[row], found.box_max[row]) for row, identity in known}
    return boxes, {identity: int(found.count[row]) for row, identity in known}


def bend_voxels(
    store: VoxelStore, surface: SurfacePoints, correction: MapCorrection
) -> Counter[tuple[int, int]]:
    """Move each voxel with the node that first saw it; return how many voxels of two instances met.

    correction: seen from the voxel frame.
    """
    places = np.flatnonzero(store.owner[: store.used] != GONE)
    moves = correction.of_serials(store.begun[places] - 1)
    moving = ~is_still(moves)
    places, moves = places[moving], moves[moving]
    centres = (store.coords[places] + 0.5) * store.size
    targets = np.floor((centres + displacement(moves, centres)) / store.size).astype(np.int32)
    surface.move(places, moves, targets, store.size)
    met = store.relocate(places, targets)
    return Counter((int(min(pair)), int(max(pair))) for pair in met)


def doubles(
    tracks: Tracks,
    met: Counter[tuple[int, int]],
    sizes: dict[int, int],
    moved: dict[int, np.ndarray],
    confirm: int,
) -> list[tuple[int, int]]:
    """Return pairs (loser, winner) of instances that were seen from both sides of a closure and are one.

    sizes: voxels by id. moved: by id how the closure has moved it, (3,) metres: two that moved alike were told apart by
    sight before, and stay two. The one that was seen first wins. Nobody is in two pairs.
    """
    found: list[tuple[float, int, int]] = []
    for track in tracks.values():
        if track.observation_count < confirm or track.id not in moved:
            continue
        for identity in tracks.around(track.id, _GAP):
            other = tracks[identity]
            if identity <= track.id or other.observation_count < confirm or identity not in moved:
                continue
            if np.linalg.norm(moved[track.id] - moved[identity]) >= _APART:
                score = _likeness(track, other, met[track.id, identity], sizes)
                if score > 0.0:
                    found.append((-score, track.id, identity))
    taken: set[int] = set()
    pairs = []
    for _, low, high in sorted(found):
        if low in taken or high in taken:
            continue
        taken |= {low, high}
        first = tracks[low].first_seen, low
        pairs.append((high, low) if first <= (tracks[high].first_seen, high) else (low, high))
    return pairs


def _likeness(one: Track, other: Track, met: int, sizes: dict[int, int]) -> float:
    """Return how much speaks for two being one, 0 = too little."""
    if not same_kind(one.label, other.label):
        return 0.0
    sides = sorted(float((t.box_max - t.box_min).max()) for t in (one, other))
    if sides[1] > _GROWTH * max(sides[0], 1e-3):
        return 0.0
    share = met / max(min(sizes.get(one.id, 1), sizes.get(other.id, 1)), 1)
    overlap = float(box_iou(one.box_min, one.box_max, other.box_min, other.box_max))
    gap = float(np.linalg.norm((one.box_min + one.box_max - other.box_min - other.box_max) / 2.0))
    if share < _MET and overlap < _OVERLAP and gap > _GAP:
        return 0.0
    return share + overlap + max(0.0, 1.0 - gap / _GAP)
