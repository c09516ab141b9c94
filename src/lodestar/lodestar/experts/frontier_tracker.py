"""Frontiers that persist between requests: clusters of border cells with an identity, an image and a reason."""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
from scipy import ndimage

from lodestar.experts.config import FrontierTrackerConfig
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.memory.snapshots.frontiers import FrontierImageChoice

_EIGHT = np.ones((3, 3), np.uint8)


@dataclass(frozen=True)
class FrontierRecord:
    """One piece of the border of known space. viewpoint: (3,), the pose that shows the space behind it.

    centroid: (2,). gain: m^2 expected to be seen. path_length: metres, inf = unreachable; `reason` then says why and
    `since` since when. keyframe_id: an image of it, 0 = none, chosen when the piece was `updated`.
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
    """Clusters (n, 2) of free cells that are unseen or border on unseen ones (RoboAtlas eq. 14), cut into tiles,
    nearest by path (`lengths`) first.
    """
    near = cv2.dilate((unseen & ~grid.occupied).astype(np.uint8), _EIGHT)
    border = (near > 0) & grid.free
    labels, count = ndimage.label(border, _EIGHT)
    if count == 0:
        return []
    cells = np.argwhere(border)
    tile = max(round(config.tile / grid.resolution), 1)
    tiles = (cells + _shift(grid)) // tile  # fixed in map: pieces keep their identity while the grid grows
    tiles -= tiles.min(axis=0)
    size = tiles.max(axis=0) + 1
    key = (labels[cells[:, 0], cells[:, 1]].astype(np.int64) * size[0] + tiles[:, 0]) * size[1] + tiles[:, 1]
    order = np.argsort(key, kind="stable")
    pieces = np.split(cells[order], np.flatnonzero(np.diff(key[order])) + 1)
    pieces = [piece for piece in pieces if len(piece) >= config.min_cells]
    away = [float(lengths[piece[:, 0], piece[:, 1]].min()) for piece in pieces]
    ranked = sorted(range(len(pieces)), key=lambda i: (away[i], -len(pieces[i])))
    parts = [part for i in ranked[: config.most] for part in _split(grid, pieces[i], robot, config)]
    return [part for part in parts if len(part) >= config.min_cells]


def _shift(grid: OccupancyGrid2D) -> np.ndarray:
    """(2,) (row, column) of the grid's first cell on the lattice that is fixed in map."""
    return np.array([round(grid.origin[1] / grid.resolution), round(grid.origin[0] / grid.resolution)])


