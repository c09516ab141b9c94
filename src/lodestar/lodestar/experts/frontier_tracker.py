"""Frontiers that persist between requests: clusters of border cells, each with an id, a stored image and, if
it is unreachable, the reason.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
from numba import njit
from scipy import ndimage

from lodestar.experts.config import FrontierTrackerConfig
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.memory.snapshots.frontiers import FrontierImageChoice

FRONTIER_TRACKER_MIN_CELLS = 8  # cells of a piece, at least; chosen
FRONTIER_TRACKER_MOST = 100  # pieces, at most, nearest first; chosen
# radians as seen from the robot above which a piece is split into two (SnapMem App. 8)
FRONTIER_TRACKER_SPLIT_ANGLE = math.radians(150.0)
FRONTIER_TRACKER_SAME_DISTANCE = 1.0  # metres within which a piece without overlap keeps its identity; chosen
# metres to the nearest reachable cell above which a piece is unreachable; chosen
FRONTIER_TRACKER_BESIDE = 2.0

_EIGHT = np.ones((3, 3), np.uint8)


@dataclass(frozen=True)
class FrontierRecord:
    """One piece of the border of known space. viewpoint: (3,), pose that shows the space behind it.

    centroid: (2,). gain: expected m^2 seen. path_length: metres, inf = unreachable; `reason` then says why,
    and `since` is the stamp from which that holds. keyframe_id: an image of the piece, 0 = none, chosen at
    the stamp `updated`.
    """

    id: int
    centroid: np.ndarray
    cell_count: int
    viewpoint: np.ndarray | None = None
    gain: float = 0.0
    path_length: float = math.inf
    utility: float = -math.inf
    reason: str = ""
    keyframe_id: int = 0
    updated: float = 0.0
    since: float = 0.0

    @property
    def reachable(self) -> bool:
        """Return whether the piece has a viewpoint."""
        return self.viewpoint is not None


def find_pieces(
    grid: OccupancyGrid2D,
    unseen: np.ndarray,
    lengths: np.ndarray,
    robot: np.ndarray,
    config: FrontierTrackerConfig,
) -> list[np.ndarray]:
    """Return clusters (n, 2) of free cells that are unseen or border on unseen ones (RoboAtlas eq. 14), cut into
    tiles, nearest by path (`lengths`) first.
    """
    near = cv2.dilate((unseen & ~grid.occupied).astype(np.uint8), _EIGHT)
    border = (near > 0) & grid.free
    labels, count = ndimage.label(border, _EIGHT)
    if count == 0:
        return []
    cells = np.argwhere(border)
    tile = max(round(config.tile / grid.resolution), 1)
    tiles = (cells + _shift(grid)) // tile  # fixed in map, so that pieces persist
    tiles -= tiles.min(axis=0)
    size = tiles.max(axis=0) + 1
    key = (labels[cells[:, 0], cells[:, 1]].astype(np.int64) * size[0] + tiles[:, 0]) * size[1] + tiles[:, 1]
    order = np.argsort(key, kind="stable")
    pieces = np.split(cells[order], np.flatnonzero(np.diff(key[order])) + 1)
    pieces = [piece for piece in pieces if len(piece) >= FRONTIER_TRACKER_MIN_CELLS]
    if not pieces:
        return []
    cells, starts = _joined(pieces)
    away = np.minimum.reduceat(lengths[cells[:, 0], cells[:, 1]], starts)
    apart = np.minimum.reduceat(np.hypot(*(grid.points_of(cells) - robot[:2]).T), starts)
    parts: list[np.ndarray] = []
    sizes = np.array([len(piece) for piece in pieces])
    for i in np.lexsort((-sizes, away))[:FRONTIER_TRACKER_MOST].tolist():
        # a more distant tile cannot span the split angle
        parts += [pieces[i]] if apart[i] > config.tile else _split(grid, pieces[i], robot)
    return [part for part in parts if len(part) >= FRONTIER_TRACKER_MIN_CELLS]


def _joined(pieces: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return the cells (N, 2) of all pieces, and the index (K,) at which each piece begins. Requires a piece."""
    return np.concatenate(pieces), np.cumsum([0, *map(len, pieces[:-1])])


