"""Move voxels and instances with their submaps after a loop closure, and find duplicates (ADR 0095)."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from lodestar.geometry.boxes import box_iou
from lodestar.geometry.map_correction import MapCorrection, displacement
from lodestar.mapping.config import VOXEL_CONFIRM
from lodestar.mapping.instances.extraction import SurfacePoints, extract
from lodestar.mapping.instances.sights import SightMemory
from lodestar.mapping.instances.tracks import Track, Tracks
from lodestar.mapping.voxels.submaps import is_still
from lodestar.mapping.voxels.tsdf import TsdfVolume
from lodestar.mapping.voxels.voxel_store import GONE, VoxelStore
from lodestar.models.kinship import same_kind

# least share of coinciding voxels of two instances that are one object; chosen: half a box apart
_MET = 0.2
_OVERLAP = 0.2  # box IoU from which two instances are one object
# metres, largest distance between the centres of two instances that are one object; chosen: drift of a Go2
# that a closure leaves, half a chair
_GAP = 0.3
_APART = 0.1  # metres, least difference between the displacements of two duplicates; chosen, size of a jump
_GROWTH = 3.0  # largest ratio of the longest sides of two instances that are one object


def bend_map(
    store: VoxelStore,
    surface: SurfacePoints,
    sights: SightMemory,
    geometry: TsdfVolume,
    tracks: Tracks,
    correction: MapCorrection,
) -> list[tuple[int, int]]:
    """Move voxels, surfaces, views and boxes of instances after a loop closure.

    Returns pairs (loser, winner) of ids: instances that are the same object and should be merged. correction:
    in the voxel frame.
    """
    with ThreadPoolExecutor(1) as beside:  # the kernels of both release the GIL
        surfaces = beside.submit(geometry.bend, correction)
        before, _ = _measured(store, surface, tracks)
        met = bend_voxels(store, surface, correction)
        sights.move(correction)
        after, sizes = _measured(store, surface, tracks)
        for identity, (low, high) in after.items():
            tracks.place(tracks[identity], low, high)
        surfaces.result()
    moved = {i: (np.add(*after[i]) - np.add(*before[i])) / 2.0 for i in after if i in before}
    return doubles(tracks, met, sizes, moved)


def _measured(
    store: VoxelStore, surface: SurfacePoints, tracks: Tracks
) -> tuple[dict[int, tuple[np.ndarray, np.ndarray]], dict[int, int]]:
    """Return the boxes, (3,) and (3,) in the voxel frame, and the voxel counts of all instances with voxels, by id."""
    ids = np.array(list(tracks), np.int64)
    if not len(ids):
        return {}, {}
    found = extract(store, surface, ids, np.eye(4))
    known = [(row, identity) for row, identity in enumerate(ids.tolist()) if found.count[row]]
    boxes = {identity: (found.box_min[row], found.box_max[row]) for row, identity in known}
    return boxes, {identity: int(found.count[row]) for row, identity in known}


def bend_voxels(
    store: VoxelStore, surface: SurfacePoints, correction: MapCorrection
) -> Counter[tuple[int, int]]:
    """Move each voxel with the trajectory node that first saw it; return the collisions per pair of ids.

    A collision is a voxel of each of two instances at the same new place. correction: in the voxel frame.
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
    tracks: Tracks, met: Counter[tuple[int, int]], sizes: dict[int, int], moved: dict[int, np.ndarray]
) -> list[tuple[int, int]]:
    """Return pairs (loser, winner) of instances that show one object, seen before and after the loop.

    met: per pair of ids, the number of voxels that coincide after the closure. sizes: voxel counts by id.
    moved: displacement by the closure, (3,) metres, by id. Only instances that the closure moved differently
    are paired: two that moved alike were already told apart before it. The instance that was seen first wins.
    Each instance is in at most one pair.
    """
    found: list[tuple[float, int, int]] = []
    for track in tracks.values():
        if track.observation_count < VOXEL_CONFIRM or track.id not in moved:
            continue
        for identity in tracks.around(track.id, _GAP):
            other = tracks[identity]
            if identity <= track.id or other.observation_count < VOXEL_CONFIRM or identity not in moved:
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
    """Return a score, > 0 if two instances are one object, else 0. met: number of voxels that coincide."""
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