def _split(
    grid: OccupancyGrid2D, piece: np.ndarray, robot: np.ndarray, config: FrontierTrackerConfig
) -> list[np.ndarray]:
    """Return the piece, split in two by 2-means if it spans more than the angle as seen from the robot."""
    away = grid.points_of(piece) - robot[:2]
    if np.hypot(*away.T).min() > config.tile:
        return [piece]  # too far away for a tile to span that angle
    bearings = np.sort(np.arctan2(away[:, 1], away[:, 0]))
    span = 2.0 * math.pi - float(np.diff(np.append(bearings, bearings[0] + 2.0 * math.pi)).max())
    if span <= config.split_angle:
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
    """Match pieces with those of the previous request to keep identities and images; remember unreachable ones."""

    def __init__(self, config: FrontierTrackerConfig) -> None:
        self.config = config
        self._shown = FrontierImageChoice(config.snapshots)
        self.images = self._shown.images
        self.keep_stored = self._shown.keep_stored
        self._next_id = 1
        self._cells: dict[int, np.ndarray] = {}  # id -> sorted keys of its cells on the lattice fixed in map
        self._records: dict[int, FrontierRecord] = {}
        self._verdicts: dict[
            int, tuple[int, str]
        ] = {}  # id -> surroundings when it was found out of reach, why

    def follow(self, grid: OccupancyGrid2D, pieces: Sequence[np.ndarray]) -> list[FrontierRecord]:
        """A record per piece, without a viewpoint yet."""
        keys = [_keys(grid, piece) for piece in pieces]
        owners = self._owners(grid, pieces, keys)
        records = []
        for piece, key, identity in zip(pieces, keys, owners):
            middle = grid.points_of(piece.mean(axis=0))
            cell = piece[((piece - piece.mean(axis=0)) ** 2).sum(axis=1).argmin()]
            image, updated = self._shown.refresh(identity, key, grid, grid.points_of(cell))
            records.append(FrontierRecord(identity, middle, len(piece), keyframe_id=image, updated=updated))
        self._cells = dict(zip(owners, keys))
        self._shown.keep(set(owners))
        return records

    def _owners(
        self, grid: OccupancyGrid2D, pieces: Sequence[np.ndarray], keys: Sequence[np.ndarray]
    ) -> list[int]:
        """Ids by the largest overlap, else by the nearest centroid that is left, else new ones."""
        old = np.concatenate([*self._cells.values(), np.empty(0, np.int64)])
        owner = np.repeat(np.array(list(self._cells), np.int64), [len(c) for c in self._cells.values()])
        order = np.argsort(old, kind="stable")
        old, owner = old[order], owner[order]
        left = dict(self._records)
        owners = [0] * len(pieces)
        for index, key in enumerate(keys):
            at = np.minimum(np.searchsorted(old, key), max(len(old) - 1, 0))
            shared = owner[at[old[at] == key]] if len(old) else np.empty(0, np.int64)
            for identity in np.bincount(shared).argsort(kind="stable")[::-1][:3] if len(shared) else ():
                if int(identity) in left and (shared == identity).any():
                    owners[index] = left.pop(int(identity)).id
                    break
        for index, piece in enumerate(pieces):
            if owners[index] == 0:
                middle = grid.points_of(piece.mean(axis=0))
                away = {identity: math.dist(r.centroid, middle) for identity, r in left.items()}
                nearest = min(away, key=away.__getitem__, default=0)
                if nearest and away[nearest] <= self.config.same_distance:
                    owners[index] = left.pop(nearest).id
                else:
                    owners[index], self._next_id = self._next_id, self._next_id + 1
        return owners

    def out_of_reach(
        self, grid: OccupancyGrid2D, lengths: np.ndarray, piece: np.ndarray, record: FrontierRecord
    ) -> str:
        """Return why this piece is out of reach; empty if that must be computed. A verdict holds while the map and
        the path lengths around the piece stay the same.
        """
        reason = self._verdicts.get(record.id, (0, ""))
        return reason[1] if reason[0] == self._surroundings(grid, lengths, piece) else ""

    def condemn(
        self, grid: OccupancyGrid2D, lengths: np.ndarray, piece: np.ndarray, record: FrontierRecord, why: str
    ) -> None:
        """Record that the piece is out of reach for the given reason while its surroundings stay the same."""
        self._verdicts[record.id] = (self._surroundings(grid, lengths, piece), why)

    def keep(self, records: Sequence[FrontierRecord]) -> tuple[FrontierRecord, ...]:
        """Store the records of this request and return them; an unchanged reason keeps its time."""
        kept = []
        for record in records:
            before = self._records.get(record.id)
            same = before is not None and not before.reachable and before.reason == record.reason
            kept.append(replace(record, since=before.since if same and before is not None else record.since))
        self._records = {record.id: record for record in kept}
        self._verdicts = {i: verdict for i, verdict in self._verdicts.items() if i in self._records}
        return tuple(kept)

    def _surroundings(self, grid: OccupancyGrid2D, lengths: np.ndarray, piece: np.ndarray) -> int:
        reach = math.ceil(self.config.beside / grid.resolution)
        top, left = np.maximum(piece.min(axis=0) - reach, 0)
        bottom, right = piece.max(axis=0) + reach + 1
        cells = grid.barred_cells[top:bottom, left:right]
        known = np.where(cells < 0, 0, np.where(cells >= grid.occupied_from, 1, 2)).astype(np.int8)
        return zlib.crc32(
            (known + 3 * np.isfinite(lengths[top:bottom, left:right])).astype(np.int8).tobytes()
        )


def _keys(grid: OccupancyGrid2D, piece: np.ndarray) -> np.ndarray:
    """Sorted int64 keys of the cells on the lattice that is fixed in map."""
    lattice = piece + _shift(grid)
    return np.sort(lattice[:, 0] * (1 << 32) + lattice[:, 1])