def middles(pieces: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean (K, 2) float64 of the cells of each piece, and the piece's cell (K, 2) nearest to the mean."""
    if not pieces:
        return np.empty((0, 2)), np.empty((0, 2), np.int64)
    cells, starts = _joined(pieces)
    counts = np.array([len(piece) for piece in pieces])
    means = np.add.reduceat(cells, starts) / counts[:, None]
    away = ((cells - np.repeat(means, counts, axis=0)) ** 2).sum(axis=1)
    nearest = np.flatnonzero(away == np.repeat(np.minimum.reduceat(away, starts), counts))
    return means, cells[nearest[np.searchsorted(nearest, starts)]]


def _shift(grid: OccupancyGrid2D) -> np.ndarray:
    """Return (2,): row and column of the grid's first cell in a lattice of cells that is fixed in map."""
    return np.array([round(grid.origin[1] / grid.resolution), round(grid.origin[0] / grid.resolution)])


def _split(grid: OccupancyGrid2D, piece: np.ndarray, robot: np.ndarray) -> list[np.ndarray]:
    """Return the piece, split in two by 2-means if the robot sees it over more than FRONTIER_TRACKER_SPLIT_ANGLE."""
    away = grid.points_of(piece) - robot[:2]
    bearings = np.sort(np.arctan2(away[:, 1], away[:, 0]))
    span = 2.0 * math.pi - float(np.diff(np.append(bearings, bearings[0] + 2.0 * math.pi)).max())
    if span <= FRONTIER_TRACKER_SPLIT_ANGLE:
        return [piece]
    points = piece.astype(np.float64)
    middles = np.stack([points[((points - points.mean(axis=0)) ** 2).sum(axis=1).argmax()]] * 2)
    middles[1] = points[((points - middles[0]) ** 2).sum(axis=1).argmax()]
    for _ in range(10):
        second = ((points - middles[0]) ** 2).sum(axis=1) > ((points - middles[1]) ** 2).sum(axis=1)
        if second.all() or not second.any():
            return [piece]
        middles = np.stack([points[~second].mean(axis=0), points[second].mean(axis=0)])
    return [piece[~second], piece[second]]


class FrontierTracker:
    """Matches pieces with those of the previous request, so that they keep ids and images, and stores which
    are unreachable.
    """

    def __init__(self, config: FrontierTrackerConfig) -> None:
        self._shown = FrontierImageChoice()
        self.images = self._shown.images
        self.keep_stored = self._shown.keep_stored
        self._next_id = 1
        # sorted keys of the cells of all pieces, on the lattice fixed in map, and the ids of their pieces
        self._cells = np.empty(0, np.int64), np.empty(0, np.int64)
        self._records: dict[int, FrontierRecord] = {}
        self._verdicts: dict[
            int, tuple[int, str]
        ] = {}  # id -> (surroundings when it was found out of reach, reason)

    def follow(self, grid: OccupancyGrid2D, pieces: Sequence[np.ndarray]) -> list[FrontierRecord]:
        """Return a record per piece, without a viewpoint yet. The cells of a piece must be in the order of the
        grid.
        """
        if not pieces:
            self._cells = np.empty(0, np.int64), np.empty(0, np.int64)
            self._shown.keep(())
            return []
        cells, starts = _joined(pieces)
        flat, counts = _keys(grid, cells), np.array([len(piece) for piece in pieces])
        means, cell = middles(pieces)
        centroids, places = grid.points_of(means), grid.points_of(cell)
        owners = self._owners(flat, np.repeat(np.arange(len(pieces)), counts), centroids)
        records = []
        for index, (identity, key) in enumerate(zip(owners, np.split(flat, starts[1:]))):
            image, updated = self._shown.refresh(identity, key, grid, places[index])
            records.append(
                FrontierRecord(identity, centroids[index], len(key), keyframe_id=image, updated=updated)
            )
        order = np.argsort(flat)
        self._cells = flat[order], np.repeat(owners, counts)[order]
        self._shown.keep(set(owners))
        return records

    def _owners(self, keys: np.ndarray, piece_of: np.ndarray, centroids: np.ndarray) -> list[int]:
        """Return an id per piece: by largest overlap, else by the nearest remaining centroid, else new.

        keys: (N,) of all cells. piece_of: (N,) index of their pieces. centroids: (K, 2) of the pieces.
        """
        old, owner = self._cells
        left = dict(self._records)
        owners = [0] * len(centroids)
        at = np.minimum(np.searchsorted(old, keys), max(len(old) - 1, 0))
        shared = old[at] == keys if len(old) else np.zeros(len(keys), bool)
        pairs, sizes = np.unique(piece_of[shared] * (1 << 32) + owner[at[shared]], return_counts=True)
        tried = [0] * len(centroids)  # at most three tries each, largest overlap first, ties newest first
        for pair in pairs[np.lexsort((-pairs, -sizes, pairs >> 32))].tolist():
            index, identity = divmod(pair, 1 << 32)
            if not owners[index] and tried[index] < 3 and identity in left:
                owners[index] = left.pop(identity).id
            tried[index] += 1
        for index in (i for i, found in enumerate(owners) if not found):
            away = {identity: math.dist(r.centroid, centroids[index]) for identity, r in left.items()}
            nearest = min(away, key=away.__getitem__, default=0)
            if nearest and away[nearest] <= FRONTIER_TRACKER_SAME_DISTANCE:
                owners[index] = left.pop(nearest).id
            else:
                owners[index], self._next_id = self._next_id, self._next_id + 1
        return owners

    def out_of_reach(self, record: FrontierRecord, surroundings: int) -> str:
        """Return why this piece is out of reach; "" if that must be computed. A verdict holds while `surroundings`, a
        digest of the map and path lengths around the piece, is unchanged.
        """
        told, why = self._verdicts.get(record.id, (surroundings, ""))
        return why if told == surroundings else ""

    def condemn(self, record: FrontierRecord, surroundings: int, why: str) -> None:
        """Store that the piece is out of reach for this reason, while its surroundings are unchanged."""
        self._verdicts[record.id] = surroundings, why

    def surroundings(
        self, grid: OccupancyGrid2D, lengths: np.ndarray, pieces: Sequence[np.ndarray]
    ) -> list[int]:
        """Return a hash per piece of the known, occupied and reachable cells around it."""
        if not pieces:
            return []
        cells, starts = _joined(pieces)
        low, high = np.minimum.reduceat(cells, starts), np.maximum.reduceat(cells, starts)
        reach = math.ceil(FRONTIER_TRACKER_BESIDE / grid.resolution)
        return _digests(grid.barred_cells, grid.occupied_from, lengths, low - reach, high + reach).tolist()

    def keep(self, records: Sequence[FrontierRecord]) -> tuple[FrontierRecord, ...]:
        """Store the records of this request and return them; an unchanged reason keeps its stamp."""
        kept = []
        for record in records:
            before = self._records.get(record.id)
            same = before is not None and not before.reachable and before.reason == record.reason
            kept.append(replace(record, since=before.since) if same and before is not None else record)
        self._records = {record.id: record for record in kept}
        self._verdicts = {i: verdict for i, verdict in self._verdicts.items() if i in self._records}
        return tuple(kept)


@njit(cache=True)
def _digests(cells, occupied_from, lengths, low, high):
    """Return a hash (K,) int64 of the unknown, occupied and reachable cells from `low` to `high`, (K, 2) each."""
    rows, columns = cells.shape
    digests = np.empty(len(low), np.int64)
    for k in range(len(low)):
        digest = np.int64(1469598103934665603)  # FNV-1a
        for row in range(max(low[k, 0], 0), min(high[k, 0] + 1, rows)):
            for column in range(max(low[k, 1], 0), min(high[k, 1] + 1, columns)):
                value = cells[row, column]
                known = 0 if value < 0 else 1 if value >= occupied_from else 2
                digest = (digest ^ (known + 3 * np.isfinite(lengths[row, column]))) * np.int64(1099511628211)
        digests[k] = digest
    return digests


def _keys(grid: OccupancyGrid2D, cells: np.ndarray) -> np.ndarray:
    """Return int64 keys of cells (N, 2) on the lattice fixed in map; they ascend in the order of the grid."""
    lattice = cells + _shift(grid)
    return lattice[:, 0] * (1 << 32) + lattice[:, 1]
