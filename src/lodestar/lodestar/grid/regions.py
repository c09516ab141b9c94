"""Segmentation of free space into rooms or room-like regions, split at narrow passages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from skimage.segmentation import watershed

from lodestar.grid.correction import moved_cells
from lodestar.grid.inflation import distance_to
from lodestar.grid.occupancy import OccupancyGrid2D

# metres; regions joined by an opening this wide are one; chosen
REGION_PASSAGE = 1.5
REGION_FURNITURE = 1.2  # m^2; smaller isolated obstacles are not walls; chosen
REGION_MIN_AREA = 1.0  # m^2 of the smallest region; chosen


@dataclass(frozen=True)
class RegionConfig:
    """Parameters of the segmentation of free space into rooms."""

    # metres from walls of cells that are surely inside a room narrower than REGION_PASSAGE; chosen: above half a door's
    # width
    core: float = 0.6


def _walls(grid: OccupancyGrid2D, furniture: float) -> np.ndarray:
    """Return (rows, columns) bool: cells that bound rooms.

    These are all cells that are not free, except furniture: free-standing obstacles smaller than `furniture`,
    m^2.
    """
    solid = (~grid.free).astype(np.uint8)
    _, labels, stats, _ = cv2.connectedComponentsWithStats(solid, connectivity=8)
    small = stats[:, cv2.CC_STAT_AREA] * grid.resolution**2 < furniture
    small[0] = False
    rows, columns = solid.shape
    left, top = stats[:, cv2.CC_STAT_LEFT], stats[:, cv2.CC_STAT_TOP]
    inner = (left > 0) & (top > 0)
    inner &= (left + stats[:, cv2.CC_STAT_WIDTH] < columns) & (top + stats[:, cv2.CC_STAT_HEIGHT] < rows)
    return (solid > 0) & ~(small & inner)[labels]


def _cores(distance: np.ndarray, config: RegionConfig, least: float) -> tuple[int, np.ndarray]:
    """Return the number of room cores, counting the outside, and the core of each cell; 0 = none.

    A core is a set of connected cells far from walls. distance: (rows, columns) from walls, metres. A core's
    cells are at least half a passage's width from walls, so that a narrower opening never joins two rooms. A
    room that is itself that narrow, such as a corridor, has a core of cells at least `config.core` from
    walls, if they are at least `least`.
    """
    count, wide = cv2.connectedComponents((distance >= REGION_PASSAGE / 2.0).astype(np.uint8), connectivity=8)
    _, narrow = cv2.connectedComponents((distance >= config.core).astype(np.uint8), connectivity=8)
    taken = np.isin(np.arange(narrow.max() + 1), narrow[wide > 0]) | (np.bincount(narrow.ravel()) < least)
    alone = (narrow > 0) & ~taken[narrow]
    ids, numbers = np.unique(narrow[alone], return_inverse=True)
    cores = wide.copy()
    cores[alone] = count + numbers
    return count + len(ids), cores


def _borders(mask: np.ndarray, distance: np.ndarray) -> dict[tuple[int, int], float]:
    """Return, per pair of touching regions, the largest distance from walls along their border, metres."""
    widths: dict[tuple[int, int], float] = {}
    for first, second, room in (
        (mask[:, :-1], mask[:, 1:], np.minimum(distance[:, :-1], distance[:, 1:])),
        (mask[:-1], mask[1:], np.minimum(distance[:-1], distance[1:])),
    ):
        at = (first != second) & (first > 0) & (second > 0)
        pairs = np.sort(np.stack([first[at], second[at]], 1), axis=1)
        for (a, b), value in zip(pairs.tolist(), room[at].tolist()):
            widths[(a, b)] = max(widths.get((a, b), 0.0), value)
    return widths


def _joined(count: int, widths: dict[tuple[int, int], float], half_passage: float) -> np.ndarray:
    """Return the representative of each region 0 .. count after joining regions across wide openings."""
    parent = np.arange(count + 1)

    def root(i: int) -> int:
        while parent[i] != i:
            i = int(parent[i])
        return i

    for (a, b), width in widths.items():
        if width >= half_passage:
            parent[max(root(a), root(b))] = min(root(a), root(b))
    return np.array([root(i) for i in range(count + 1)])


def _inherit(
    mask: np.ndarray, grid: OccupancyGrid2D, previous: tuple[np.ndarray, tuple[float, float]], used: int
) -> np.ndarray:
    """Return the mask with ids of the previous regions where they overlap.

    A region takes the id, if still unused, of the previous region with which it shares most cells. used: the
    largest id assigned so far.
    """
    old_mask, old_origin = previous
    ids = np.flatnonzero(np.bincount(mask.ravel())[1:]) + 1
    shift = np.round((np.array(grid.origin) - old_origin) / grid.resolution).astype(int)
    rows, columns = np.nonzero(mask)
    old_rows, old_columns = rows + shift[1], columns + shift[0]
    on = (
        (old_rows >= 0)
        & (old_rows < old_mask.shape[0])
        & (old_columns >= 0)
        & (old_columns < old_mask.shape[1])
    )
    before = np.zeros(len(rows), np.int64)
    before[on] = old_mask[old_rows[on], old_columns[on]]
    # encode both ids in one number: sorting rows of two takes ten times as long
    span = int(before.max(initial=0)) + 1
    pairs, shared = np.unique(mask[rows, columns] * span + before, return_counts=True)
    lookup = np.zeros(int(mask.max(initial=0)) + 1, np.int64)
    taken: set[int] = set()
    for k in np.argsort(-shared, kind="stable"):
        now, then = divmod(int(pairs[k]), span)
        if then > 0 and lookup[now] == 0 and then not in taken:
            lookup[now] = then
            taken.add(then)
    fresh = max(int(old_mask.max(initial=0)), used)
    for now in ids.tolist():
        if lookup[now] == 0:
            fresh += 1
            lookup[now] = fresh
    return lookup[mask]


def segment_regions(
    grid: OccupancyGrid2D,
    config: RegionConfig = RegionConfig(),
    previous: tuple[np.ndarray, tuple[float, float]] | None = None,
    used: int = 0,
) -> tuple[np.ndarray, list[tuple[int, float, np.ndarray, tuple[int, ...]]]]:
    """Return the regions of free space: a mask, and a record per region.

    A watershed from room cores is followed by a merge across wide openings. previous: mask and grid origin of
    the last call; overlapping regions keep their ids. used: the largest id assigned so far; new ids are
    larger. The mask is (rows, columns) uint16, 0 = none; a record is (id, area in m^2, centroid (2,) in
    metres, ids of neighbouring regions).
    """
    walls = _walls(grid, REGION_FURNITURE)
    distance = distance_to(walls, grid.resolution)
    distance[~np.isfinite(distance)] = max(grid.cells.shape) * grid.resolution
    count, cores = _cores(distance, config, REGION_MIN_AREA / grid.resolution**2)
    if count <= 1:
        return np.zeros(grid.cells.shape, np.uint16), []
    mask = watershed(-distance, cores, mask=~walls).astype(np.int64)
    joined = _joined(count, _borders(mask, distance), REGION_PASSAGE / 2.0)
    mask = joined[mask]
    areas = np.bincount(mask.ravel(), minlength=count + 1) * grid.resolution**2
    mask[(areas < REGION_MIN_AREA)[mask]] = 0
    mask[~grid.free] = 0
    if previous is not None:
        mask = _inherit(mask, grid, previous, used)
    else:
        ids = np.unique(mask[mask > 0])
        lookup = np.zeros(count + 1, np.int64)
        lookup[ids] = np.arange(1, len(ids) + 1) + used
        mask = lookup[mask]
    near: dict[int, set[int]] = {}
    for a, b in _borders(mask, distance):
        near.setdefault(a, set()).add(b)
        near.setdefault(b, set()).add(a)
    rows, columns = np.nonzero(mask)
    own = mask[rows, columns]
    cells = np.bincount(own)
    middles = np.stack([np.bincount(own, rows), np.bincount(own, columns)], axis=1)
    regions = []
    for region in np.flatnonzero(cells).tolist():
        middle = grid.points_of((middles[region] / cells[region])[None])[0]
        area = int(cells[region]) * grid.resolution**2
        regions.append((region, area, middle, tuple(sorted(near.get(region, ())))))
    return mask.astype(np.uint16), regions


class RegionTracker:
    """Divides a growing grid into regions repeatedly; regions keep their ids, and an id is never reused.

    mask: (rows, columns) uint16 of the last grid, whose corner is at `origin`, metres. used: the largest id
    so far.
    """

    def __init__(self, config: RegionConfig = RegionConfig()) -> None:
        self.config = config
        self.mask = np.zeros((0, 0), np.uint16)
        self.origin = (0.0, 0.0)
        self.used = 0
        self._resolution = 0.0  # metres per cell of the mask, 0 = no mask yet

    def segment(
        self, grid: OccupancyGrid2D
    ) -> tuple[np.ndarray, list[tuple[int, float, np.ndarray, tuple[int, ...]]]]:
        """Return the regions of the grid with their ids from earlier calls; see `segment_regions`."""
        previous = (self.mask, self.origin) if self.mask.size else None
        mask, regions = segment_regions(grid, self.config, previous, self.used)
        if regions:  # if there are no regions, keep the old ids for the next grid
            self.mask, self.origin, self._resolution = mask, grid.origin, grid.resolution
            self.used = max(self.used, int(mask.max()))
        return mask, regions

    def move(self, jump: np.ndarray) -> None:
        """Move the mask after the map moved by `jump` (4, 4)."""
        if self.mask.size and self._resolution > 0.0 and not np.array_equal(jump, np.eye(4)):
            first = np.round(np.array(self.origin) / self._resolution).astype(np.int64)
            self.mask, low = moved_cells(self.mask, first, self._resolution, jump, 0)
            self.origin = (float(low[0]) * self._resolution, float(low[1]) * self._resolution)

    def to_arrays(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return meta and arrays for `restore`."""
        meta = {
            "region_origin": list(self.origin),
            "regions_used": self.used,
            "region_cell": self._resolution,
        }
        return meta, {"region_mask": self.mask.copy()}

    def restore(self, meta: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
        """Restore ids from `to_arrays`. Raises KeyError, ValueError or TypeError and then changes nothing."""
        mask = np.asarray(arrays["region_mask"], np.uint16)
        (x, y), used = meta["region_origin"], int(meta["regions_used"])
        if mask.ndim != 2 or used < int(mask.max(initial=0)):
            raise ValueError(f"regions of mask shape {mask.shape} with {used} ids are not valid")
        origin, resolution = (float(x), float(y)), float(meta.get("region_cell", 0.0))
        self.mask, self.origin, self.used, self._resolution = mask, origin, used, resolution
